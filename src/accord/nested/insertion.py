"""Test whether new points are where independent ones would be: by their ranks among the points that were there.

**Source**: Fowlie, Handley & Su (2020), "Nested sampling cross-checks using order statistics", Monthly Notices of the
Royal Astronomical Society 497(4), 5256-5263.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import kolmogorov


def ranks(there: np.ndarray, new: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the rank of each new point among those there and the new ones before it, over their number.

    Of independent points of one distribution they are independent, and uniform on (0, 1): within the cells of their
    grid they are spread at random.

    **Arguments**: places of points in the order of all, `there`, shape `(point,)`, and `new`, shape `(batch,)`; `share`
    of a cell, uniform in [0, 1), for each new point.
    """
    earlier = np.tri(len(new), k=-1, dtype=bool)
    below = (there < new[:, None]).sum(1) + ((new < new[:, None]) & earlier).sum(1)
    return (below + share) / (len(there) + np.arange(len(new)) + 1)


def p_value(runs: Sequence[np.ndarray], piece: int) -> float:
    """Return the probability of ranks as uneven as these, if new points are independent.

    The distance from the uniform distribution is measured over all ranks, and over pieces of so many, one after the
    other, of which the smallest counts: a likelihood that is hard to explore at one height is seen there alone.
    """
    pieces = [own[first : first + piece] for own in runs for first in range(0, len(own), piece)]
    if not pieces:
        return 1.0
    whole, part = _kolmogorov(np.concatenate(pieces)), min(map(_kolmogorov, pieces))
    adjusted = -np.expm1(len(pieces) * np.log1p(-min(part, 1 - 1e-16)))
    return float(min(1.0, 2 * min(whole, adjusted)))


def _kolmogorov(ranks: np.ndarray) -> float:
    own, count = np.sort(ranks), len(ranks)
    grid = np.arange(count + 1) / count
    distance = max(np.max(grid[1:] - own), np.max(own - grid[:-1]))
    return float(kolmogorov(np.sqrt(count) * distance))
