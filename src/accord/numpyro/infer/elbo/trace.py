"""Bound the log evidence by draws of the guide alone."""

from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import ModelError
from ...handlers import seed, substitute
from ..densities import compute_log_probs, log_prob_of
from .base import ELBO, both_traces


class Trace_ELBO(ELBO):  # noqa: N801 - NumPyro's name
    """Mean over draws of the guide of log density of the model minus that of the guide.

    **Arguments**: as of `ELBO`; `multi_sample_guide`, whether values of the guide have a first axis of draws;
    `sum_sites`, whether the loss is one number, in place of one for each site.

    **Source**: Kingma & Welling (2014), "Auto-encoding variational Bayes", arXiv:1312.6114.
    """

    def __init__(
        self,
        num_particles: int = 1,
        vectorize_particles: Any = True,
        multi_sample_guide: bool = False,
        sum_sites: bool = True,
    ) -> None:
        super().__init__(num_particles, vectorize_particles)
        self.multi_sample_guide, self.sum_sites = multi_sample_guide, sum_sites

    def loss_with_mutable_state(
        self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """See `ELBO.loss_with_mutable_state`."""

        def particle(key: Any) -> tuple[Any, Any]:
            if self.multi_sample_guide:
                ours, theirs = _of_many(key, param_map, model, guide, args, kwargs)
                mutable: dict[str, Any] = {}
            else:
                sites, drawn, mutable = both_traces(key, param_map, model, guide, args, kwargs)
                ours, theirs = _terms(sites), _terms(drawn)
            zero = jnp.zeros(())
            terms = {n: ours.get(n, zero) - theirs.get(n, zero) for n in {**ours, **theirs}}
            return (sum(terms.values(), zero) if self.sum_sites else terms), mutable or None

        return self.averaged(particle, rng_key)


def _terms(sites: Any) -> dict[str, jax.Array]:
    return {n: jnp.sum(log_prob_of(site)) for n, site in sites.items() if site["type"] == "sample"}


def _of_many(
    key: Any, params: Any, model: Any, guide: Any, args: Any, kwargs: Any
) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
    """Return the terms of the model, summed over the draws that the guide makes at once, and those of the guide."""
    of_model, of_guide = jax.random.split(key)
    theirs, sites = compute_log_probs(seed(guide, of_guide), args, kwargs, params)
    plates = {n: s["value"] for n, s in sites.items() if s["type"] == "plate"}
    latents = {
        n: s["value"]
        for n, s in sites.items()
        if (s["type"] == "sample" and s["value"].size > 0) or s["type"] == "deterministic"
    }
    if not latents:
        raise ModelError("Trace_ELBO: with multi_sample_guide, the guide must have a sample site.")
    count = next(iter(latents.values())).shape[0]

    def one(key: Any, latent: Any) -> dict[str, jax.Array]:
        with seed(rng_seed=key), substitute(data={**latent, **plates}):
            return compute_log_probs(model, args, kwargs, params)[0]

    ours = jax.vmap(one)(jax.random.split(of_model, count), latents)
    return {n: jnp.sum(each, axis=0) for n, each in ours.items()}, theirs
