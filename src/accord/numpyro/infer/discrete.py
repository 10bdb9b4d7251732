"""Draw discrete unknowns from their posterior given draws of the others."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.precision import scope
from ...density import LogDensity
from ..bridge import as_model
from ..compiled import compiled
from .outline import outline_of


def with_discrete(
    model: Callable[..., Any],
    samples: Mapping[str, Any],
    batch_ndims: int,
    rng_key: Any,
    args: Any,
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return draws with a value of each discrete unknown, drawn given the rest; they are a function of each draw.

    Draws that have values of all discrete unknowns stay as they are.
    """
    sites = outline_of(model, args, kwargs)
    names = [
        name
        for name, site in sites.items()
        if site["type"] == "sample" and not site["is_observed"] and site["fn"].is_discrete
    ]
    if all(name in samples for name in names):
        return dict(samples)
    with scope("float64"):
        density = LogDensity.from_model(as_model(model, *args, **kwargs))
        unknowns = [entry.name for entry in density.layout.unknowns]

        def one(values: Mapping[str, Any]) -> dict[str, Any]:
            found = density.constrain(density.unconstrain(values))
            return {name: found[name] for name in names}

        batch = np.shape(samples[unknowns[0]])[:batch_ndims]
        flat = {
            n: np.reshape(samples[n], (math.prod(batch), *np.shape(samples[n])[batch_ndims:]))
            for n in unknowns
        }
        drawn = compiled(jax.vmap(one))({n: np.asarray(v, float) for n, v in flat.items()})
        found = {n: np.asarray(v) for n, v in drawn.items()}
    return {**samples, **{n: jnp.asarray(v.reshape(*batch, *v.shape[1:])) for n, v in found.items()}}
