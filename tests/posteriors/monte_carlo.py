"""Estimate Monte Carlo standard errors of a mean and of a standard deviation, with ArviZ's effective sample sizes."""

import numpy as np
from arviz_stats.base import array_stats


def mcse_mean(draws: np.ndarray) -> float:
    """Standard error of the mean of draws of shape `(chain, draw)`."""
    return float(draws.std(ddof=1) / np.sqrt(array_stats.ess(draws, method="mean")))


def mcse_sd(draws: np.ndarray) -> float:
    """Standard error of the standard deviation of draws of shape `(chain, draw)`.

    By the effective sample size of the squared deviations, as in Kenney & Keeping (1951), p. 141, and R's posterior
    package. ArviZ 0.8 takes that of the draws themselves, which is three times larger for the antithetic draws that a
    sampler makes of a nearly normal posterior; sixteen runs against exact figures then scattered by twice their error.
    """
    squares = (draws - draws.mean()) ** 2
    variance = squares.mean()
    error_of_variance = squares.std() / np.sqrt(array_stats.ess(squares, method="mean"))
    return float(error_of_variance / (2 * np.sqrt(variance)))
