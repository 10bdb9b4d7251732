"""Judge the information at a mode: find the directions it determines, and refine the mode by Newton's method."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .view import View

Heights = Callable[[np.ndarray], np.ndarray]
"""The objective at positions of shape `(n, dim)`."""

_MAX_STEPS = 10  # of Newton's method, which doubles the number of right digits with each
_FALL = 1e-3
"""Nats. One standard error from a maximum the objective is lower by half a nat; by less toward the edge of a support,
and by as little as this where the edge is 0.045 standard errors away. What lies at an edge ends up much nearer."""


@dataclass(frozen=True, eq=False)
class Information:
    """Minus the second derivatives at a point, taken apart.

    **Fields**
    - `told`: shape `(dim, m)`: directions along which the objective falls, each one standard error long, so that
      `told @ told.T` is the inverse of the information on them.
    - `level`: shape `(dim, n)`: directions along which it does not fall, by rounding or as far as a standard error.
    - `rising`: shape `(dim, l)`: along which it curves upward.
    - `scales`: shape `(dim,)`: in which `level` and `rising` have unit length.
    """

    told: np.ndarray
    level: np.ndarray
    rising: np.ndarray
    scales: np.ndarray

    @staticmethod
    def of(view: View, epsilon: float, is_level: np.ndarray | None = None) -> "Information":
        """Decompose the information of a finite view.

        **Arguments**
        - `epsilon`: what numbers of order one are rounded to.
        - `is_level`: coordinates that are known to be level, shape `(dim,)`; None is none.
        """
        matrix = view.information.astype(float)
        diagonal = np.abs(np.diag(matrix))
        # In units in which every coordinate by itself has a standard error of one, so that units do not count.
        scales = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
        is_level = np.zeros(len(scales), bool) if is_level is None else is_level
        matrix = np.where(is_level | is_level[:, None], 0.0, matrix * scales * scales[:, None])
        curvatures, axes = np.linalg.eigh(matrix)
        axes = axes * scales[:, None]
        least = epsilon**0.625  # 1.6e-10 in float64
        is_told = curvatures > least
        return Information(
            axes[:, is_told] * curvatures[is_told] ** -0.5,
            axes[:, np.abs(curvatures) <= least],
            axes[:, curvatures < -least],
            scales,
        )

    @staticmethod
    def checked(view: View, epsilon: float, heights: Heights) -> "Information":
        """Mark as level each coordinate, then direction, along which nothing falls within one standard error.

        Where a maximum is at infinity, as at the edge of a support, curvature vanishes together with the gradient, and
        a standard error made of it means nothing.
        """
        curvatures = np.diag(view.information)
        falls = _falls(view, heights, np.diag(Information.of(view, epsilon).scales))
        # By rounding, a level coordinate may seem to curve upward; if it does, the objective is higher beside it.
        is_level = np.where(curvatures > 0, falls.min(axis=0) < _FALL, np.abs(falls).max(axis=0) < _FALL)
        first = Information.of(view, epsilon, is_level)
        is_flat = _falls(view, heights, first.told).min(axis=0) < _FALL
        lengths = np.linalg.norm(first.told / first.scales[:, None], axis=0)
        level = np.concatenate([first.level, (first.told / lengths)[:, is_flat]], axis=1)
        return Information(first.told[:, ~is_flat], level, first.rising, first.scales)

    def newton_step(self, gradient: np.ndarray) -> np.ndarray:
        """Return Newton's step from a point with this gradient, over the determined directions."""
        return self.told @ (self.told.T @ gradient)

    def gain(self, gradient: np.ndarray) -> float:
        """Return the gain of that step in nats."""
        return float(np.sum((self.told.T @ gradient) ** 2)) / 2


def sharpened(look: Callable[[np.ndarray], View], position: np.ndarray, epsilon: float) -> View:
    """Refine a point near a maximum by Newton's steps for as long as they help."""
    view = look(position)
    for _ in range(_MAX_STEPS):
        if not view.is_known:
            break
        information = Information.of(view, epsilon)
        gain = information.gain(view.gradient)
        if information.rising.size or not gain > 0:
            break
        new = look((view.position + information.newton_step(view.gradient)).astype(position.dtype))
        noise = 4 * epsilon * abs(view.value)
        is_better = new.is_known and new.value >= view.value - noise
        if not is_better or Information.of(new, epsilon).gain(new.gradient) >= gain:
            break
        view = new
        if gain <= epsilon:
            break  # digits have doubled once more
    return view


def _falls(view: View, heights: Heights, directions: np.ndarray) -> np.ndarray:
    """Measure the fall on either side along columns of shape `(dim, n)`; shape `(2, n)`, zero where it is NaN."""
    ends = np.concatenate([view.position + sign * directions.T for sign in (1, -1)])
    falls = (view.value - heights(ends)).reshape(2, -1)
    return np.where(np.isnan(falls), 0.0, falls)
