"""State three posteriors with known evidence, in terms that every library can be given.

Each has unknowns in unconstrained coordinates whose prior is standard normal, up to the bijection of the scale of the
schools: so a prior draw, its density and its quantile transform are one line each, and only likelihoods differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate, optimize, special, stats

SIGMA = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
HALF_CAUCHY = 5.0  # scale of the prior of tau
_PROPOSALS = 400_000  # of the reference by importance sampling


@dataclass(frozen=True)
class Problem:
    """A posterior.

    **Fields**
    - `dim`: number of unknowns, standard normal a priori.
    - `log_likelihood(xp, u)`: of unknowns of shape `(dim,)`, with `xp` NumPy or `jax.numpy`.
    - `reference()`: log evidence, and means and standard deviations of the unknowns where these are known.
    """

    dim: int
    log_likelihood: Callable[[Any, Any], Any]
    reference: Callable[[], tuple[float, np.ndarray | None, np.ndarray | None]]


def _regression() -> Problem:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 20))
    y = x @ rng.normal(size=20) + rng.normal(size=200)

    def log_likelihood(xp: Any, u: Any) -> Any:
        return -0.5 * xp.sum((y - xp.asarray(x) @ u) ** 2) - len(y) / 2 * np.log(2 * np.pi)

    def reference() -> tuple[float, np.ndarray, np.ndarray]:
        covariance = np.linalg.inv(np.eye(20) + x.T @ x)
        evidence = stats.multivariate_normal(np.zeros(200), np.eye(200) + x @ x.T).logpdf(y)
        return float(evidence), covariance @ x.T @ y, np.sqrt(np.diag(covariance))

    return Problem(20, log_likelihood, reference)


def _logistic() -> Problem:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 10))
    signs = np.where(rng.random(500) < 1 / (1 + np.exp(-x @ rng.normal(size=10))), 1.0, -1.0)

    def log_likelihood(xp: Any, u: Any) -> Any:
        return -xp.sum(xp.logaddexp(0.0, -signs * (xp.asarray(x) @ u)))

    def reference() -> tuple[float, np.ndarray, np.ndarray]:
        def height(u: np.ndarray) -> np.ndarray:
            return -0.5 * u @ u - 5 * np.log(2 * np.pi) + log_likelihood(np, u)

        top = optimize.minimize(lambda u: -height(u), np.zeros(10), method="BFGS", options={"gtol": 1e-8}).x
        share = 1 / (1 + np.exp(-x @ top))
        covariance = np.linalg.inv(np.eye(10) + (x * (share * (1 - share))[:, None]).T @ x)
        guide = stats.multivariate_t(top, covariance, df=10, seed=3)
        draws = guide.rvs(_PROPOSALS)
        logs = np.concatenate([
            -0.5 * (part**2).sum(1) - 5 * np.log(2 * np.pi) - np.logaddexp(0.0, -signs * (part @ x.T)).sum(1)
            for part in np.array_split(draws, 40)
        ])  # fmt: skip
        logs -= guide.logpdf(draws)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mean = weights @ draws
        evidence = logs.max() + np.log(np.mean(np.exp(logs - logs.max())))
        return float(evidence), mean, np.sqrt(weights @ (draws - mean) ** 2)

    return Problem(10, log_likelihood, reference)


def _schools() -> Problem:
    def log_likelihood(xp: Any, u: Any) -> Any:
        tau = HALF_CAUCHY * xp.tan(np.pi / 2 * _normal_cdf(xp, u[1]))
        off = (EFFECTS - 5 * u[0] - tau * u[2:]) / SIGMA
        return -0.5 * xp.sum(off**2) - np.sum(np.log(SIGMA)) - 4 * np.log(2 * np.pi)

    def reference() -> tuple[float, None, None]:
        def height(tau: float) -> float:
            covariance = np.diag(SIGMA**2 + tau**2) + 25.0
            density = stats.multivariate_normal(np.zeros(8), covariance).logpdf(EFFECTS)
            return stats.halfcauchy.pdf(tau, 0, HALF_CAUCHY) * np.exp(density)

        return (
            float(np.log(integrate.quad(height, 0, np.inf, epsabs=0, epsrel=1e-9, limit=500)[0])),
            None,
            None,
        )

    return Problem(10, log_likelihood, reference)


def _normal_cdf(xp: Any, value: Any) -> Any:
    """Compute the distribution function of the standard normal, in the library that `xp` belongs to."""
    if xp is np:
        return special.ndtr(value)
    if hasattr(xp, "normal_cdf"):
        return xp.normal_cdf(value)
    from jax.scipy.stats import norm

    return norm.cdf(value)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "regression": _regression,
    "logistic": _logistic,
    "schools": _schools,
}
