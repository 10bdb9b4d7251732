"""Learn the length of trajectories otherwise than `infer.ChEES` does, for the prototypes of `ensembles.py`."""

from typing import Any
from unittest import mock

import jax.numpy as jnp

from accord.adaptation import ensemble
from accord.adaptation.ensemble import Moves
from accord.adaptation.metric import Metric


def learn_at_any_cost(*seen: Any, max_steps: int) -> Any:
    """`ensemble.learn` of the length that makes squared distances from the centre change most, whatever time it takes.

    **Source**: Hoffman, Radul & Sountsov (2021), AISTATS, equation 11; the library divides by the time.
    """
    slope = ensemble._slope

    def of_change(moves: Moves, metric: Metric, time: Any) -> Any:
        # The slope of C / T by log T is that of C, less C, over T; the library's slope is a quarter of that, times T.
        chance = moves.acceptance * moves.weight
        counts = (chance > 0)[:, None]
        after, before = jnp.where(counts, moves.end, moves.start), moves.start
        squares = (
            jnp.sum(unstretched(metric, x - w @ x / jnp.sum(w)) ** 2, 1)
            for x, w in ((after, chance), (before, moves.weight))
        )
        change = next(squares) - next(squares)
        change = jnp.sum(chance * change**2) / jnp.maximum(jnp.sum(chance), 1e-10)
        return slope(moves, metric, time) + 0.25 * jnp.where(jnp.isfinite(change), change, 0)

    with mock.patch.object(ensemble, "_slope", of_change):
        return ensemble.learn(*seen, max_steps)


def unstretched(metric: Metric, x: Any) -> Any:
    """Rows of x, shape `(row, dim)`, in whitened space."""
    y = x / metric.scale
    along = (y @ metric.factor) * (1 / (1 + metric.stretch) - 1)
    return y + jnp.where(metric.is_diagonal, 0, along) @ metric.factor.T
