"""Shorten the directions that stay narrow where a posterior is curved.

Coordinates that are wide by their marginals may be known together: the mean of a group, the sum of a smooth curve. With
scales by marginals alone such a direction sets the step for all. It gets a scale of its own, by how far draws spread
along it: a Fisher divergence would take the width at some places for the width at all, which is what scales by
marginals are there to avoid.

**Source**: our own; `docs/choices.md` has the figures.
"""

import numpy as np

from .dense import principal
from .fit import Fit
from .low_rank import main_directions
from .marginal import LEAST_DRAWS, widths

_NUM_SEARCHED = 16  # directions at most that are looked at
_DRAWS_EACH = 4  # at least, for each of these
_MOST = (
    2.0  # times its width that a narrow direction is scaled to, at most, and where nobody knows what is bent
)
_LONGEST = 0.75  # of the others, from which on a direction keeps its scale


def with_narrow(wide: Fit, x: np.ndarray, g: np.ndarray, room: int, remainder: float = np.nan) -> Fit:
    """Add to scales by marginals the narrowest directions, `room` at most.

    Directions at their width turn as late as all others, and a trajectory ends where most have turned: before the bent
    ones are crossed. So a narrow one is scaled to more than its width, by as much as what is bent is longer than the
    rest: the root of the `remainder` that a matrix leaves (see `curvature`). Draws and gradients are each
    `(draw, dim)`; few say nothing of directions.
    """
    if len(x) < LEAST_DRAWS:
        return wide
    x, g = (rows - rows.mean(0) for rows in (x / wide.scale, g * wide.scale))
    basis = main_directions(x + g, min(_NUM_SEARCHED, x.shape[1], len(x) // _DRAWS_EACH))
    vectors, stretch = principal(x @ basis, g @ basis)
    directions = basis @ vectors
    margin = _MOST if np.isnan(remainder) else np.clip(np.sqrt(remainder), 1.0, _MOST)
    scale = margin * np.fmax(widths(x @ directions), 1 + stretch)
    narrowest = np.argsort(scale)[:room]
    narrowest = narrowest[scale[narrowest] < _LONGEST]
    return Fit(wide.scale, directions[:, narrowest], scale[narrowest] - 1)
