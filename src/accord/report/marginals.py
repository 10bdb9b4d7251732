"""Work out everything that a summary says of scalars, in one pass: ranks, quantiles and chains are shared.

Equal to the functions of `diagnostics`, which work out one thing each.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .autocorrelation import centre, ess
from .diagnostics import (
    MIN_DRAWS,
    QUIETLY,
    TAILS,
    Columns,
    blocks_of,
    columns_at,
    errors_of_moments,
    ess_bulk,
    ess_of_tails,
    folded_scores,
    least_draws,
    nested_r_hat,
    pooled,
    r_hat_of,
    split,
)
from .many_chains import MANY
from .ranks import in_order, scores_of
from .sketch import sketch, sketches_of

DIAGNOSTICS = ("ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd")

_MANY_NUMBERS = 2**22  # from which threads are worth it
_BYTES_KEPT = 2**24  # more than any of our arrays has
_MOST_THREADS = 4  # as many as share the bandwidth of a machine's memory


@dataclass(frozen=True, eq=False)
class Marginals:
    """Summaries of k scalars: numbers by name, shape `(k,)`, and a sketch of each.

    **Fields**: `quantiles`, shape `(probability, k)`; `shortest`, the ends of the shortest interval, shape `(2, k)`;
    `diagnostics`, by the names in `DIAGNOSTICS`; `sketches`, as `sketch` draws them, shape `(k,)`.
    """

    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    shortest: np.ndarray
    diagnostics: dict[str, np.ndarray]
    sketches: np.ndarray


def marginals(
    draws: np.ndarray,
    probabilities: Sequence[float],
    mass: float | None = None,
    superchains: Sequence[int] | None = None,
) -> Marginals:
    """Summarise draws of shape `(chain, draw, k)`.

    - `probabilities`: of the quantiles; `quantiles` has shape `(len(probabilities), k)`.
    - `mass`: of the shortest interval, shape `(2, k)`; NaN without it.
    - `superchains`: superchain of each chain, if several chains share a starting point.
    """
    num_scalars = draws.shape[2]
    nothing = np.full(num_scalars, np.nan)
    found = Marginals(
        nothing,
        nothing.copy(),
        np.full((len(probabilities), num_scalars), np.nan),
        np.full((2, num_scalars), np.nan),
        {name: nothing.copy() for name in DIAGNOSTICS},
        np.full(num_scalars, "", object),
    )
    if not draws.size:
        return found

    def work(some: slice) -> None:
        with np.errstate(**QUIETLY):
            _note(found, some, draws, probabilities, mass)

    blocks = blocks_of(draws)
    if draws.size < _MANY_NUMBERS:
        for some in blocks:
            work(some)
    else:
        # Where the C library has not yet freed a block so large, it hands every array of ours back to the system as
        # soon as it is freed, and each new one costs a fault for every page.
        del_at_once = np.empty(_BYTES_KEPT, np.uint8)
        del del_at_once
        # NumPy lets go of the interpreter while it sorts and multiplies. No block depends on another.
        with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
            list(threads.map(work, blocks))
    if draws.shape[0] >= MANY:
        found.diagnostics["r_hat"][:] = nested_r_hat(draws, superchains)
        found.diagnostics["ess_bulk"][:] = ess_bulk(draws)
    return found


def _note(
    found: Marginals, some: slice, draws: np.ndarray, probabilities: Sequence[float], mass: float | None
) -> None:
    """Fill in the summaries of a block of scalars."""
    is_valid, columns = columns_at(draws, some)
    rows = pooled(columns)
    num_chains, num_draws = columns.shape[1:]
    has_nan = not is_valid.all() and np.isnan(rows).any()
    ordered, order = (np.sort(rows, axis=1), None) if has_nan else in_order(rows)
    found.mean[some] = rows.mean(axis=1)
    found.quantiles[:, some] = quantiles_of(ordered, probabilities)
    if mass is not None:
        found.shortest[:, some] = shortest_of(ordered, mass)
    if np.isfinite(ordered[:, [0, -1]]).all():
        found.sketches[some] = sketches_of(ordered, draws.dtype.kind in "biu")
    else:
        found.sketches[some] = [sketch(draws[:, :, index]) for index in range(some.start, some.stop)]
    is_judged = is_valid & (num_draws >= least_draws(num_chains))
    if not is_judged.all() and num_chains * num_draws > 1:
        found.sd[some] = rows.std(axis=1, ddof=1)
    if not is_judged.any():
        return
    where = slice(None) if is_judged.all() else is_judged  # a slice copies nothing
    # Halves of an even number of draws are all of them, in the same places.
    has_sorted_halves = num_draws % 2 == 0 and is_judged.all() and order is not None
    sd, diagnostics = _judged(columns[where], ordered[where], order if has_sorted_halves else None)
    found.sd[some][where] = sd
    for name, values in diagnostics.items():
        found.diagnostics[name][some][where] = values


def _judged(
    columns: Columns, ordered: np.ndarray, order: np.ndarray | None
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Compute the sd and the diagnostics of columns that vary; `diagnostics` does those of many chains.

    - `ordered`: their draws sorted; `order`: the places of these, if they are those of halves of chains too.
    """
    tails = quantiles_of(ordered, TAILS)
    sd, mcse_mean, mcse_sd = errors_of_moments(columns)
    found = {"ess_tail": ess_of_tails(columns, *tails), "mcse_mean": mcse_mean, "mcse_sd": mcse_sd}
    if columns.shape[1] >= MANY:
        return sd, found
    halves = split(columns)
    if order is None:
        ordered, order = in_order(pooled(halves))
    scores = scores_of(ordered, order).reshape(halves.shape)
    centred = centre(scores)
    found["ess_bulk"] = ess(scores, centred)
    if columns.shape[1] > 1 and columns.shape[2] >= MIN_DRAWS:
        folded = folded_scores(halves, median_of(ordered))
        found["r_hat"] = r_hat_of(centred, centre(folded))
    return sd, found


def quantiles_of(ordered: np.ndarray, probabilities: Sequence[float]) -> np.ndarray:
    """Compute quantiles of sorted rows with NumPy's linear interpolation; shape `(len(probabilities), row)`."""
    size = ordered.shape[1]
    places = np.asarray(probabilities) * (size - 1)
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, size - 1)
    part = (places - below)[:, None]
    low, high = ordered[:, below].T, ordered[:, above].T
    # From the nearer of the two, and exactly it where they are equal or the place is its own.
    step = np.where(low == high, 0.0, high - low)
    found = np.where(part == 0, low, np.where(part < 0.5, low + step * part, high - step * (1 - part)))
    return np.where(np.isnan(ordered[:, -1]), np.nan, found)  # NaN is sorted to the end


def median_of(ordered: np.ndarray) -> np.ndarray:
    """Compute the median of sorted rows, as NumPy does."""
    size = ordered.shape[1]
    return ordered[:, (size - 1) // 2 : size // 2 + 1].mean(axis=1)


def shortest_of(ordered: np.ndarray, mass: float) -> np.ndarray:
    """Compute the narrowest interval with `mass` of the entries of sorted rows, the lowest if tied; `(2, row)`.

    NaN for a row with an entry that is not finite.
    """
    num_rows, size = ordered.shape
    steps = min(int(np.floor(mass * size)), size - 1)
    widths = ordered[:, steps:] - ordered[:, : size - steps]
    first = np.argmin(widths, axis=1)
    rows = np.arange(num_rows)
    found = np.stack([ordered[rows, first], ordered[rows, first + steps]])
    return np.where(np.isfinite(ordered[:, [0, -1]]).all(axis=1), found, np.nan)
