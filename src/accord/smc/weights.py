"""Do arithmetic with log weights, and choose the next power of the likelihood by them.

NumPy in float64, in the order of the particles. A log weight may be -inf: the weight is zero.
"""

import numpy as np

from ..report.weights import effective_size

_HALVINGS = 60


def log_mean(log_weights: np.ndarray) -> float:
    """Return the logarithm of the mean weight, shape `(particle,)`; -inf if all weights are zero."""
    largest = log_weights.max(initial=-np.inf)
    if largest == -np.inf:
        return -np.inf
    return float(largest + np.log(np.mean(np.exp(log_weights - largest))))


def relative(log_weights: np.ndarray) -> np.ndarray:
    """Return weights of which the largest is one; not all may be zero."""
    return np.exp(log_weights - log_weights.max())


def relative_variance(log_weights: np.ndarray, family: np.ndarray) -> float:
    """Estimate the variance of the mean weight, divided by its square, from particles by families.

    `family`: a number for each particle, the same for those of one ancestor, which may resemble each other.

    **Source**: Chan & Lai (2013), Ann. Statist. 41(6), by ancestors one stage back: Olsson & Douc (2019), Bernoulli
    25(2).
    """
    weights = relative(log_weights)
    mean = weights.mean()
    of_family = np.bincount(family, weights - mean)
    return float(np.sum(of_family**2) / (len(weights) * mean) ** 2)


def next_power(log_likelihood: np.ndarray, power: float, share: float) -> float:
    """Return the largest power of the likelihood up to 1 at which weights are worth a share of the particles.

    Particles stand for the density with the likelihood to `power`. Those where the likelihood is zero do not count:
    no power gives them a weight.

    **Source**: Del Moral, Doucet & Jasra (2012), Statistics and Computing 22(5), section 3.3.
    """
    wanted = share * np.sum(log_likelihood > -np.inf)

    def is_worth(step: float) -> bool:
        return effective_size(step * log_likelihood) >= wanted

    low, high = 0.0, 1.0 - power
    if is_worth(high):
        return 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_worth(middle) else (low, middle)
    return power + low if power + low > power else float(np.nextafter(power + high, 2.0))
