"""Draw the states of a model given all else, by a particle filter beside the trajectory where they are now."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from . import weights
from .around import weight_of
from .conditional_loop import ConditionalLoop, ConditionalWay
from .filtered import Moving
from .fit import Fit
from .look import Run
from .numbers import CHOOSE, key_of
from .paths import PARTICLES


def next_trajectory(
    run: Run, fit: Fit, way: ConditionalWay, reference: Mapping[str, Any], key: jax.Array
) -> dict[str, Any]:
    """Draw values of a particle's unknowns, by name; the distribution given all else is kept.

    **Arguments**: `run(handlers)`; `reference`, their values now; `key`, a JAX random key.

    **Source**: Andrieu, Doucet & Holenstein (2010), J. R. Statist. Soc. B 72(3), 269-342; with ancestor sampling,
    Lindsten, Jordan & Schön (2014), J. Mach. Learn. Res. 15, 2145-2184.
    """

    def one(slot: Any) -> tuple[Any, Any, dict[str, Any]]:
        found: dict[str, Any] = {}
        loop = ConditionalLoop(slot, key, fit, found, dict(reference), way)
        sites = run((Moving(slot, key, fit.names, dict(reference)), loop))
        added = weight_of((sites[name] for name in fit.later), (), found["log_weight"].dtype)
        log_weight, _ = weights.possible(found["log_weight"] + added)
        return log_weight, found["first"], {name: jnp.asarray(sites[name].value) for name in fit.names}

    log_weights, first, values = jax.vmap(one, axis_name=PARTICLES)(jnp.arange(way.particles))
    level = jax.random.uniform(key_of(key, CHOOSE), (1,), log_weights.dtype)
    last = weights.drawn(weights.relative(log_weights), level)[0]
    return {name: value[first[last] if name in fit.initial else last] for name, value in values.items()}
