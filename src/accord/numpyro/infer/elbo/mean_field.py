"""Bound the log evidence with divergences in closed form."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import DistributionError
from ....distributions import kl_divergence
from ..densities import log_prob_of
from .base import ELBO, Trace, both_traces


class TraceMeanField_ELBO(ELBO):  # noqa: N801 - NumPyro's name
    """Bound in which a site's divergence from its prior is taken in closed form, where there is one.

    It is right where the distribution of each site in the guide depends on no other site. Others are by draws.

    **Arguments**: as of `ELBO`; `sum_sites`, whether the loss is one number, in place of one for each site.
    """

    def __init__(
        self, num_particles: int = 1, vectorize_particles: Any = True, sum_sites: bool = True
    ) -> None:
        super().__init__(num_particles, vectorize_particles)
        self.sum_sites = sum_sites

    def loss_with_mutable_state(
        self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """See `ELBO.loss_with_mutable_state`."""

        def particle(key: Any) -> tuple[Any, Any]:
            sites, drawn, mutable = both_traces(key, param_map, model, guide, args, kwargs)
            _check_order(sites, drawn)
            terms: dict[str, jax.Array] = {}
            for name, site in sites.items():
                if site["type"] != "sample":
                    continue
                if site["is_observed"] or name not in drawn:
                    terms[name] = jnp.sum(log_prob_of(site))
                    continue
                try:
                    apart = kl_divergence(drawn[name]["fn"], site["fn"])
                except (DistributionError, NotImplementedError):
                    terms[name] = jnp.sum(log_prob_of(site)) - jnp.sum(log_prob_of(drawn[name]))
                    continue
                scale = drawn[name]["scale"]
                terms[name] = -jnp.sum(apart if scale is None else scale * apart)
            for name, site in drawn.items():
                if site["type"] == "sample" and name not in sites:
                    terms[name] = -jnp.sum(log_prob_of(site))
            return (sum(terms.values(), jnp.zeros(())) if self.sum_sites else terms), mutable or None

        return self.averaged(particle, rng_key)


def _check_order(sites: Trace, drawn: Trace) -> None:
    """Warn where sites come in another order, as they may where one depends on another."""
    ours = [n for n, s in sites.items() if s["type"] == "sample" and n in drawn]
    theirs = [n for n, s in drawn.items() if s["type"] == "sample" and n in sites]
    if ours != theirs:
        warnings.warn(
            f"model and guide have their sites in different orders ({', '.join(ours)}; {', '.join(theirs)}), so that "
            "the guide may not be a mean field, for which TraceMeanField_ELBO is.",
            stacklevel=2,
        )
