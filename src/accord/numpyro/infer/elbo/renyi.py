"""Bound the log evidence by weights of several draws of the guide."""

from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import ModelError, OptionError
from ...handlers import seed
from ..densities import log_prob_of
from .base import ELBO, Trace, both_traces


class RenyiELBO(ELBO):
    """Renyi's bound of order `alpha`; with 0, the importance-weighted bound.

    **Arguments**: `alpha`, not 1; `num_particles`, draws of the guide. Entries of plates that are around all sites have
    a bound of their own, and only such plates may take a part of their entries.

    **Source**: Li & Turner (2016), "Renyi divergence variational inference", arXiv:1602.02311.
    """

    def __init__(self, alpha: float = 0, num_particles: int = 2) -> None:
        if alpha == 1:
            raise OptionError(
                "RenyiELBO: alpha = 1 is the plain bound. Write `Trace_ELBO(num_particles=...)`."
            )
        super().__init__(num_particles)
        self.alpha = alpha

    def loss(self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any) -> Any:
        """See `ELBO.loss`."""
        of_plates, rng_key = jax.random.split(rng_key)
        hidden = ["sample", "prng_key", "control_flow"]
        inner = seed(model, of_plates, hide_types=hidden), seed(guide, of_plates, hide_types=hidden)

        def particle(key: Any) -> tuple[Any, Any]:
            sites, drawn, _ = both_traces(key, param_map, *inner, args, kwargs)
            dims, scale = _common(sites)
            return (_kept(sites, dims) - _kept(drawn, dims)) / scale, jnp.asarray(scale)

        bounds, scales = self.mapped(particle, jax.random.split(rng_key, self.num_particles))
        weighed = (1.0 - self.alpha) * bounds
        mean = jax.scipy.special.logsumexp(weighed, axis=0) - jnp.log(self.num_particles)
        weights = jax.lax.stop_gradient(jnp.exp(weighed - mean))
        surrogate = (weights * bounds).mean(0)
        bound = jax.lax.stop_gradient(mean / (1.0 - self.alpha) - surrogate) + surrogate
        return -bound.sum() * scales[0]


def _common(sites: Trace) -> tuple[set[int], float]:
    """Return the dims of plates around all sites, and the product of their scales.

    **Raises** `ModelError` for another plate that takes a part of its entries.
    """
    frames = [set(s["cond_indep_stack"]) for s in sites.values() if s["type"] == "sample"]
    common = set.intersection(*frames) if frames else set()
    scale = 1.0
    for frame in set.union(*frames) if frames else set():
        size = sites[frame.name]["args"][0] if frame.name in sites else frame.size
        if size > frame.size and frame not in common:
            raise ModelError(
                f"RenyiELBO: the plate {frame.name!r} takes a part of its entries, and is not around all sites, so "
                "that the bound of the part is not one of the whole. Use `Trace_ELBO`."
            )
        scale *= size / frame.size if frame in common else 1.0
    return {frame.dim for frame in common}, scale


def _kept(sites: Trace, dims: set[int]) -> jax.Array:
    """Sum log densities over all axes but those of these dims."""
    total = jnp.zeros(())
    for site in sites.values():
        if site["type"] == "sample":
            term = log_prob_of(site)
            summed = tuple(axis for axis in range(term.ndim) if axis - term.ndim not in dims)
            total = total + jnp.sum(term, axis=summed)
    return total
