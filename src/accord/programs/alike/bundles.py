"""Record many sites of one shape as one array, since every result of a program has to be compiled."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

_LEAST = 64
"""Sites, from which on they are bundled; the programs of all other models stay as they are."""

Bundles = Mapping[str, tuple[str, ...]]
"""The names of the sites in each bundle, by its name."""


def bundled(values: Mapping[str, Any]) -> tuple[dict[str, Any], Bundles]:
    """Stack values of one shape and dtype along a new first axis, if they are many; return them with their names."""
    if len(values) < _LEAST:
        return dict(values), {}
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, value in values.items():
        groups.setdefault((value.shape, str(value.dtype)), []).append(name)
    bundles = {f"bundle {number}": tuple(names) for number, names in enumerate(groups.values())}
    return {bundle: jnp.stack([values[name] for name in names]) for bundle, names in bundles.items()}, bundles


def unbundled(found: Mapping[str, Any], bundles: Bundles, prefix: str) -> dict[str, Any]:
    """Return the rows of single sites, under `prefix`, in the place of those of bundles."""
    if not bundles:
        return dict(found)
    single = {name: rows for name, rows in found.items() if name.removeprefix(prefix) not in bundles}
    for bundle, names in bundles.items():
        if prefix + bundle in found:
            rows = np.asarray(found[prefix + bundle])
            single |= {prefix + name: rows[:, number] for number, name in enumerate(names)}
    return dict(sorted(single.items()))
