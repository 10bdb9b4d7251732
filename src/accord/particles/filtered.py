"""Filter the states of a model by particles, for one set of values of its other unknowns."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..language import AbstractHandler, Site
from . import weights
from .around import weight_of
from .choices import OfParticle
from .filter_loop import FilterLoop, Way
from .fit import Fit
from .look import Run
from .numbers import CHOOSE, OWN, key_of
from .paths import PARTICLES, families, gathered


def filtered(
    run: Run, fit: Fit, way: Way, given: Mapping[str, Any], key: jax.Array, num_paths: int
) -> dict[str, Any]:
    """Run a particle filter; can be used under `jit`.

    **Arguments**: `run(handlers)`; `given`, values of the other unknowns by name, for proposals; `key`, a JAX random
    key; `num_paths`, how many trajectories are drawn at the end.

    **Returns** by name: `log_likelihood` and its `variance`, NaN where all particles have one ancestor before the first
    step; `families`, the number of these ancestors; `ess`, shape `(step,)`; `mean` and `sd` by site,
    `(step, *event)`; `trajectories` by site, `(trajectory, step, *event)`; `bad`, the number of weights that were no
    numbers.
    """

    def one(slot: Any) -> tuple[Any, Any]:
        found: dict[str, Any] = {}
        sites = run((Moving(slot, key, fit.names), FilterLoop(slot, key, fit, found, dict(given), way)))
        before = found["log_weight"]
        added = weight_of((sites[name] for name in fit.later), (), before.dtype)
        log_weight, is_bad = weights.possible(before + added)
        change = weights.log_ratio(weights.log_sum(gathered(log_weight)), weights.log_sum(gathered(before)))
        apart = weight_of((sites[name] for name in fit.apart), (), before.dtype)
        values = {name: jnp.asarray(sites[name].value) for name in fit.shown}
        first = {
            name: weights.moments(found["shares"], gathered(value))
            for name, value in values.items()
            if name in fit.initial
        }
        moments = first | found["moments"]
        of_all = {
            "log_likelihood": found["log_evidence"] + change + gathered(apart)[0],
            "ess": found["ess"],
            "mean": {name: moments[name][0] for name in fit.shown},
            "sd": {name: moments[name][1] for name in fit.shown},
            "bad": found["bad"] + jnp.sum(gathered(is_bad)),
        }
        return (log_weight, found["first"], values), of_all

    slots = jnp.arange(way.particles)
    (log_weights, first, values), of_all = jax.vmap(one, out_axes=(0, None), axis_name=PARTICLES)(slots)
    of_family, is_one = families(first, weights.shares(log_weights))
    count = jnp.sum(is_one)
    variance = weights.total(jnp.where(is_one, of_family, 0) ** 2) - 1 / way.particles
    return of_all | {
        "variance": jnp.where(count > 1, variance, jnp.nan),
        "families": count,
        "trajectories": _drawn(fit, values, first, log_weights, key, num_paths),
    }


def _drawn(
    fit: Fit, values: Mapping[str, Any], first: Any, log_weights: Any, key: Any, num_paths: int
) -> dict[str, Any]:
    """Draw trajectories by weight."""
    levels = jax.random.uniform(key_of(key, CHOOSE), (num_paths,), log_weights.dtype)
    chosen = weights.drawn(weights.relative(log_weights), levels)
    return {name: value[first[chosen] if name in fit.initial else chosen] for name, value in values.items()}


class Moving(AbstractHandler):
    """Choose the values of the unknowns of one particle."""

    slot: Any
    key: Any
    names: tuple[str, ...] = eqx.field(static=True)
    known: Mapping[str, Any] | None = None

    def process(self, site: Site) -> Site:
        """Say how the site gets its value, whatever seeds there are inside."""
        if not site.is_latent or site.name not in self.names:
            return site
        own = key_of(self.key, OWN, self.slot)
        if self.known is None:
            return replace(site, choose=OfParticle(own))
        return replace(site, choose=OfParticle(own, self.known[site.name], self.slot == 0))
