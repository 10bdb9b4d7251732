"""List the distributions of vectors and matrices that every law is tested for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats
from table_case import Case

import accord.distributions as dist

FACTOR = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.1, 0.7]])
SCALE = FACTOR @ FACTOR.T
ROWS = np.array([[1.0, 0.0], [0.4, 0.7]])
CORRELATION = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, -0.3], [0.2, -0.3, 1.0]])
CORRELATION_FACTOR = np.linalg.cholesky(CORRELATION)
LOADINGS = np.array([[1.0, 0.5], [-0.4, 2.0], [0.3, 0.0]])
RING = np.array([2.0, 0.8, 0.3, 0.3, 0.8])
# A ring of five nodes with one chord.
GRAPH = np.eye(5)[:, [1, 2, 3, 4, 0]] + np.eye(5)[:, [4, 0, 1, 2, 3]]
GRAPH[1, 3] = GRAPH[3, 1] = 0.5
# Factors whose rows differ in size by a factor of 1e12.
UNEVEN = np.array([1e-6, 1.0, 1e6])[:, None] * CORRELATION_FACTOR


class Density(NamedTuple):
    """A reference made from a log density alone."""

    logpdf: Callable[[Any], Any]


def ring_covariance() -> np.ndarray:
    return np.array([np.roll(RING, i) for i in range(5)])


def graph_covariance(correlation: float) -> np.ndarray:
    return np.linalg.inv(2.0 * (np.diag(GRAPH.sum(0)) - correlation * GRAPH))


def with_factor(reference: Any) -> Density:
    """The density of the Cholesky factor of a matrix, from that of the matrix."""

    def logpdf(factor: np.ndarray) -> Any:
        powers = np.arange(len(factor), 0, -1)
        return (
            reference.logpdf(factor @ factor.T) + (powers * np.log(2 ** (1 / powers) * np.diag(factor))).sum()
        )

    return Density(logpdf)


def wishart_of_factor(df: float) -> Density:
    return with_factor(stats.wishart(df, SCALE))


def inverse_wishart_of_factor(df: float) -> Density:
    return with_factor(stats.invwishart(df, SCALE))


def student(df: float) -> Any:
    return stats.multivariate_t(np.arange(3.0), SCALE, df)


MULTIVARIATE = {
    "MultivariateStudentT": Case(
        lambda: dist.MultivariateStudentT(5.5, np.arange(3.0), FACTOR),
        lambda: student(5.5),
        extremes=lambda: dist.MultivariateStudentT(np.array([1e-6, 1.0, 1e6]), 0.0, UNEVEN),
    ),
    "LowRankMultivariateNormal": Case(
        lambda: dist.LowRankMultivariateNormal(np.arange(3.0), LOADINGS, np.array([0.5, 1.0, 2.0])),
        lambda: stats.multivariate_normal(np.arange(3.0), LOADINGS @ LOADINGS.T + np.diag([0.5, 1.0, 2.0])),
        extremes=lambda: dist.LowRankMultivariateNormal(0.0, 1e6 * LOADINGS, np.array([[1e-6], [1e6]])),
    ),
    "ZeroSumNormal": Case(
        lambda: dist.ZeroSumNormal(1.5, (3,)),
        # Any two of three elements, and the volume sqrt(3) of the map from them.
        lambda: Density(
            lambda x: (
                stats.multivariate_normal(np.zeros(2), 2.25 * (np.eye(2) - 1 / 3)).logpdf(x[:2])
                - 0.5 * np.log(3)
            )
        ),
        extremes=lambda: dist.ZeroSumNormal(np.array([1e-6, 1e6]), (7,)),
    ),
    "LKJCholesky": Case(
        lambda: dist.LKJCholesky(3, 1.7), extremes=lambda: dist.LKJCholesky(4, np.array([1e-6, 1e-2, 1e6]))
    ),
    "LKJ": Case(lambda: dist.LKJ(3, 1.7), extremes=lambda: dist.LKJ(4, np.array([1e-6, 1e-2, 1e6]))),
    "Wishart": Case(
        lambda: dist.Wishart(6.5, scale_matrix=SCALE),
        lambda: stats.wishart(6.5, SCALE),
        extremes=lambda: dist.Wishart(np.array([2.9, 1e6]), scale_tril=FACTOR),
    ),
    "WishartCholesky": Case(
        lambda: dist.WishartCholesky(6.5, rate_matrix=np.linalg.inv(SCALE)),
        lambda: wishart_of_factor(6.5),
        extremes=lambda: dist.WishartCholesky(np.array([2.001, 1e6]), scale_tril=UNEVEN),
    ),
    "InverseWishart": Case(
        lambda: dist.InverseWishart(14.5, scale_matrix=SCALE),
        lambda: stats.invwishart(14.5, SCALE),
        extremes=lambda: dist.InverseWishart(np.array([4.0, 1e6]), scale_tril=FACTOR),
    ),
    "InverseWishartCholesky": Case(
        lambda: dist.InverseWishartCholesky(14.5, scale_tril=FACTOR),
        lambda: inverse_wishart_of_factor(14.5),
        extremes=lambda: dist.InverseWishartCholesky(np.array([2.1, 1e6]), scale_tril=UNEVEN),
    ),
    "MatrixNormal": Case(
        lambda: dist.MatrixNormal(np.arange(6.0).reshape(2, 3), ROWS, FACTOR),
        lambda: stats.matrix_normal(np.arange(6.0).reshape(2, 3), ROWS @ ROWS.T, SCALE),
        extremes=lambda: dist.MatrixNormal(0.0, np.array([1e-6, 1e6])[:, None, None] * ROWS, UNEVEN),
    ),
    "MatrixStudentT": Case(
        lambda: dist.MatrixStudentT(4.5, np.arange(6.0).reshape(2, 3), ROWS, FACTOR),
        lambda: stats.matrix_t(np.arange(6.0).reshape(2, 3), ROWS @ ROWS.T, SCALE, 4.5),
        extremes=lambda: dist.MatrixStudentT(np.array([0.1, 1.0, 1e6]), 0.0, ROWS, UNEVEN),
    ),
    "MultivariateLogNormal": Case(
        lambda: dist.MultivariateLogNormal(np.array([0.0, 0.5, -1.0]), 0.1 * SCALE),
        lambda: Density(
            lambda x: (
                stats.multivariate_normal([0.0, 0.5, -1.0], 0.1 * SCALE).logpdf(np.log(x)) - np.log(x).sum()
            )
        ),
        extremes=lambda: dist.MultivariateLogNormal(0.0, scale_tril=UNEVEN),
    ),
    "CirculantNormal": Case(
        lambda: dist.CirculantNormal(np.arange(5.0), RING),
        lambda: stats.multivariate_normal(np.arange(5.0), ring_covariance()),
        extremes=lambda: dist.CirculantNormal(np.zeros(5), covariance_rfft=np.array([[1e-6, 1.0, 1e6]])),
    ),
    "CAR": Case(
        lambda: dist.CAR(np.arange(5.0), 0.9, 2.0, GRAPH),
        lambda: stats.multivariate_normal(np.arange(5.0), graph_covariance(0.9)),
        extremes=lambda: dist.CAR(0.0, np.array([-0.999, 0.0, 0.999]), np.array([[1e-6], [1e6]]), GRAPH),
    ),
    "GaussianCopula": Case(
        lambda: dist.GaussianCopula(dist.Normal(np.arange(3.0), 2.0), CORRELATION),
        lambda: stats.multivariate_normal(np.arange(3.0), 4 * CORRELATION),
    ),
    "GaussianCopulaBeta": Case(
        lambda: dist.GaussianCopulaBeta(
            np.array([2.0, 3.0, 4.0]), 1.5, correlation_cholesky=CORRELATION_FACTOR
        ),
        extremes=lambda: dist.GaussianCopulaBeta(
            np.array([[1e-3], [1.0], [1e6]]), 1.5, correlation_cholesky=CORRELATION_FACTOR
        ),
    ),
}

BATCHED = {
    "Dirichlet, extreme": Case(
        lambda: dist.Dirichlet(np.array([[0.5, 0.7, 2.0], [200.0, 3e3, 5.0]])),
        extremes=lambda: dist.Dirichlet(np.array([[1e-6, 1e-6, 1e-6], [1e6, 1e6, 1e6], [1e-3, 1.0, 1e3]])),
    ),
    "MultivariateNormal, positional": Case(
        lambda: dist.MultivariateNormal(np.zeros((2, 1, 3)), np.stack([SCALE, 4 * SCALE])),
        extremes=lambda: dist.MultivariateNormal(0.0, scale_tril=np.stack([UNEVEN, 1e6 * UNEVEN])),
    ),
    "LowRankMultivariateNormal, batch": Case(
        lambda: dist.LowRankMultivariateNormal(
            np.zeros((2, 1, 3)), np.stack([LOADINGS, 2 * LOADINGS]), np.ones(3)
        )
    ),
    "MultivariateStudentT, batch": Case(
        lambda: dist.MultivariateStudentT(np.array([[3.0], [30.0]]), np.zeros((2, 3)))
    ),
    "Wishart, batch": Case(
        lambda: dist.Wishart(np.array([5.5, 9.0]), scale_tril=np.stack([FACTOR, 2 * FACTOR])[:, None])
    ),
    "WishartCholesky, batch": Case(lambda: dist.WishartCholesky(np.array([5.5, 9.0]), scale_tril=FACTOR)),
    "InverseWishart, batch": Case(
        lambda: dist.InverseWishart(
            np.array([15.5, 19.0]), scale_tril=np.stack([FACTOR, 2 * FACTOR])[:, None]
        )
    ),
    "InverseWishartCholesky, batch": Case(
        lambda: dist.InverseWishartCholesky(np.array([[15.5], [19.0]]), SCALE)
    ),
    "ZeroSumNormal, batch of two axes": Case(lambda: dist.ZeroSumNormal(np.array([1.0, 3.0]), (3, 4))),
    "LKJCholesky, batch": Case(
        lambda: dist.LKJCholesky(4, np.array([[0.7], [4.0]]), "cvine"),
        extremes=lambda: dist.LKJCholesky(4, np.array([1e-6, 1e-2, 1e6]), "cvine"),
    ),
    "LKJ, batch": Case(lambda: dist.LKJ(2, np.array([[0.7], [4.0]]), "cvine")),
    "CirculantNormal, batch of even length": Case(
        lambda: dist.CirculantNormal(
            np.arange(4.0), covariance_rfft=np.array([[3.0, 1.5, 1.0], [3.0, 0.5, 2.0]])
        )
    ),
    "CAR, batch, sparse": Case(
        lambda: dist.CAR(
            0, np.array([0.3, -0.7]), np.array([[1.0], [2.0]]), sparse.csr_array(GRAPH), is_sparse=True
        )
    ),
    "MatrixNormal, batch": Case(lambda: dist.MatrixNormal(0, np.stack([ROWS, 2 * ROWS]), FACTOR)),
    "GaussianCopula, batch": Case(
        lambda: dist.GaussianCopula(
            dist.Normal(np.zeros((2, 3)), np.array([[1.0], [2.0]])), correlation_cholesky=CORRELATION_FACTOR
        )
    ),
}

OUTSIDE: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "MultivariateLogNormal": (lambda m: dist.MultivariateLogNormal(m, SCALE), (np.zeros(3),), np.arange(3.0)),
    "ZeroSumNormal": (lambda s: dist.ZeroSumNormal(s, (3,)), (1.5,), np.array([1.0, 1.0, 1.0])),
    "LKJCholesky, rows too long": (
        lambda c: dist.LKJCholesky(2, c),
        (1.5,),
        np.array([[1.0, 0.0], [1.0, 1.0]]),
    ),
    "LKJ, not a correlation": (lambda c: dist.LKJ(2, c), (1.5,), np.array([[1.0, 2.0], [2.0, 1.0]])),
    "Wishart, indefinite": (
        lambda n, s: dist.Wishart(n, s),
        (5.0, SCALE),
        np.diag([1.0, -1.0, 1.0]),
    ),
    "Wishart, not symmetric": (lambda n, s: dist.Wishart(n, s), (5.0, SCALE), FACTOR),
    "WishartCholesky, full": (lambda n, s: dist.WishartCholesky(n, s), (5.0, SCALE), SCALE),
    "InverseWishart, singular": (
        lambda n, s: dist.InverseWishart(n, scale_tril=s),
        (5.0, FACTOR),
        np.zeros((3, 3)),
    ),
    "InverseWishartCholesky, negative": (
        lambda n, s: dist.InverseWishartCholesky(n, scale_tril=s),
        (5.0, FACTOR),
        -FACTOR,
    ),
    "GaussianCopulaBeta": (
        lambda a, b: dist.GaussianCopulaBeta(a, b, correlation_cholesky=CORRELATION_FACTOR),
        (np.array([2.0, 3.0, 4.0]), 1.5),
        np.array([0.5, 1.5, 0.5]),
    ),
}
