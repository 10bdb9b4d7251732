"""Learn a few directions that the diagonal leaves too long or too short."""

import numpy as np

from .dense import principal
from .diagonal import scale_of
from .fit import Fit

_CUTOFF = 2.0  # a direction is kept where its variance, the scale taken out, is above this, or below 1 / this
_NUM_REFINEMENTS = 3
_LEAST_BESIDE = 0.01  # of a coordinate's square length, for its scale to be learnt anew
_NUM_SEARCHED = (
    100  # draws; more of them hardly turn the directions that are found first, and cost their cube
)


def low_rank(x: np.ndarray, g: np.ndarray, scale: np.ndarray, rank: int) -> Fit:
    """At most `rank` directions, from draws and gradients, each `(draw, dim)`, and the scale of their coordinates.

    Where a posterior is normal and, but for a few directions, white, draw plus gradient is constant but for these:
    whatever else it does spans them, after one draw more than there are directions, in any dimension. The dense
    estimate is then made within the span of the largest remainders.

    Long directions also distort the scale, which in turn hides others. So the scale is learnt anew from what is left
    beside those found, and the search goes on from them: of 300 scrambled dimensions with five directions of up to 50
    times the size of the others, 50 draws leave a condition number of 160 without this, and of 1 with it.
    """
    x, g = x - x.mean(0), g - g.mean(0)
    basis = _main_directions(x / scale + g * scale, rank)
    directions, stretch = _within(basis, x / scale, g * scale)
    if basis.shape[1] == len(scale):  # nothing is beside them
        return Fit(scale, directions, stretch)
    for _ in range(_NUM_REFINEMENTS):
        beside = [rows - rows @ directions @ directions.T for rows in (x / scale, g * scale)]
        # A coordinate along the directions has nothing but rounding errors beside them.
        is_beside = 1 - np.sum(directions**2, 1) > _LEAST_BESIDE
        scale = scale * np.where(is_beside, scale_of(*beside, np.ones_like(scale)), 1.0)
        remainder = x / scale + g * scale
        basis = np.linalg.qr(remainder.T @ (remainder @ basis))[0]
        directions, stretch = _within(basis, x / scale, g * scale)
    return Fit(scale, directions, stretch)


def _within(basis: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The directions in the span of a basis along which scaled draws are not of the size of their gradients."""
    if not basis.size:
        return basis, np.zeros(0)
    vectors, stretch = principal(x @ basis, g @ basis)
    size = np.abs(np.log1p(stretch))
    kept = np.argsort(-size, kind="stable")
    kept = kept[size[kept] > np.log(_CUTOFF) / 2]
    return basis @ vectors[:, kept], stretch[kept]


def _main_directions(rows: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal columns, at most `count`, in the order of how much of the rows lies along them."""
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _NUM_SEARCHED)).astype(int)]
    # The smaller of the two squares: a hundred draws in 10,000 dimensions are no large problem.
    is_tall = rows.shape[1] <= len(rows)
    values, vectors = np.linalg.eigh(rows.T @ rows if is_tall else rows @ rows.T)
    kept = np.flatnonzero(values > max(values[-1], 0) * 1e-12)[::-1][:count]
    return (
        vectors[:, kept] if is_tall else np.linalg.qr(rows.T @ (vectors[:, kept] / np.sqrt(values[kept])))[0]
    )
