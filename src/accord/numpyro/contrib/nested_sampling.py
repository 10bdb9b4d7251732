"""Estimate evidence and posterior by nested sampling, by NumPyro's name for it."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import infer
from ...core.errors import ModelError, OptionError
from ...nested.result import NestedDraws
from ...report.notices import tell
from ..bridge import as_model
from ..diagnostics import print_summary
from ..infer.seeds import seed_of
from ..infer.told import unused_options
from ..names.refusal import refusal as _refusal
from ..settings import asked_precision

__getattr__ = _refusal("numpyro.contrib.nested_sampling")

_LIVE, _LEAST = 500, 20


class NestedSampler:
    """Weighted draws of the posterior, and the evidence, by `accord.infer.NestedSampling`.

    NumPyro calls the package jaxns, whose moves and stopping rules are others.

    **Arguments**: `model`; of `constructor_kwargs`, `num_live_points` of all runs together, at least 40. Others have no
    effect, as all of `termination_kwargs`: a notice says so.

    **Fields**: `draws`, `NestedDraws` with `log_evidence` and notices; None before a run.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        constructor_kwargs: Mapping[str, Any] | None = None,
        termination_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        options = {**(constructor_kwargs or {}), **(termination_kwargs or {})}
        count = options.pop("num_live_points", 2 * _LIVE)
        tell(unused_options("NestedSampler", **options))
        if count < 1:
            raise OptionError(f"NestedSampler: num_live_points must be at least 1, got {count!r}.")
        self.model, self.live = model, max(-(-int(count) // 2), _LEAST)  # of each of two runs
        self.draws: NestedDraws | None = None

    def run(self, rng_key: Any, *args: Any, **kwargs: Any) -> None:
        """Sample from the prior on with these arguments of the model.

        **Raises** as `accord.infer.NestedSampling`.
        """
        method = infer.NestedSampling(
            live=self.live, seed=seed_of(rng_key), precision=asked_precision(), progress=False
        )
        self.draws = infer.evidence(as_model(self.model, *args, **kwargs), method).draws

    def get_samples(self, rng_key: Any, num_samples: int, *, group_by_chain: bool = False) -> dict[str, Any]:
        """Return draws of equal weight by name, shape `(num_samples, *site)`, taken at random with replacement."""
        samples, log_weights = self.get_weighted_samples()
        number = jax.random.categorical(rng_key, log_weights, shape=(num_samples,))
        found = {name: value[number] for name, value in samples.items()}
        return {name: value[None] for name, value in found.items()} if group_by_chain else found

    def get_weighted_samples(self) -> tuple[dict[str, Any], Any]:
        """Return all points by name, shape `(point, *site)`, and their log weights, which sum to 1."""
        draws = self._made()
        points = {name: jnp.asarray(values) for name, values in draws.points.items()}
        return points, jnp.asarray(draws.log_weights)

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

    def _made(self) -> NestedDraws:
        if self.draws is None:
            raise ModelError(
                "NestedSampler: there are no draws yet. Call `run(jax.random.key(0), ...)` first."
            )
        return self.draws
