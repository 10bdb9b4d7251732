"""Rank rows of numbers, and turn ranks into normal scores.

Sorting is most of the work of rank-normalised diagnostics, and NumPy sorts numbers three times faster than it finds the
order that sorts them. So the place of each number takes the lowest bits of its key, and the keys are sorted; rows in
which the bits that it took tell two numbers apart are found afterwards, and sorted again.
"""

from functools import lru_cache
from statistics import NormalDist

import numpy as np

_SIGN = np.int64(63)
_BELOW_SIGN = np.int64(2**63 - 1)
_MOST_BITS = 20  # of a key that a place may take: beyond, too many numbers would share what is left


def in_order(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows; return them and the places of their entries in the flattened rows; both of shape `(row, n)`.

    - `rows`: float64 without NaN, contiguous.
    """
    size = rows.shape[1]
    offsets = size * np.arange(len(rows))[:, None]
    places = max(size - 1, 1).bit_length()
    if places > _MOST_BITS:
        order = np.argsort(rows, axis=1) + offsets
        return np.take(rows, order), order
    # The bits of floating point numbers, as integers, are in the order of the numbers once negative ones are inverted.
    keys = rows.view(np.int64) >> _SIGN
    keys &= _BELOW_SIGN
    keys ^= rows.view(np.int64)
    mask = np.int64(2**places - 1)
    keys &= ~mask
    keys |= np.arange(size)
    keys.sort(axis=1)
    keys &= mask
    keys += offsets
    ordered = np.take(rows, keys)
    wrong = np.flatnonzero(ordered[:, 1:] < ordered[:, :-1])
    if not wrong.size:
        return ordered, keys
    _exchange(ordered, keys, wrong)
    is_wrong = (ordered[:, 1:] < ordered[:, :-1]).any(axis=1)
    if is_wrong.any():
        keys[is_wrong] = np.argsort(rows[is_wrong], axis=1) + offsets[is_wrong]
        ordered = np.take(rows, keys)
    return ordered, keys


def _exchange(ordered: np.ndarray, keys: np.ndarray, wrong: np.ndarray) -> None:
    """Exchange neighbours in the wrong order, which suffices if at most two numbers share a key.

    Distances from a median share keys: the two in the middle are equally far but for rounding.
    """
    wrong = wrong + wrong // (ordered.shape[1] - 1)  # rows of the comparison are one shorter
    alone = np.flatnonzero(np.diff(wrong, prepend=-2) != 1)
    for table in (ordered.reshape(-1), keys.reshape(-1)):
        first = wrong[alone]
        table[first], table[first + 1] = table[first + 1], table[first]


def average_ranks(rows: np.ndarray) -> np.ndarray:
    """Rank each row from 1; tied values share their mean rank; shape as given."""
    rows = np.ascontiguousarray(rows, np.float64)
    return _by_rank(*in_order(rows), 1 + np.arange(2 * rows.shape[1] - 1) / 2)


def normal_scores(rows: np.ndarray) -> np.ndarray:
    """Replace each entry of each row by the normal quantile of its rank (Blom 1958); shape as given."""
    return scores_of(*in_order(rows))


def scores_of(ordered: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Compute normal scores of rows that `in_order` has sorted, in the order before sorting."""
    return _by_rank(ordered, order, _scores(ordered.shape[1]))


def _by_rank(ordered: np.ndarray, order: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Look up ranks in `table` (of ranks 1, 1.5, 2, ...), in the order before sorting."""
    num_rows, size = ordered.shape
    values = np.repeat(table[None, ::2], num_rows, axis=0).ravel()
    is_tied = np.zeros(ordered.shape, bool)
    np.equal(ordered[:, 1:], ordered[:, :-1], out=is_tied[:, :-1])
    tied = np.flatnonzero(is_tied)  # entries that equal the next one
    if tied.size:
        breaks = np.diff(tied) != 1
        first = tied[np.concatenate([[True], breaks])]
        last = tied[np.concatenate([breaks, [True]])] + 1
        shared = table[first % size + last % size]
        values[tied] = np.repeat(shared, last - first)
        values[last] = shared
    result = np.empty(num_rows * size)
    result[order.ravel()] = values
    return result.reshape(num_rows, size)


@lru_cache(maxsize=4)
def _scores(count: int) -> np.ndarray:
    """Compute the scores of all possible ranks: 1, 1.5, ..., `count`.

    Computed once for all columns, by the standard library: importing SciPy's function alone takes a quarter of a
    second.
    """
    quantile = NormalDist().inv_cdf
    return np.array([quantile((twice / 2 - 0.375) / (count + 0.25)) for twice in range(2, 2 * count + 1)])
