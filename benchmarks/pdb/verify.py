"""Check translations without sampling: the gradient of each log density at reference draws, by Stein's identity.

For draws x of a density p on unconstrained space with gradient g = d log p(x) / dx, the mean of g is 0, and that of
(x - E x) g is -1, element by element. Both are compared in standard errors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from accord import LogDensity
from database import Database
from reference_draws import unknowns
from registry import Problem, bind

NUM_DRAWS = 1000
NUM_POINTS = 20  # that a model without reference draws is evaluated at
LIMIT = 5.0  # standard errors: chance alone goes beyond once in two million


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    **Fields**
    - `num_compared`: numbers compared with their standard errors; 0 without reference draws.
    - `worst`: the largest, in standard errors.
    - `num_finite`: at how many of `num_points` points, drawn uniformly from (-2, 2), the log density and its gradient
      are finite.
    """

    dim: int
    num_compared: int
    worst: float
    num_finite: int
    num_points: int

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against the translation."""
        return self.worst < LIMIT and self.num_finite > 0


def verify(problem: Problem, database: Database) -> Verdict:
    """Check one model; JAX must be in float64."""
    model = bind(problem.module, problem.model, problem.data)
    density = LogDensity.from_model(model)
    evaluate = jax.jit(jax.vmap(density.value_and_grad))
    points = np.random.default_rng(0).uniform(-2, 2, (NUM_POINTS, density.dim))
    values, gradients = (np.asarray(each) for each in evaluate(points))
    num_finite = int((np.isfinite(values) & np.isfinite(gradients).all(axis=1)).sum())
    if problem.reference is None:
        return Verdict(density.dim, 0, 0.0, num_finite, NUM_POINTS)
    scores = stein(density, problem.model, database.reference(problem.reference), model.arguments)
    return Verdict(density.dim, len(scores), float(np.abs(scores).max()), num_finite, NUM_POINTS)


def stein(
    density: LogDensity, model: str, reference: Mapping[str, np.ndarray], arguments: Mapping[str, Any]
) -> np.ndarray:
    """Both identities in standard errors, shape `(2 dim,)`; infinite where a number is not finite."""
    flat = {name: draws.reshape(-1, *draws.shape[2:]) for name, draws in reference.items()}
    num_all = len(next(iter(flat.values())))
    thinned = {name: draws[:: max(1, num_all // NUM_DRAWS)] for name, draws in flat.items()}
    values = unknowns(model, thinned, arguments)
    latents = {entry.name: values[entry.name] for entry in density.layout.entries}
    x = np.asarray(jax.jit(jax.vmap(density.unconstrain))(latents))
    _, g = jax.jit(jax.vmap(density.value_and_grad))(x)
    both = np.concatenate([g, (x - x.mean(axis=0)) * g + 1], axis=1)
    scores = both.mean(axis=0) / (both.std(axis=0, ddof=1) / np.sqrt(len(both)))
    return np.nan_to_num(scores, nan=np.inf)
