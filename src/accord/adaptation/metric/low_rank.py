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
    """Fit at most `rank` directions, and the scale of coordinates, to draws and gradients, each `(..., draw, dim)`.

    Where a posterior is normal and, but for a few directions, white, draw plus gradient is constant but for these:
    whatever else it does spans them, after one draw more than there are directions, in any dimension. The dense
    estimate is then made within the span of the largest remainders.

    Long directions also distort the scale, which in turn hides others. So the scale is learnt anew from what is left
    beside those found, and the search goes on from them: of 300 scrambled dimensions with five directions of up to 50
    times the size of the others, 50 draws leave a condition number of 160 without this, and of 1 with it.
    """
    x, g = (rows - rows.mean(-2, keepdims=True) for rows in (x, g))
    white = _scaled(x, g, scale)
    basis = main_directions(white[0] + white[1], rank)
    directions, stretch = _within(basis, *white)
    if basis.shape[-1] == x.shape[-1]:  # nothing is beside them
        return Fit(scale, directions, stretch)
    for _ in range(_NUM_REFINEMENTS):
        beside = [rows - rows @ directions @ _transposed(directions) for rows in white]
        # A coordinate along the directions has nothing but rounding errors beside them.
        is_beside = 1 - np.sum(directions**2, -1) > _LEAST_BESIDE
        scale = scale * np.where(is_beside, scale_of(*beside, np.ones_like(scale)), 1.0)
        white = _scaled(x, g, scale)
        remainder = white[0] + white[1]
        basis = np.linalg.qr(_transposed(remainder) @ (remainder @ basis))[0]
        directions, stretch = _within(basis, *white)
    return Fit(scale, directions, stretch)


def _scaled(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x / scale[..., None, :], g * scale[..., None, :]


def _transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)


def _within(basis: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find directions in the span of a basis along which scaled draws and gradients differ in size.

    As many columns as the basis has, since those in front may find unlike numbers: zeros for what is not kept.
    """
    if not basis.size:
        return basis, np.zeros((*basis.shape[:-2], 0))
    vectors, stretch = principal(x @ basis, g @ basis)
    is_kept = np.abs(np.log1p(stretch)) > np.log(_CUTOFF) / 2
    return basis @ (vectors * is_kept[..., None, :]), np.where(is_kept, stretch, 0.0)


def main_directions(rows: np.ndarray, count: int) -> np.ndarray:
    """Return at most `count` orthonormal columns, by how much of the rows, `(..., row, dim)`, lies along them."""
    num_rows, dim = rows.shape[-2:]
    rows = rows[..., np.linspace(0, num_rows - 1, min(num_rows, _NUM_SEARCHED)).astype(int), :]
    # The smaller of the two squares: a hundred draws in 10,000 dimensions are no large problem.
    is_tall = dim <= rows.shape[-2]
    values, vectors = np.linalg.eigh(_transposed(rows) @ rows if is_tall else rows @ _transposed(rows))
    is_of_use = values > np.maximum(values[..., -1:], 0) * 1e-12
    count = min(count, int(np.min(np.sum(is_of_use, -1))))
    last = slice(values.shape[-1] - count, None)
    values, vectors = values[..., last][..., ::-1], vectors[..., last][..., ::-1]
    if is_tall:
        return vectors
    return np.linalg.qr(_transposed(rows) @ (vectors / np.sqrt(values[..., None, :])))[0]
