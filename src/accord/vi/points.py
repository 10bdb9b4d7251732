"""Judge particles by the gradients of the log density there: they have no density, and so no weights."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core.tree import to_numpy
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..optimise.surface import in_batches
from .evaluate import Fitted, Judgement
from .interaction import inverse_multiquadric, spread
from .placed import places_of

NARROW = 0.8
"""Spread below which particles are told to be too near to each other: a standard deviation of nine tenths."""

_WIDTH = 0.2  # of the kernel: narrower than those that move particles, to see what these leave


def judging_points(density: LogDensity) -> Callable[[Fitted], Judgement]:
    """Compile the judgement of particles, in the current precision."""

    def scores(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(jax.grad(density), positions)

    scores_at = in_batches(density, scores)
    places = places_of(density.layout)

    @jax.jit
    def compare(positions: Any, scores: Any) -> Any:
        return inverse_multiquadric(positions, scores, _WIDTH).relative, spread(positions, scores)

    def judge(fitted: Fitted) -> Judgement:
        with one_blas_thread():
            coordinates = np.asarray(fitted.params["positions"])
            found = scores_at(np.asarray(fitted.frame.position(coordinates)))
            square, ratios = to_numpy(compare(coordinates, found * np.asarray(fitted.frame.scale)))
        square, ratios = float(square), np.asarray(ratios, float)
        return Judgement(
            np.nan,
            np.nan,
            np.nan,
            np.nan,
            float(np.sqrt(max(square, 0.0))) if np.isfinite(square) else np.inf,
            float(ratios.min()) if np.isfinite(ratios).all() else np.nan,
            places.names_at(~(ratios >= NARROW)),
        )

    return judge
