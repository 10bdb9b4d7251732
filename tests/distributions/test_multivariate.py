"""Test vectors and matrices: normalising constants, marginals, extreme parameters, and what must not be built."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases_multivariate import CORRELATION, CORRELATION_FACTOR, FACTOR, GRAPH, LOADINGS, RING, SCALE, UNEVEN
from laws import assert_close, assert_finite, compiled, each, once_more_in_doubt
from mpmath import mp
from scipy import sparse, stats

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions.multivariate.normal.copula import ndtri_exp


@pytest.mark.parametrize("concentration", [0.75, 2.5])
def test_the_density_of_correlations_integrates_to_one(concentration: float) -> None:
    # r = sin(angle) takes the root singularity at the ends away; the third correlation runs over what the others leave.
    nodes, weights = np.polynomial.legendre.leggauss(60)
    angle, weight = nodes * np.pi / 2, weights * np.pi / 2
    r, jacobian = np.sin(angle), np.cos(angle)
    pairs = np.broadcast_to(np.eye(2), (60, 2, 2)).copy()
    pairs[:, 0, 1] = pairs[:, 1, 0] = r
    a, b, c = (part.ravel() for part in np.meshgrid(r, r, r, indexing="ij"))
    cosines = np.sqrt((1 - a**2) * (1 - b**2))
    triples = np.broadcast_to(np.eye(3), (a.size, 3, 3)).copy()
    for (i, j), value in {(0, 1): a, (0, 2): b, (1, 2): a * b + c * cosines}.items():
        triples[:, i, j] = triples[:, j, i] = value
    volume = np.prod(np.meshgrid(*[weight * jacobian] * 3, indexing="ij"), axis=0).ravel() * cosines
    two, three = compiled(
        lambda x, y: (
            jnp.exp(dist.LKJ(2, concentration).log_prob(x)),
            jnp.exp(dist.LKJ(3, concentration).log_prob(y)),
        )
    )(pairs, triples)
    assert_close(np.sum(two * weight * jacobian), np.float64(1.0), rtol=1e-4)
    assert_close(np.sum(three * volume), np.float64(1.0), rtol=1e-4)


@pytest.mark.parametrize("method", ["onion", "cvine"])
@once_more_in_doubt(1, 2)
def test_each_correlation_is_a_stretched_beta_variable(method: Any, seed: int) -> None:
    # Six Kolmogorov-Smirnov tests at a false-alarm rate of 1e-4 each, twice in doubt; the keys are fixed.
    d = dist.LKJ(4, 0.7, method)
    draws = np.asarray(compiled(lambda key: d.sample(key, (4000,)))(jax.random.key(seed)))
    for i, j in zip(*np.tril_indices(4, -1), strict=True):
        assert stats.kstest(draws[:, i, j], stats.beta(1.7, 1.7, -1, 2).cdf).pvalue > 1e-4


def log_multigamma(size: int, a: Any) -> Any:
    return sum(mp.loggamma(a - mp.mpf(i) / 2) for i in range(size)) + size * (size - 1) / mp.mpf(4) * mp.log(
        mp.pi
    )


def wishart_reference(df: float, x: np.ndarray, is_inverse: bool) -> float:
    """The textbook formula with scale matrix `SCALE` (times df^2 for the inverse), in 60 digits."""
    with mp.workdps(60):
        factor, nu, size = mp.matrix(FACTOR.tolist()), mp.mpf(df), 3
        value, scale = mp.matrix(x.tolist()), factor * factor.T
        if is_inverse:
            scale = scale * nu**2
        ratio = scale * mp.inverse(value) if is_inverse else mp.inverse(scale) * value
        sign = 1 if is_inverse else -1
        power = -(nu + size + 1) / 2 if is_inverse else (nu - size - 1) / 2
        trace = ratio[0, 0] + ratio[1, 1] + ratio[2, 2]
        by_value = power * mp.log(mp.det(value)) - trace / 2
        constant = nu * size / 2 * mp.log(2) + log_multigamma(size, nu / 2)
        return float(by_value - constant + sign * nu / 2 * mp.log(mp.det(scale)))


@pytest.mark.parametrize("df", [2.5, 1e3, 1e6, 1e10])
def test_nothing_large_cancels_in_wishart_densities(df: float) -> None:
    x = df * SCALE + np.sqrt(df) * np.diag([0.1, 0.2, 0.3])

    @compiled
    def both(df: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        inverse = dist.InverseWishart(df, scale_tril=df * FACTOR)
        return dist.Wishart(df, scale_tril=FACTOR).log_prob(x), inverse.log_prob(x)

    expected = wishart_reference(df, x, False), wishart_reference(df, x, True)
    # The value itself is rounded: its density changes by about eps * sqrt(df).
    assert_close(np.asarray(both(df, x)), np.asarray(expected), rtol=1e-12, atol=1e-15 * np.sqrt(df))


def test_summaries_of_dirichlet_and_lkj_are_exact_at_extreme_concentrations() -> None:
    def entropy(a: list[float]) -> float:
        with mp.workdps(60):
            parts = [mp.mpf(part) for part in a]
            total = sum(parts)
            log_beta = sum(mp.loggamma(part) for part in parts) - mp.loggamma(total)
            by_part = sum((part - 1) * mp.digamma(part) for part in parts)
            return float(log_beta + (total - len(parts)) * mp.digamma(total) - by_part)

    def log_normalizer(size: int, eta: float) -> float:
        with mp.workdps(60):
            top = mp.mpf(eta) + mp.mpf(size - 1) / 2
            terms = (
                mp.mpf(k - 1) / 2 * mp.log(mp.pi) + mp.loggamma(eta + mp.mpf(size - k) / 2) - mp.loggamma(top)
                for k in range(2, size + 1)
            )
            return float(sum(terms))

    for concentration in ([1e6, 2e6, 3e5], [1e-6, 1e-6], [1e-3, 1.0, 1e6], [7.0, 12.0]):
        found = dist.Dirichlet(np.array(concentration)).entropy()
        assert_close(found, np.asarray(entropy(concentration)), rtol=1e-12, atol=1e-12)
    eta = np.array([1e-6, 0.5, 1.0, 20.0, 1e6])
    expected = np.array([-log_normalizer(5, value) for value in eta])
    assert_close(compiled(dist.LKJCholesky(5, eta).log_prob)(np.eye(5)), expected, rtol=1e-12)


def test_a_low_rank_normal_is_exact_where_its_parts_differ_by_a_factor_of_a_million() -> None:
    rng = np.random.default_rng(0)
    loadings, variance = 1e3 * LOADINGS, 1e-6 * np.array([0.5, 1.0, 2.0])
    x = loadings @ rng.normal(size=2) + np.sqrt(variance) * rng.normal(size=3)
    with mp.workdps(60):
        matrix, value = mp.matrix(loadings.tolist()), mp.matrix(x.tolist())
        covariance = matrix * matrix.T + mp.diag([mp.mpf(v) for v in variance.tolist()])
        quadratic = (value.T * mp.lu_solve(covariance, value))[0]
        expected = float(-(quadratic + mp.log(mp.det(covariance)) + 3 * mp.log(2 * mp.pi)) / 2)
    found = compiled(dist.LowRankMultivariateNormal(0.0, loadings, variance).log_prob)(x)
    # The value is rounded by 1e-16 of 1e3, that is by 1e-10 of the smaller deviations.
    assert_close(found, np.asarray(expected), rtol=1e-10)


def shapes_in(jaxpr: Any) -> set[tuple[int, ...]]:
    """The shapes of all arrays in a program."""
    found = {tuple(v.aval.shape) for equation in jaxpr.eqns for v in equation.outvars}
    for equation in jaxpr.eqns:
        for inner in jax.tree.leaves(
            equation.params, is_leaf=lambda leaf: hasattr(leaf, "eqns") or hasattr(leaf, "jaxpr")
        ):
            if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                found |= shapes_in(getattr(inner, "jaxpr", inner))
    return found


ring = sparse.csr_array(np.eye(50)[:, np.roll(np.arange(50), 1)] + np.eye(50)[:, np.roll(np.arange(50), -1)])
LARGE = {
    "CAR, sparse": lambda: dist.CAR(0.0, 0.9, 1.0, ring, is_sparse=True),
    "LowRankMultivariateNormal": lambda: dist.LowRankMultivariateNormal(0.0, np.ones((50, 2)), np.ones(50)),
}


@each(LARGE)
def test_no_matrix_as_large_as_the_covariance_is_built(d: dist.AbstractDistribution) -> None:
    program = jax.make_jaxpr(jax.value_and_grad(d.log_prob))(jnp.ones(50))
    assert not any(shape[-2:] == (50, 50) for shape in shapes_in(program.jaxpr))


def test_a_graph_gives_one_density_dense_sparse_or_traced_also_near_a_correlation_of_one() -> None:
    x = 1e3 + np.arange(5.0)
    correlation = 1 - 1e-10

    def log_prob(adjacency: Any, is_sparse: bool = False) -> Any:
        return jax.value_and_grad(
            lambda c: dist.CAR(0.0, c, 2.0, adjacency, is_sparse=is_sparse).log_prob(x)
        )(correlation)

    with mp.workdps(60):
        graph = mp.matrix(GRAPH.tolist())
        precision = 2 * (mp.diag([sum(graph[i, :]) for i in range(5)]) - mp.mpf(correlation) * graph)
        value = mp.matrix(x.tolist())
        expected = float(
            (mp.log(mp.det(precision)) - (value.T * precision * value)[0] - 5 * mp.log(2 * mp.pi)) / 2
        )
    dense, by_edges, from_array = (
        log_prob(GRAPH),
        log_prob(sparse.csr_array(GRAPH), True),
        log_prob(GRAPH, True),
    )
    assert_close(dense[0], np.asarray(expected), rtol=1e-12)
    assert_close((by_edges, from_array), (dense, dense), rtol=1e-10)
    traced = compiled(log_prob)(GRAPH)
    assert_close(traced, dense, rtol=1e-4)


def test_normal_scores_are_exact_far_beyond_the_smallest_probability() -> None:
    scores = np.array([-1e-3, -0.5, -3.0, -9.0, -9.9, -10.1, -38.0, -200.0, -1e5])
    with mp.workdps(60):
        log_q = [mp.log(mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2) for z in scores.tolist()]
        slopes = [
            float(mp.exp(y + mp.mpf(z) ** 2 / 2) * mp.sqrt(2 * mp.pi))
            for y, z in zip(log_q, scores.tolist(), strict=True)
        ]
    log_q = np.array([float(y) for y in log_q])
    found, found_slopes = jax.vmap(jax.value_and_grad(ndtri_exp))(log_q)
    assert_close(found, scores, rtol=1e-12, atol=1e-15)
    assert_close(found_slopes, np.array(slopes), rtol=1e-10)


def test_a_copula_of_normals_is_the_multivariate_normal_far_in_the_tails() -> None:
    loc, x = np.arange(3.0), np.array([60.0, -50.0, 10.0])

    def by_copula(loc: Any, x: Any) -> Any:
        return dist.GaussianCopula(dist.Normal(loc, 2.0), CORRELATION).log_prob(x)

    def directly(loc: Any, x: Any) -> Any:
        return dist.MultivariateNormal(loc, 4 * CORRELATION).log_prob(x)

    found, expected = (compiled(jax.value_and_grad(f, (0, 1)))(loc, x) for f in (by_copula, directly))
    assert_close(found, expected, rtol=1e-9)


def test_shares_drawn_at_tiny_concentrations_are_never_zero_in_single_precision() -> None:
    with jax.enable_x64(False):
        d = dist.Dirichlet(np.full(4, 1e-3, np.float32))
        draws = d.sample(jax.random.key(0), (1000,))
        assert draws.min() > 0
        assert_finite(d.log_prob(draws))


def test_student_vectors_are_normal_at_many_degrees_of_freedom_and_finite_far_away() -> None:
    x = np.array([0.3, -1.0, 2.0])
    normal = dist.MultivariateNormal(0.0, scale_tril=UNEVEN).log_prob(x * 1e-6)
    assert_close(dist.MultivariateStudentT(1e15, 0.0, UNEVEN).log_prob(x * 1e-6), normal, rtol=1e-12)
    value, slope = jax.value_and_grad(dist.MultivariateStudentT(2.0, 0.0, FACTOR).log_prob)(
        1e200 * np.ones(3)
    )
    assert_close(value, np.asarray(-2307.3535100611757), rtol=1e-10)
    assert_close(slope @ (1e200 * jnp.ones(3)), np.asarray(-5.0), rtol=1e-10)


SECOND = {
    "MultivariateStudentT": lambda s, x: dist.MultivariateStudentT(s, 0.0, s * FACTOR).log_prob(x[0]),
    "LowRankMultivariateNormal": lambda s, x: dist.LowRankMultivariateNormal(
        0.0, s * LOADINGS, s * jnp.ones(3)
    ).log_prob(x[0]),
    "LKJ": lambda s, x: dist.LKJ(3, s).log_prob(CORRELATION + 0 * x),
    "Wishart": lambda s, x: dist.Wishart(s + 3, scale_matrix=SCALE * s).log_prob(x),
    "InverseWishart": lambda s, x: dist.InverseWishart(s + 3, rate_matrix=SCALE * s).log_prob(x),
    "CAR": lambda s, x: dist.CAR(0.0, 0.3 * s, s, GRAPH[:3, :3]).log_prob(x[0]),
}


@each({"all": SECOND})
def test_second_derivatives_are_finite(functions: dict) -> None:
    x = 2.0 * SCALE
    found = compiled(
        lambda s, x: [jax.hessian(f, (0, 1))(s, x) for f in functions.values()],
    )(1.5, x)
    assert_finite(found)


REFUSED = {
    "Wishart with too few degrees": (lambda: dist.Wishart(2.0, SCALE), ["Wishart", "2.0", "above 2"]),
    "Wishart of a vector": (lambda: dist.Wishart(5.0, np.ones(3)), ["Wishart", "(3,)", "(..., n, n)"]),
    "Wishart without a matrix": (lambda: dist.Wishart(5.0), ["Wishart", "exactly one"]),
    "LKJ of one row": (lambda: dist.LKJ(1, 1.0), ["LKJ", "dimension", "1"]),
    "LKJ method": (lambda: dist.LKJ(3, 1.0, "vine"), ["'vine'", "cvine"]),  # pyright: ignore[reportArgumentType]
    "zero sum of nothing": (lambda: dist.ZeroSumNormal(1.0), ["ZeroSumNormal", "event_shape", "()"]),
    "zero sum of one": (lambda: dist.ZeroSumNormal(1.0, (1,)), ["ZeroSumNormal", "(1,)"]),
    "Student's t of unknown length": (lambda: dist.MultivariateStudentT(3.0), ["loc", "scale_tril"]),
    "low rank of other rows": (
        lambda: dist.LowRankMultivariateNormal(np.zeros(2), LOADINGS, np.ones(3)),
        ["(2,)", "(3, 2)"],
    ),
    "matrix of other sides": (
        lambda: dist.MatrixNormal(np.zeros((3, 2)), np.eye(2), FACTOR),
        ["(3, 2)", "(2, 2)", "(3, 3)"],
    ),
    "transform of another length": (
        lambda: dist.CirculantNormal(np.zeros(5), covariance_rfft=np.ones(4)),
        ["(5,)", "(4,)"],
    ),
    "row that is no covariance": (
        lambda: dist.CirculantNormal(0.0, np.array([1.0, 2.0, 2.0])),
        ["covariance_row"],
    ),
    "row and transform": (lambda: dist.CirculantNormal(0.0, RING, np.ones(3)), ["exactly one"]),
    "sparse graph unannounced": (
        lambda: dist.CAR(0.0, 0.5, 1.0, sparse.csr_array(GRAPH)),
        ["adj_matrix", "is_sparse=True"],
    ),
    "one-way graph": (lambda: dist.CAR(0.0, 0.5, 1.0, np.triu(GRAPH)), ["not symmetric"]),
    "one-way sparse graph": (
        lambda: dist.CAR(0.0, 0.5, 1.0, sparse.csr_array(np.triu(GRAPH)), is_sparse=True),
        ["not symmetric"],
    ),
    "lonely node": (lambda: dist.CAR(0.0, 0.5, 1.0, np.zeros((2, 2))), ["without neighbours"]),
    "negative weight": (lambda: dist.CAR(0.0, 0.5, 1.0, -GRAPH), ["negative"]),
    "copula of counts": (
        lambda: dist.GaussianCopula(dist.Poisson(np.ones(3)), CORRELATION),
        ["Poisson", "discrete"],
    ),
    "copula of other length": (
        lambda: dist.GaussianCopulaBeta(np.ones(2), 1.0, correlation_cholesky=CORRELATION_FACTOR),
        ["(2,)", "(3, 3)"],
    ),
    "copula of a covariance": (
        lambda: dist.GaussianCopula(dist.Normal(), SCALE),
        ["correlation_matrix", "ones"],
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: Any, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
