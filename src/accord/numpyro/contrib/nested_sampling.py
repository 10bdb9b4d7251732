"""Estimate evidence and posterior from the prior on, in the place of NumPyro's nested sampling."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import infer
from ...core.errors import ModelError, OptionError
from ...report.notices import tell
from ...smc.result import SMCDraws
from ..bridge import as_model
from ..diagnostics import print_summary
from ..infer.seeds import seed_of
from ..infer.told import unused_options
from ..names.refusal import refusal as _refusal
from ..settings import asked_precision

__getattr__ = _refusal("numpyro.contrib.nested_sampling")

_PARTICLES = 1000


class NestedSampler:
    """Weighted draws of the posterior, and the evidence, as `accord.infer.smc` finds them.

    NumPyro calls the package jaxns for nested sampling. Posterior and evidence are the same quantities; here particles
    move from the prior to the posterior by powers of the likelihood.

    **Arguments**: `model`; of `constructor_kwargs`, `num_live_points` is the number of particles, and others that
    nested sampling alone has have no effect, as all of `termination_kwargs`: a notice says so.

    **Fields**: `draws`, of `accord.infer.smc`, with `log_evidence` and notices; None before a run.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        constructor_kwargs: Mapping[str, Any] | None = None,
        termination_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        options = {**(constructor_kwargs or {}), **(termination_kwargs or {})}
        count = options.pop("num_live_points", _PARTICLES)
        tell(unused_options("NestedSampler", **options))
        if count < 1:
            raise OptionError(f"NestedSampler: num_live_points must be at least 1, got {count!r}.")
        self.model, self.num_particles = (
            model,
            max(-(-int(count) // 10) * 10, 100),
        )  # in tens, of one ancestor each
        self.draws: SMCDraws | None = None

    def run(self, rng_key: Any, *args: Any, **kwargs: Any) -> None:
        """Move particles to the posterior with these arguments of the model.

        **Raises** as `accord.infer.smc`.
        """
        self.draws = infer.smc(
            as_model(self.model, *args, **kwargs),
            particles=self.num_particles,
            seed=seed_of(rng_key),
            precision=asked_precision(),
            progress=False,
        )

    def get_samples(self, rng_key: Any, num_samples: int, *, group_by_chain: bool = False) -> dict[str, Any]:
        """Return draws of equal weight by name, shape `(num_samples, *site)`, taken at random with replacement."""
        samples, log_weights = self.get_weighted_samples()
        number = jax.random.categorical(rng_key, log_weights, shape=(num_samples,))
        found = {name: value[number] for name, value in samples.items()}
        return {name: value[None] for name, value in found.items()} if group_by_chain else found

    def get_weighted_samples(self) -> tuple[dict[str, Any], Any]:
        """Return all particles by name, shape `(particle, *site)`, and their log weights, which sum to 1."""
        draws = self._made()
        flat = {n: jnp.asarray(v.reshape(-1, *v.shape[2:])) for n, v in draws.particles.items()}
        return flat, jnp.asarray(draws.log_weights.reshape(-1))

    def print_summary(self) -> None:
        """Print the log evidence, and means, sds and intervals of the draws."""
        draws = self._made()
        found = draws.log_evidence
        sys.stdout.write(f"log evidence: {found.value:.3f} +- {found.standard_error:.3f}\n")
        print_summary({name: np.asarray(value) for name, value in draws.items()})

    def diagnostics(self) -> None:
        """Print what accord has to say of the run: its notices."""
        for notice in self._made().notices:
            sys.stdout.write(f"{notice.severity}: {notice.message} {notice.remedy}\n")

    def _made(self) -> SMCDraws:
        if self.draws is None:
            raise ModelError(
                "NestedSampler: there are no draws yet. Call `run(jax.random.key(0), ...)` first."
            )
        return self.draws
