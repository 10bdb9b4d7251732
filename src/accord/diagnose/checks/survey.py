"""Evaluate a log density at many points: where chains start, farther out, and at draws of the prior."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...core import precision as precisions
from ...core.errors import AccordError
from ...core.notice import Notice
from ...density import LogDensity
from ...density.quick import quickly
from ...density.simulate import prior_position
from .dependence import has_files, model_program
from .evaluator import Evaluator

NUM_PRIOR = 200
NUM_NEAR = 100  # as many as a chain tries
NUM_WIDE = 100
NEAR, WIDE = 2.0, 10.0

_ENOUGH = 2.0  # seconds for one survey
_LEAST = 10


@dataclass(frozen=True)
class Survey:
    """Log density and gradient at some points.

    **Fields**
    - `where`: in words, to follow "points".
    - `positions`: shape `(point, dim)`. `values`: log densities, shape `(point,)`.
    - `is_steep`: where some derivative is not finite, shape `(point,)`.
    """

    where: str
    positions: np.ndarray
    values: np.ndarray
    is_steep: np.ndarray

    @staticmethod
    def of(whole: Evaluator, positions: Iterable[np.ndarray], where: str) -> "Survey":
        """Evaluate points one after the other until the time is over."""
        tried, values, is_steep = [], [], []
        whole.value_and_grad(
            np.zeros(whole.density.dim, precisions.float_dtype(whole.density.program.precision))
        )
        began = time.perf_counter()  # the program has been compiled by now
        for position in positions:
            value, gradient = whole.value_and_grad(position)
            tried.append(position)
            values.append(float(value))
            is_steep.append(not np.all(np.isfinite(gradient)))
            if time.perf_counter() - began > _ENOUGH and len(tried) >= _LEAST:
                break
        dim = whole.density.dim
        return Survey(where, np.reshape(tried, (-1, dim)), np.array(values), np.array(is_steep, bool))

    @property
    def is_good(self) -> np.ndarray:
        """Points with a finite log density and gradient."""
        return np.isfinite(self.values) & ~self.is_steep


def survey_near(whole: Evaluator) -> Survey:
    """Evaluate points where chains start."""
    return Survey.of(whole, _around(whole.density, NEAR, NUM_NEAR), f"between {-NEAR:g} and {NEAR:g}")


def survey_wide(whole: Evaluator) -> Survey:
    """Evaluate points farther out, which a chain may pass."""
    return Survey.of(whole, _around(whole.density, WIDE, NUM_WIDE), f"between {-WIDE:g} and {WIDE:g}")


def survey_prior(whole: Evaluator, density: LogDensity) -> Survey | Notice | None:
    """Evaluate draws of the prior, or report why there are none; none for a function, or for data in files."""
    if model_program(density) is None or has_files(density):
        return None
    precision = density.program.precision
    try:
        with precisions.scope(precision):
            keys = jax.random.split(jax.random.key(20), NUM_PRIOR)

            # One after the other, since not everything in a model can be batched.
            def draws(data: Any, keys: Any) -> Any:
                given = density.with_data(data)
                return jax.lax.map(lambda key: prior_position(given, key), keys)

            positions = np.asarray(quickly(draws)(density.data, keys))
    except AccordError as error:
        return Notice(
            "info", "no_prior_draws", f"The prior cannot be sampled, and was not checked: {error}", ""
        )
    # A draw that rounds to the edge of its support is nowhere.
    inside = positions[np.all(np.isfinite(positions), axis=1)]
    return Survey.of(whole, inside, "drawn from the prior")


def _around(density: LogDensity, radius: float, count: int) -> Iterator[np.ndarray]:
    dtype = precisions.float_dtype(density.program.precision)
    for attempt in range(count):
        generator = np.random.default_rng((20, attempt))
        yield generator.uniform(-radius, radius, density.dim).astype(dtype)
