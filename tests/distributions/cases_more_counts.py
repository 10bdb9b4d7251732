"""List further families of counts, order statistics and matrices that every law is tested for."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

CHANCES = np.array([0.02, 0.3, 0.5, 0.9, 0.35])
COVARIANCE: Any = np.array([[1.0, 0.4], [0.4, 0.8]])
WEIGHTS = np.array([0.2, 0.5, 0.3])


def _table(probs: Any, values: Any = None) -> Any:
    """SciPy's distribution over whole numbers with given probabilities."""
    return stats.rv_discrete(values=(np.arange(len(probs)) if values is None else values, np.asarray(probs)))


DISCRETE = {
    "Skellam": Case(
        lambda: dist.Skellam(2.5, 1.5),
        lambda: stats.skellam(2.5, 1.5),
        lambda: dist.Skellam(np.array([1e-30, 1e-6, 1.0, 1e6]), np.array([[1e-6], [1e6]])),
    ),
    "Hypergeometric": Case(
        lambda: dist.Hypergeometric(8, 12, 9),
        lambda: stats.hypergeom(20, 8, 9),
        lambda: dist.Hypergeometric(np.array([0, 1, 10**4, 10**6]), np.array([[0], [10**8]]), 0),
    ),
    "NoncentralHypergeometric": Case(
        lambda: dist.NoncentralHypergeometric(8, 5, 9, 2.5),
        lambda: stats.nchypergeom_fisher(13, 8, 9, 2.5),
        lambda: dist.NoncentralHypergeometric(30, 10**6, 200, np.array([1e-6, 1.0, 1e6])),
    ),
    "PoissonBinomial": Case(
        lambda: dist.PoissonBinomial(CHANCES),
        lambda: _table(functools.reduce(np.convolve, [[1 - p, p] for p in CHANCES])),
        lambda: dist.PoissonBinomial(np.array([[0.0, 1.0, 1e-30], [1e-6, 1e-6, 0.5], [1.0, 1.0, 1.0]])),
    ),
    "DiscreteNonParametric": Case(
        lambda: dist.DiscreteNonParametric(np.array([1, 2, 7]), WEIGHTS),
        lambda: _table(WEIGHTS, [1, 2, 7]),
        lambda: dist.DiscreteNonParametric(
            np.array([-3, 0, 9]), np.array([[0.0, 1.0, 0.0], [1e-30, 0.0, 1.0]])
        ),
    ),
}


class Density(NamedTuple):
    """A distribution of which SciPy has the parts."""

    logpdf: Callable[[Any], Any]


def log_multigamma_ratio(df1: float, df2: float, size: int) -> float:
    half = (0.5 * df1, 0.5 * df2, 0.5 * (df1 + df2))
    first, second, both = (sum(math.lgamma(a - 0.5 * j) for j in range(size)) for a in half)
    return both - first - second - 0.25 * size * (size - 1) * math.log(math.pi)


def matrix_beta(x: Any, df1: float, df2: float) -> Any:
    size = len(x)
    powers = (df1 - size - 1) * np.linalg.slogdet(x)[1] + (df2 - size - 1) * np.linalg.slogdet(
        np.eye(size) - x
    )[1]
    return 0.5 * powers + log_multigamma_ratio(df1, df2, size)


def matrix_f(x: Any, df1: float, df2: float, scale: Any) -> Any:
    size, ratio = len(x), np.linalg.solve(scale, x)
    powers = (df1 - size - 1) * np.linalg.slogdet(x)[1] - df1 * np.linalg.slogdet(scale)[1]
    powers = powers - (df1 + df2) * np.linalg.slogdet(np.eye(size) + ratio)[1]
    return 0.5 * powers + log_multigamma_ratio(df1, df2, size)


class Median(NamedTuple):
    """The order statistic of draws from a standard normal distribution, through SciPy's beta distribution."""

    total: int
    rank: int

    def logpdf(self, x: Any) -> Any:
        return self.beta.logpdf(stats.norm.cdf(x)) + stats.norm.logpdf(x)

    def ppf(self, q: Any) -> Any:
        return stats.norm.ppf(self.beta.ppf(q))

    @property
    def beta(self) -> Any:
        return stats.beta(self.rank, self.total - self.rank + 1)


UNIVARIATE = {
    "Erlang": Case(lambda: dist.Erlang(3, 2.0), lambda: stats.erlang(3, scale=0.5)),
    "OrderStatistic": Case(
        lambda: dist.OrderStatistic(dist.Normal(0.0, 1.0), 9, 3),
        lambda: Median(9, 3),
        lambda: dist.OrderStatistic(dist.Exponential(2.0), np.array([[1], [10**6]]), np.array([1, 1])),
    ),
    "PolyaGamma": Case(
        lambda: dist.PolyaGamma(1.5, 2.0),
        extremes=lambda: dist.PolyaGamma(np.array([1e-2, 1.0, 1e6]), np.array([[0.0], [-1e3], [1e6]])),
    ),
}

MULTIVARIATE = {
    "JointOrderStatistics": Case(
        lambda: dist.JointOrderStatistics(dist.Normal(0.5, 2.0), 9, (1, 4, 5, 8)),
        extremes=lambda: dist.JointOrderStatistics(
            dist.Normal(0.0, np.array([1e-6, 1e6])), 1000, (1, 500, 1000)
        ),
    ),
    "JointOrderStatistics, all": Case(lambda: dist.JointOrderStatistics(dist.Exponential(2.0), 3)),
    "LogisticNormal": Case(
        lambda: dist.LogisticNormal(np.array([0.3, -1.0]), COVARIANCE),
        lambda: Density(
            lambda x: (
                stats.multivariate_normal([0.3, -1.0], COVARIANCE).logpdf(np.log(x[:2] / x[2]))
                - np.log(x).sum()
            )
        ),
        extremes=lambda: dist.LogisticNormal(0.0, scale_tril=np.diag([1e-6, 30.0])),
    ),
    "MatrixBeta": Case(
        lambda: dist.MatrixBeta(2, 4.5, 3.0),
        lambda: Density(lambda x: matrix_beta(x, 4.5, 3.0)),
        extremes=lambda: dist.MatrixBeta(3, np.array([2.1, 30.0, 1e3]), np.array([[2.1], [1e3]])),
    ),
    "MatrixFDist": Case(
        lambda: dist.MatrixFDist(4.5, 14.0, COVARIANCE),
        lambda: Density(lambda x: matrix_f(x, 4.5, 14.0, COVARIANCE)),
        extremes=lambda: dist.MatrixFDist(np.array([1.1, 1e3]), np.array([[1.5], [1e3]]), COVARIANCE),
    ),
}

BATCHED = {
    "Hypergeometric, batch": Case(lambda: dist.Hypergeometric(np.array([8, 3]), 12, np.array([[9], [14]]))),
    "NoncentralHypergeometric, batch": Case(
        lambda: dist.NoncentralHypergeometric(8, 12, 9, np.array([[0.3, 1.0], [4.0, 9.0]]))
    ),
    "PolyaGamma, batch": Case(lambda: dist.PolyaGamma(np.array([1, 4]), np.array([[0.0], [2.5]]))),
    "OrderStatistic, batch": Case(
        lambda: dist.OrderStatistic(dist.Gamma(np.array([2.0, 3.0]), 1.0), 5, np.array([[1], [5]]))
    ),
    "JointOrderStatistics, batch": Case(
        lambda: dist.JointOrderStatistics(dist.Uniform(np.array([-1.0, 0.0]), 2.0), 6, (2, 5))
    ),
    "LogisticNormal, batch": Case(
        lambda: dist.LogisticNormal(np.zeros((2, 1, 2)), scale_tril=np.stack([np.eye(2), 2 * np.eye(2)]))
    ),
    "MatrixBeta, batch": Case(lambda: dist.MatrixBeta(2, np.array([3.0, 9.0]), np.array([[4.0], [6.0]]))),
    "MatrixFDist, batch": Case(
        lambda: dist.MatrixFDist(np.array([[4.0], [6.0]]), 15.0, COVARIANCE * np.ones((2, 1, 1)))
    ),
    "PoissonBinomial, batch": Case(lambda: dist.PoissonBinomial(np.stack([CHANCES, CHANCES**3]))),
    "DiscreteNonParametric, batch": Case(
        lambda: dist.DiscreteNonParametric(np.array([-1, 2, 7]), np.stack([WEIGHTS, WEIGHTS[::-1]]))
    ),
    "Skellam, batch": Case(lambda: dist.Skellam(np.array([2.0, 300.0]), np.array([[4.0], [70.0]]))),
}

OUTSIDE: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "Skellam": (dist.Skellam, (2.5, 1.5), 0.5),
    "Hypergeometric": (lambda b: dist.Hypergeometric(8, b, 5), (3.0,), 1),
    "NoncentralHypergeometric": (lambda w: dist.NoncentralHypergeometric(8, 3, 5, w), (2.0,), 1),
    "PolyaGamma": (dist.PolyaGamma, (1.5, 0.5), -0.1),
    "OrderStatistic": (lambda r: dist.OrderStatistic(dist.Exponential(r), 5, 2), (1.5,), -0.1),
    "JointOrderStatistics": (
        lambda m: dist.JointOrderStatistics(dist.Normal(m, 1.0), 5, (2, 4)),
        (1.5,),
        np.array([1.0, 0.5]),
    ),
    "LogisticNormal": (
        lambda m: dist.LogisticNormal(m, COVARIANCE),
        (np.zeros(2),),
        np.array([0.0, 0.5, 0.5]),
    ),
    "MatrixBeta": (lambda a, b: dist.MatrixBeta(2, a, b), (3.0, 4.0), np.array([[1.2, 0.0], [0.0, 0.3]])),
    "MatrixFDist": (dist.MatrixFDist, (3.0, 4.0, COVARIANCE), -np.eye(2)),
    "PoissonBinomial": (dist.PoissonBinomial, (CHANCES,), 6),
    "PoissonBinomial, impossible": (dist.PoissonBinomial, (np.array([0.0, 0.4]),), 2),
    "DiscreteNonParametric": (
        lambda p: dist.DiscreteNonParametric(np.array([1, 3]), p),
        (np.array([0.0, 1.0]),),
        2,
    ),
    "DiscreteNonParametric, impossible": (
        lambda p: dist.DiscreteNonParametric(np.array([1, 3]), p),
        (np.array([0.0, 1.0]),),
        1,
    ),
}
