"""Describe how the target of a stored run differs from another one, from a few stored kilobytes.

Digests decide whether a run may continue, but cannot tell what differs. So checksums of parts of each argument are
stored too, one per value for short arguments.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..density import LogDensity
from ..storage import Manifest

FIELD = "particulars"
_MAX_PARTS = 512  # of one argument; 16 kB of hexadecimal digits in all, where there are many
_MAX_FIXED = 64  # arguments that are no arrays, of which the first characters are kept


def particulars(density: LogDensity) -> dict[str, Any]:
    """Describe a target for its record: shape, dtype and checksums of arguments, and distributions of sites."""
    arrays = {**density.data, **density.constants}
    most = max(min(_MAX_PARTS, 2 * _MAX_PARTS // max(len(arrays), 1)), 1)
    return {
        "data": {name: _of_array(array, most) for name, array in arrays.items()},
        "fixed": _fixed(density),
        "distributions": {entry.name: entry.distribution for entry in density.layout.sites},
    }


def differences(stored: Manifest, here: Manifest) -> list[str]:
    """Describe how two targets differ: arguments and sites in words, and the rest by field."""
    ignored = [FIELD, "format", "run_id", "created", "versions", "machine"]
    of_data = _of_arguments(stored, here)
    of_sites = _of_sites(stored, here)
    if of_data:
        ignored.append("data_hashes")
    if of_sites:
        ignored += ["layout", "target"]
    return [*of_data, *of_sites, *stored.differences(here, tuple(ignored))]


def of_code(stored: Mapping[str, Any], density: LogDensity) -> str:
    """Return a sentence about possible causes if the log density differs but arguments and sites do not."""
    kept, found = stored[FIELD]["fixed"], _fixed(density)
    changed = [
        f"argument {name!r} was {kept.get(name, 'not given')} and is {found.get(name, 'not given')}"
        for name in sorted({*kept, *found})
        if kept.get(name) != found.get(name)
    ]
    if changed:
        return f" What differs: {'; '.join(changed)}."
    return (
        " Its arguments, sites and distributions are the same: look for changed numbers in its code, such as those of "
        "a prior, and in global values that it uses."
    )


def _of_array(array: Any, most: int) -> dict[str, Any]:
    found: dict[str, Any] = {"shape": list(np.shape(array)), "dtype": str(array.dtype)}
    if not isinstance(array, np.ndarray | jax.Array) or jnp.issubdtype(array.dtype, jax.dtypes.extended):
        return found  # rows in a file, keys
    flat = np.ascontiguousarray(array).reshape(-1)
    step = max(-(-flat.size // most), 1)
    sums = [
        f"{zlib.crc32(flat[start : start + step].view(np.uint8).data):08x}"
        for start in range(0, flat.size, step)
    ]
    return {**found, "step": step, "sums": "".join(sums)}


def _fixed(density: LogDensity) -> dict[str, str]:
    """Return the arguments that are numbers, strings or None."""
    whole = density.program.whole
    if whole is None:
        return {}
    arguments = whole.template.model.arguments
    leaves = jax.tree_util.tree_flatten_with_path(arguments, is_leaf=lambda leaf: leaf is None)[0]
    plain = [
        (
            "/".join(
                str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path
            ),
            leaf,
        )
        for path, leaf in leaves
        if leaf is None or isinstance(leaf, bool | int | float | str)
    ]
    return {name: repr(leaf)[:80] for name, leaf in plain[:_MAX_FIXED]}


def _of_arguments(stored: Manifest, here: Manifest) -> list[str]:
    """Describe differences of arguments by name."""
    before, now = stored[FIELD]["data"], here[FIELD]["data"]
    hashes = stored.get("data_hashes") or {}, here.get("data_hashes") or {}
    found: list[str] = []
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if one is None or other is None:
            found.append(
                f"argument {name!r} {'was given' if other is None else 'was not given'} in the stored run"
            )
        elif one["shape"] != other["shape"] or one["dtype"] != other["dtype"]:
            found.append(f"argument {name!r} was {_kind(one)} and is {_kind(other)}")
        elif one.get("sums") != other.get("sums"):
            are_alike = one.get("step") == other.get("step") and len(one.get("sums", "")) == len(
                other.get("sums", "")
            )
            found.append(f"argument {name!r} has other values{_where(one, other) if are_alike else ''}")
        elif hashes[0].get(name) != hashes[1].get(name):
            found.append(f"argument {name!r} has other values")
    return found


def _of_sites(stored: Manifest, here: Manifest) -> list[str]:
    """Describe differences of sites by name; compares distributions only between equal versions of accord."""
    before, now = stored.get("layout") or {}, here.get("layout") or {}
    sites = [{site["name"]: site for site in layout.get("sites", [])} for layout in (before, now)]
    found: list[str] = []
    laws = stored[FIELD]["distributions"], here[FIELD]["distributions"]
    is_same_accord = stored["versions"]["accord"] == here["versions"]["accord"]
    for name in dict.fromkeys([*sites[0], *sites[1]]):
        one, other = sites[0].get(name), sites[1].get(name)
        if one is None or other is None:
            found.append(f"site {name!r} {'is missing now' if other is None else 'is new'}")
            continue
        parts = [part for part in ("kind", "shape", "dtype", "dims") if one[part] != other[part]]
        found += [
            f"{part} of site {name!r} was {_plain(one[part])} and is {_plain(other[part])}" for part in parts
        ]
        if is_same_accord and laws[0].get(name) != laws[1].get(name):
            found.append(
                f"site {name!r} had the distribution {laws[0].get(name)} and has {laws[1].get(name)}"
            )
    coords = before.get("coords", {}), now.get("coords", {})
    changed = [dim for dim in coords[0] if dim in coords[1] and coords[0][dim] != coords[1][dim]]
    return [*found, *(f"the labels of {dim!r} are others" for dim in changed if not found)]


def _kind(one: Mapping[str, Any]) -> str:
    return f"of shape {_plain(one['shape'])} and dtype {one['dtype']}"


def _plain(value: Any) -> str:
    return str(tuple(value)) if isinstance(value, list) else str(value)


def _where(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Describe how many values differ, as far as checksums tell, and the first one."""
    sums = [[each["sums"][i : i + 8] for i in range(0, len(each["sums"]), 8)] for each in (one, other)]
    changed = [i for i, (a, b) in enumerate(zip(*sums, strict=True)) if a != b]
    shape, step = tuple(one["shape"]), one["step"]
    size = int(np.prod(shape))
    if step == 1:
        first = f", the first at index {_index(changed[0], shape)}" if shape else ""
        return f": {len(changed)} of {size} differ{first}"
    last = min((changed[0] + 1) * step, size) - 1
    return (
        f": the first that differs is between index {_index(changed[0] * step, shape)} and {_index(last, shape)}, and "
        f"{len(changed)} of {len(sums[0])} blocks of {step} values differ"
    )


def _index(place: int, shape: tuple[int, ...]) -> str:
    numbers = [int(i) for i in np.unravel_index(place, shape)]
    return str(numbers[0]) if len(numbers) == 1 else str(tuple(numbers))
