"""Bound the log evidence by a mixture of guides with equal weights."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import OptionError
from ...handlers import replay, seed
from ...infer.densities import log_density
from ...infer.elbo.base import check_match
from ...names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.contrib.einstein")

Params = Mapping[str, Any]


class SteinLoss:
    """Bound of a mixture of guides, which differ in their parameters.

    **Arguments**: `elbo_num_particles`, draws of each guide; `stein_num_particles`, how many guides.

    **Source**: Ronning et al. (2024), "ELBOing Stein", arXiv:2410.22948, eq. 9.
    """

    def __init__(self, elbo_num_particles: int = 1, stein_num_particles: int = 1) -> None:
        if min(elbo_num_particles, stein_num_particles) < 1:
            raise OptionError(
                f"SteinLoss: numbers of particles must be at least 1, got {elbo_num_particles}, {stein_num_particles}."
            )
        self.elbo_num_particles, self.stein_num_particles = elbo_num_particles, stein_num_particles

    def particle_loss(
        self,
        rng_key: Any,
        model: Callable[..., Any],
        guide: Callable[..., Any],
        params: Params,
        mixture: Params | None,
        model_args: tuple[Any, ...],
        model_kwargs: Mapping[str, Any],
    ) -> Any:
        """Return the mean over draws of one guide of the log density of the model minus that of the mixture.

        **Arguments**: `params`, of the model and of the one guide; `mixture`, of the model and of all guides, with a
        first axis of these where they differ; None for guides that are a point each, whose density is left out.
        """

        def one(key: Any) -> Any:
            of_guide, of_model = jax.random.split(key)
            _, drawn = log_density(seed(guide, of_guide), model_args, model_kwargs, params)

            def log_q(own: Params) -> Any:
                return log_density(replay(guide, trace=drawn), model_args, model_kwargs, own)[0]

            log_p, sites = log_density(
                replay(seed(model, of_model), trace=drawn), model_args, model_kwargs, params
            )
            check_match(sites, drawn)
            if mixture is None:
                return log_p
            every = jax.vmap(log_q)(mixture)
            return log_p - (jax.scipy.special.logsumexp(every) - jnp.log(self.stein_num_particles))

        return jax.vmap(one)(jax.random.split(rng_key, self.elbo_num_particles)).mean()
