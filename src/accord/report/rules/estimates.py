"""Tell of chains that move by noisy estimates of their log density: how noisy these are, and what they cost."""

import math
from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import chain_list

WANTED_SD = 1.2
"""Standard deviation of an estimate, in nats, at which a draw costs least.

**Source**: Doucet, Pitt, Deligiannidis & Kohn (2015), Biometrika 102(2), 295-313.
"""

_NOISY, _EXACT = math.sqrt(3.0), 0.4  # a third of what is wanted takes nine times the particles
_LONG = 100  # draws on one estimate
_FEWEST = 16  # particles, below which fewer save nothing


def noisy_estimates(run: Evidence) -> Iterator[Notice]:
    """Tell of estimates that are far noisier than they should be, or far more exact."""
    if run.estimate is None:
        return
    particles, sd = run.estimate
    wanted = particles * (sd / WANTED_SD) ** 2
    if sd > _NOISY:
        yield Notice(
            "warning",
            "estimate_noisy",
            f"At a central point, the estimate of the log density has a standard deviation of {sd:.2g} with "
            f"{particles} particles, where {WANTED_SD:g} costs least. Chains stay long where it came out too large.",
            f"Take more particles: infer.PMMH(particles={two_digits(min(wanted, 10 * particles))}); or leave "
            "`particles=` out.",
        )
    elif sd < _EXACT and max(wanted, _FEWEST) < particles / 2:
        yield Notice(
            "info",
            "estimate_exact",
            f"At a central point, the estimate of the log density has a standard deviation of {sd:.2g} with "
            f"{particles} particles, where {WANTED_SD:g} costs least: the draws are valid, and would cost less with "
            "fewer.",
            f"Take fewer particles: infer.PMMH(particles={two_digits(max(wanted, _FEWEST))}); or leave `particles=` "
            "out.",
        )


def stuck_estimates(run: Evidence) -> Iterator[Notice]:
    """Find chains that kept one estimate for long."""
    if "log_density_estimate" not in run.stats:
        return
    kept = np.asarray(run.stats["log_density_estimate"])
    longest = np.array([_longest(chain) for chain in kept])
    stuck = np.flatnonzero(longest > _LONG)
    if stuck.size:
        yield Notice(
            "warning",
            "estimate_stuck",
            f"{chain_list(run, stuck)} kept one estimate of the log density for up to {longest.max()} draws: it came "
            "out too large there, and no proposal was accepted.",
            "Take more particles, and a longer warm-up.",
        )


def bad_weights(run: Evidence) -> Iterator[Notice]:
    """Tell of particles whose weight was no number."""
    if "weights_not_finite" not in run.stats:
        return
    count = int(np.asarray(run.stats["weights_not_finite"]).sum())
    if count:
        yield Notice(
            "warning",
            "weight_not_finite",
            f"The log density of observations was NaN or +inf at {count} particles, which count as impossible.",
            "Call infer.check(model), and look at exp, log, sqrt and division in the step.",
        )


def _longest(values: np.ndarray) -> int:
    """Return the length of the longest run of equal values."""
    if not len(values):
        return 0
    changes = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
    return int(np.diff(changes).max())


def two_digits(count: float) -> int:
    """Return a whole number of two digits and zeros, not below this one."""
    unit = 10 ** max(math.floor(math.log10(max(count, 1))) - 1, 0)
    return math.ceil(count / unit) * unit
