"""Learn scales as wide as the marginals, and decide whether these pay.

Where two coordinates are bound to each other, the Fisher divergence puts their scale between the width of the marginal
and that of the conditional. Trajectories end where most coordinates have turned: a few that are wide beside their scale
are then walked at random, which takes the square of their width in draws. Scaled by their marginals they are crossed at
once, with smaller steps for all. It pays where neither a matrix nor a few directions whiten, since what binds them is
curved: the slopes of a horseshoe and their local scales, the volatilities of a series and their persistence.

**Source**: scales by marginals are those of Stan and its kin (Carpenter et al., 2017, section 4.3). The measure of when
they pay is our own.
"""

import numpy as np

from .fit import Fit

LEAST_DRAWS = 50
"""Number of draws below which quantiles say little."""

_TAIL = 0.1
_WIDTH = 2 * 1.2815515655446004  # between the two quantiles of a standard normal

_GAIN = 0.7  # of the effort, below which scales by marginals are taken
_LOSS = 1.0  # of the effort, above which they are left again


def marginal(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> Fit:
    """Compute the widths of draws, at least `scale`, the scale of the diagonal form.

    That has a variance in it, and is the wider one where tails are far: a Cauchy variable has next to no curvature
    there, and in units of its bulk trajectories go out for ever. Draws and gradients are each `(draw, dim)`; where
    gradients are all the same, draws have gone as far as they were let, and say nothing of the width.
    """
    is_bound = np.ptp(g, axis=0) > 0
    return Fit(np.where(is_bound, np.fmax(widths(x), scale), scale), np.zeros((x.shape[1], 0)), np.zeros(0))


def widths(x: np.ndarray) -> np.ndarray:
    """Estimate standard deviations from quantiles of draws, shape `(draw, dim)`: of the bulk, not the tails."""
    # As `np.quantile` has it, which takes ten times as long for so few.
    ordered, last = np.sort(x, axis=0), len(x) - 1
    below = int(_TAIL * last)
    weight = _TAIL * last - below
    low = ordered[below] + weight * (ordered[min(below + 1, last)] - ordered[below])
    high = ordered[last - below] - weight * (ordered[last - below] - ordered[max(last - below - 1, 0)])
    return (high - low) / _WIDTH


def gain(fit: Fit, other: Fit, x: np.ndarray, g: np.ndarray) -> float:
    """Compute the ratio of efforts with two metrics, on draws and gradients; NaN for too few draws."""
    if len(x) < LEAST_DRAWS:
        return np.nan
    with np.errstate(all="ignore"):
        return float(effort(fit, x, g) / effort(other, x, g))


def pays(ratio: float, form: str) -> bool:
    """Return whether a `gain` is worth a change of form, given the form so far; False for an unknown gain."""
    return ratio < (_LOSS if form == "marginal" else _GAIN)


def effort(fit: Fit, x: np.ndarray, g: np.ndarray) -> float:
    """Estimate the gradients per independent draw of the widest coordinate, up to a factor.

    A step is as short as the steepest coordinate wants; a trajectory is as long as most coordinates are wide; and so
    many of them as the square says make a random walk over the widest. What is wide is so in both halves of the
    window: one excursion into a far tail is no ridge that draws go along.
    """
    x, g = fit.whitened(x, g)
    width, steepest = np.fmin(*map(widths, np.array_split(x, 2))), g.std(0).max()
    usual = np.sqrt(np.mean(width**2))
    return float(usual * steepest * max(1.0, (width.max() / usual) ** 2))
