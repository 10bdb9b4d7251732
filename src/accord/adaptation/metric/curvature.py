"""Measure what no metric whitens, and decide what that asks of a chain.

Where a posterior is normal, whitened draw plus whitened gradient is constant. What remains of it along a direction is
force that bends as the chain moves: how steep the posterior is then depends on where the chain is. A metric and a step
that suit the usual place are too long for steeper ones, which a chain may reach only after warm-up, and there it stays
for hundreds of draws. Scales as wide as the marginals vary least in how well they suit one place and another, and
shorter steps leave room for the rest.

**Source**: our own; `docs/choices.md` has the figures.
"""

from enum import IntEnum

import numpy as np

from .fit import Fit
from .marginal import widths
from .record import Choice

_NUM_DIRECTIONS = 3
_LEAST_DRAWS = 80  # while a chain is on its way in, its first windows look bent
_DRIFT = 1.75  # standard deviations between the means of two halves, beyond which a chain is on its way
_LEAST_WIDENED = 1.1  # by which marginals widen the scale of a coordinate that counts
_BENT = 1.3  # squared width along a direction, from which on scales are those of the marginals
_DEAR = 10.0  # times the effort, beyond which scales by marginals are no remedy; where they are one, it is 0.7 to 6
_UNEVEN = 0.5  # held-out divergence of a matrix, for each draw and dimension, from which on steps are shorter

STEEP = 12.0
"""A remainder from which on, where several draws diverged, steep places held chains up all the same."""

EVEN = 0.135
"""Spread of the length of gradients, up to which a curved posterior is about as steep everywhere."""


class Care(IntEnum):
    """How much shorter steps should be, in all draws and in some, to pass places that are steeper than warm-up saw."""

    NONE = 0
    LITTLE = 1
    SOME = 2
    MUCH = 3


_TARGETS = {Care.NONE: 0.8, Care.LITTLE: 0.9, Care.SOME: 0.97, Care.MUCH: 0.985}
"""The mean acceptance statistic to aim at; 0.8 is Stan's."""


def remainder(fit: Fit, x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> float:
    """Compute the squared width of draw plus gradient along its largest direction.

    NaN for too few draws, and for those of a chain that is on its way to the posterior: what it passes looks bent.
    Draws and gradients are each `(draw, dim)`; `scale`, shape `(dim,)`, is that of the diagonal form. A direction found
    in one half of the window is judged in the other: in many dimensions, chance alone makes some direction look large
    where it was found. Only coordinates count that marginals would widen: those with far tails, which bend too, have no
    better scale. A normal posterior that `fit` whitens has 0.
    """
    if len(x) < _LEAST_DRAWS or _is_on_its_way(*np.array_split(x, 2)):
        return np.nan
    rows = fit.residual(x, g)[:, widened(x, scale)]
    first, second = (half - half.mean(0) for half in np.array_split(rows, 2))
    return (_largest(first, second) + _largest(second, first)) / 2


def spread(g: np.ndarray, is_widened: np.ndarray) -> float:
    """Compute how much longer than usual gradients get, `(draw, dim)` and in units of the marginals.

    It is the standard deviation of their log length, of those above the median, without what a normal has. Where a
    group of unknowns narrows with its scale, as in a funnel, gradients are a few times as long as usual in some draws.
    The larger of two: of all coordinates, and of those that are `widened`, among which unknowns beside a funnel do not
    hide it.
    """
    return max(_spread(g), _spread(g[:, is_widened]) if np.any(is_widened) else 0.0)


def _spread(g: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        lengths = np.log(np.linalg.norm(g, axis=1))
        above = np.maximum(lengths - np.median(lengths), 0)
        return float(np.sqrt(np.maximum(2 * np.mean(above**2) - 1 / (2 * g.shape[1]), 0)))


def widened(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the coordinates that marginals would widen, shape `(dim,)`; `scale` is that of the diagonal form."""
    return widths(x) > _LEAST_WIDENED * scale


def _is_on_its_way(before: np.ndarray, after: np.ndarray) -> bool:
    """Return whether the second half of a window, `(draw, dim)`, lies elsewhere than the first."""
    with np.errstate(all="ignore"):  # a column that does not move is no evidence
        drift = np.abs(after.mean(0) - before.mean(0)) / np.sqrt((before.var(0) + after.var(0)) / 2)
    return bool(np.any(drift > _DRIFT))


def _largest(seen: np.ndarray, unseen: np.ndarray) -> float:
    """Return the largest squared width of `unseen` along the main directions of `seen`, each `(draw, dim)`."""
    is_tall = seen.shape[1] < len(seen)
    values, vectors = np.linalg.eigh(seen.T @ seen if is_tall else seen @ seen.T)
    values, vectors = values[-_NUM_DIRECTIONS:], vectors[:, -_NUM_DIRECTIONS:]
    is_of_use = values > values[-1:] * 1e-12
    if not np.any(is_of_use):
        return 0.0
    vectors = vectors[:, is_of_use]
    along = unseen @ vectors if is_tall else (unseen @ seen.T) @ (vectors / np.sqrt(values[is_of_use]))
    return float(widths(along).max() ** 2)


def asks_for_marginals(remaining: float, ratio: float) -> bool:
    """Return whether a `remainder` asks for scales by marginals; False for an unknown one.

    `ratio`, of the efforts with them and without, as `gain` computes it: a matrix that whitens what is bound far closer
    than it is bent stays, and takes shorter steps.
    """
    return remaining > _BENT and not ratio > _DEAR


def care(choice: Choice, asked: float | None) -> Care:
    """Return what a chain's last choice calls for; nothing where the acceptance to aim at was `asked` for."""
    if asked is not None or not _needs_care(choice):
        return Care.NONE
    # Trajectories that are as long as they may be would only become shorter.
    is_steep = (
        choice.form == "marginal" and choice.remainder > STEEP and choice.has_diverged and not choice.is_cut
    )
    if is_steep:
        return Care.MUCH
    is_even = choice.form == "marginal" and choice.spread < EVEN and not choice.has_diverged
    return Care.LITTLE if is_even else Care.SOME


def target_accept(choice: Choice, asked: float | None) -> float:
    """Return the target of the mean acceptance statistic: `asked`, or what the chain's last choice calls for."""
    if asked is not None:
        return asked
    return _TARGETS[care(choice, None)]


def _needs_care(choice: Choice) -> bool:
    """Return whether the posterior is curved, or no matrix fits it well."""
    is_curved = choice.remainder > _BENT
    # Coordinates that are skewed and independent need no shorter steps: no matrix fits them better than scales do.
    is_uneven = choice.form in ("low_rank", "dense") and choice.least > _UNEVEN
    return bool(is_curved or is_uneven)
