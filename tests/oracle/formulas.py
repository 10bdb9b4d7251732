"""State densities and maps from the real line by the formulas of textbooks, in NumPy and SciPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, gammaln, log_ndtr, xlog1py, xlogy

HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)


def normal(x, loc=0.0, scale=1.0):
    return -0.5 * ((x - loc) / scale) ** 2 - np.log(scale) - HALF_LOG_TWO_PI


def student_t(x, df, loc, scale):
    z = (x - loc) / scale
    normalizer = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi) - np.log(scale)
    return normalizer - (df + 1) / 2 * np.log1p(z**2 / df)


def cauchy(x, loc, scale):
    return -np.log(np.pi * scale) - np.log1p(((x - loc) / scale) ** 2)


def laplace(x, loc, scale):
    return -np.abs(x - loc) / scale - np.log(2 * scale)


def logistic(x, loc, scale):
    z = np.abs(x - loc) / scale  # it is even
    return -z - 2 * np.log1p(np.exp(-z)) - np.log(scale)


def gumbel(x, loc, scale):
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


def half_normal(x, scale):
    return np.log(2) + normal(x, 0.0, scale)


def half_cauchy(x, scale):
    return np.log(2) + cauchy(x, 0.0, scale)


def exponential(x, rate):
    return np.log(rate) - rate * x


def gamma(x, concentration, rate):
    return concentration * np.log(rate) + (concentration - 1) * np.log(x) - rate * x - gammaln(concentration)


def inverse_gamma(x, concentration, rate):
    return concentration * np.log(rate) - (concentration + 1) * np.log(x) - rate / x - gammaln(concentration)


def log_normal(x, loc, scale):
    return normal(np.log(x), loc, scale) - np.log(x)


def weibull(x, scale, concentration):
    log_ratio = np.log(x / scale)
    return np.log(concentration / scale) + (concentration - 1) * log_ratio - np.exp(concentration * log_ratio)


def beta(x, concentration1, concentration0):
    return (
        xlogy(concentration1 - 1, x)
        + xlog1py(concentration0 - 1, -x)
        - betaln(concentration1, concentration0)
    )


def uniform(x, low, high):
    return np.broadcast_arrays(-np.log(high - low), x)[0]


def truncated_normal(x, loc, scale, low=-np.inf, high=np.inf):
    below, above = (low - loc) / scale, (high - loc) / scale
    # In the tail where both ends are on one side, the mass is taken from that side.
    is_right = below > 0
    a, b = np.where(is_right, -above, below), np.where(is_right, -below, above)
    with np.errstate(divide="ignore"):
        mass = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
    return normal(x, loc, scale) - mass


def dirichlet(x, concentration):
    a = np.asarray(concentration)
    return xlogy(a - 1, x).sum(-1) + gammaln(a.sum(-1)) - gammaln(a).sum(-1)


def multivariate_normal(x, loc, scale_tril):
    factor = np.asarray(scale_tril)
    z = np.linalg.solve(factor, (x - loc)[..., None])[..., 0]
    return normal(z).sum(-1) - np.log(np.diagonal(factor)).sum()


def poisson(x, rate):
    return xlogy(x, rate) - rate - gammaln(x + 1)


def bernoulli_logits(x, logits):
    return -np.logaddexp(0, np.where(x == 1, -logits, logits))


def binomial_logits(x, logits, total_count):
    log_choose = gammaln(total_count + 1) - gammaln(x + 1) - gammaln(total_count - x + 1)
    return log_choose - x * np.logaddexp(0, -logits) - (total_count - x) * np.logaddexp(0, logits)


def categorical(x, probs):
    probs = np.broadcast_to(probs, (*np.shape(x), np.shape(probs)[-1]))
    chosen = np.take_along_axis(probs, np.asarray(x)[..., None], -1)[..., 0]
    return np.log(chosen / probs.sum(-1))


def gamma_poisson(x, concentration, rate):
    log_choose = gammaln(x + concentration) - gammaln(concentration) - gammaln(x + 1)
    return log_choose + concentration * np.log(rate / (1 + rate)) - x * np.log1p(rate)


def zero_inflated_poisson(x, gate, rate):
    inflated = np.log(gate + (1 - gate) * np.exp(-rate))
    return np.where(x == 0, inflated, np.log1p(-gate) + poisson(x, rate))


@dataclass(frozen=True)
class Law:
    """A family: its log density at `(x, **parameters)`, the map of its free numbers, and the length of its vectors."""

    log_density: Callable[..., Any]
    map: str
    length: int | None = None


LAWS = {
    "Normal": Law(normal, "real"),
    "StudentT": Law(student_t, "real"),
    "Cauchy": Law(cauchy, "real"),
    "Laplace": Law(laplace, "real"),
    "Logistic": Law(logistic, "real"),
    "Gumbel": Law(gumbel, "real"),
    "HalfNormal": Law(half_normal, "positive"),
    "HalfCauchy": Law(half_cauchy, "positive"),
    "Exponential": Law(exponential, "positive"),
    "Gamma": Law(gamma, "positive"),
    "InverseGamma": Law(inverse_gamma, "positive"),
    "LogNormal": Law(log_normal, "positive"),
    "Weibull": Law(weibull, "positive"),
    "Beta": Law(beta, "interval"),
    "Uniform": Law(uniform, "interval"),
    "TruncatedNormal": Law(truncated_normal, "interval"),
    "Dirichlet": Law(dirichlet, "simplex", 3),
    "MultivariateNormal": Law(multivariate_normal, "real", 2),
    "Poisson": Law(poisson, "discrete"),
    "BernoulliLogits": Law(bernoulli_logits, "discrete"),
    "BinomialLogits": Law(binomial_logits, "discrete"),
    "Categorical": Law(categorical, "discrete"),
    "GammaPoisson": Law(gamma_poisson, "discrete"),
    "ZeroInflatedPoisson": Law(zero_inflated_poisson, "discrete"),
}


def mapped(kind: str, x: Any, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """The value of free numbers, and the log determinant of the Jacobian, one for each entry of the batch."""
    if kind == "positive":
        return np.exp(x), x
    if kind == "interval":
        low, high = parameters.get("low"), parameters.get("high")
        if "concentration1" in parameters:
            low, high = 0.0, 1.0
        if high is None:
            return low + np.exp(x), x
        if low is None:
            return high - np.exp(x), x
        share = 1 / (1 + np.exp(-x))
        return low + (high - low) * share, np.log(high - low) - np.logaddexp(0, -x) - np.logaddexp(0, x)
    if kind == "simplex":
        return _simplex(x)
    return x, None


def _simplex(x: Any) -> tuple[Any, Any]:
    """Stan's stick-breaking: each number breaks a share off what is left, offset so that zeros give equal parts."""
    left, log_det, parts = np.ones(x.shape[:-1]), np.zeros(x.shape[:-1]), []
    for k in range(x.shape[-1]):
        share = 1 / (1 + np.exp(-(x[..., k] - np.log(x.shape[-1] - k))))
        parts.append(left * share)
        log_det = log_det + np.log(left * share * (1 - share))
        left = left * (1 - share)
    return np.stack([*parts, left], -1), log_det
