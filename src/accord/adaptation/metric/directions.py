"""Scale directions by their marginals, beside the coordinates, where a posterior is curved.

Coordinates that are wide may be known together, as the mean of a group or the sum of a smooth curve: with scales by
marginals alone such a narrow direction sets the steps of all. Others are unknown together, and walked at random. Both
get a scale of their own, from how far draws spread along them. A Fisher divergence would take the width that the
posterior has at some places for the width at all, which is what scales by marginals are there to avoid.

**Source**: our own; `docs/choices.md` has the figures.
"""

import numpy as np

from .curvature import STEEP
from .dense import principal
from .fit import Fit
from .low_rank import main_directions
from .marginal import LEAST_DRAWS, widths

_MOST_DIRECTIONS = 16
_DRAWS_EACH = 4  # at least, for each direction that is looked at
_MOST_MARGIN = (
    2.0  # times its width that a narrow direction is scaled to; also where the remainder is unknown
)
_VERY_NARROW = (
    0.1  # of the width of marginals; below it, a direction gets a scale of its own at any remainder
)
_SHORT = 0.75  # a scale between this and its inverse stays 1: it would change little


def with_directions(wide: Fit, x: np.ndarray, g: np.ndarray, room: int, remainder: float = np.nan) -> Fit:
    """Return scales by marginals, `wide`, with at most `room` directions added, narrow ones and wide ones.

    A direction at its width turns as late as all others, and a trajectory ends where most have turned: before the bent
    ones are crossed. So a narrow one is scaled to more than its width, by as much as what is bent is longer than the
    rest: the root of the `remainder` that a matrix leaves (see `curvature`). A wide one is scaled to no more than its
    width in both halves of the window, nor than its Fisher divergence allows: it may be bent itself.

    Draws and gradients are each `(draw, dim)`. Of fewer than 50 draws, `wide` is returned as it is. Where the posterior
    is steep in some places and directions cover but a part of it, only very narrow ones are added: any direction takes
    room there, and these alone make up for it.
    """
    if len(x) < LEAST_DRAWS:
        return wide
    x, g = (rows - rows.mean(0) for rows in (x / wide.scale, g * wide.scale))
    basis = main_directions(x + g, min(_MOST_DIRECTIONS, room, len(x) // _DRAWS_EACH))
    vectors, stretch = principal(x @ basis, g @ basis)
    along = x @ basis @ vectors
    margin = _MOST_MARGIN if np.isnan(remainder) else np.clip(np.sqrt(remainder), 1.0, _MOST_MARGIN)
    fisher = 1 + stretch
    short = margin * np.fmax(widths(along), fisher)
    long = np.fmin(np.fmin(*map(widths, np.array_split(along, 2))), fisher)
    scale = np.where(short < _SHORT, short, np.where(long > 1 / _SHORT, long, 1.0))
    found = scale != 1
    if remainder > STEEP and x.shape[1] > _MOST_DIRECTIONS:
        found &= np.fmax(widths(along), fisher) < _VERY_NARROW
    return Fit(wide.scale, (basis @ vectors)[:, found], scale[found] - 1)
