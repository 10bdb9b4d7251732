"""Test the laws of distributions as values: shapes, draws, transformations, threads, copies, supports."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, each
from scipy import stats
from table import ALL, BATCHED, DISCRETE, MULTIVARIATE, UNIVARIATE, Case, draws_of

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions import constraints

# A certain outcome leaves the rest of the support without probability.
UNCERTAIN = {name: case for name, case in ALL.items() if name != "Binomial, certain"}


@each(UNCERTAIN)
def test_draws_have_the_announced_shape_and_lie_in_the_support(case: Case) -> None:
    d = case.make()
    draws = draws_of(case, 6).reshape(2, 3, *d.batch_shape, *d.event_shape)
    batch = (2, 3, *d.batch_shape)

    @jax.jit
    def facts(draws: jax.Array) -> tuple:
        feasible = d.support.feasible_like(draws)
        return d.support(draws), d.log_prob(draws), feasible, d.support(feasible), d.log_prob(feasible)

    inside, log_prob, feasible, feasible_inside, feasible_log_prob = facts(draws)
    assert inside.shape == log_prob.shape == feasible_log_prob.shape == batch
    assert inside.all()
    assert_finite(log_prob)
    assert len(d.event_shape) == d.event_dim >= d.support.event_dim
    assert jnp.issubdtype(draws.dtype, jnp.integer) == d.is_discrete == d.support.is_discrete
    # A value that stands in for a masked one must not itself make the density infinite.
    assert feasible.shape == draws.shape
    assert feasible_inside.all()
    assert_finite(feasible_log_prob)


@each({name: case for name, case in ALL.items() if name not in DISCRETE})
def test_the_bijector_of_the_support_covers_it(case: Case) -> None:
    d = case.make()
    if d.is_discrete:
        with pytest.raises(DistributionError, match="discrete"):
            dist.biject_to(d.support)
        return
    bijector = dist.biject_to(d.support)
    draws = draws_of(case, 6)
    x = jax.jit(bijector.inverse)(draws)
    assert x.shape == bijector.inverse_shape(draws.shape)
    y, log_det = jax.jit(bijector.forward_and_log_det)(x)
    assert_close(y, draws, rtol=1e-7, atol=1e-9)
    assert log_det.shape == draws.shape[: draws.ndim - d.support.event_dim]
    anywhere = 3 * np.random.default_rng(2).normal(size=x.shape)
    assert jax.jit(lambda x: d.support(bijector.forward(x)))(anywhere).all()


@each(UNIVARIATE)
def test_univariate_draws_follow_the_cdf(case: Case) -> None:
    # Kolmogorov-Smirnov at a false-alarm rate of 1e-4 per distribution; the key is fixed.
    d = case.make()
    u = np.asarray(jax.jit(d.cdf)(draws_of(case, 4000)))
    assert stats.kstest(u, "uniform").pvalue > 1e-4


@each(DISCRETE)
def test_discrete_draws_follow_the_probabilities(case: Case) -> None:
    # Chi-squared at a false-alarm rate of 1e-4 per distribution; the key is fixed.
    d = case.make()
    draws = draws_of(case, 4000)
    k = np.arange(draws.max() + 2)
    expected = 4000 * np.exp(np.asarray(d.log_prob(k)))
    seen = np.bincount(draws, minlength=k.size)
    often = expected >= 5
    cells = (
        np.append(expected[often], 4000 - expected[often].sum()),
        np.append(seen[often], seen[~often].sum()),
    )
    statistic = sum((s - e) ** 2 / e for e, s in zip(*cells, strict=True) if e > 1e-3)
    assert stats.chi2.sf(statistic, max(len(cells[0]) - 1, 1)) > 1e-4


HAVE_MOMENTS = {
    name: case
    for name, case in (MULTIVARIATE | BATCHED).items()
    if "StudentT" not in name and "Cauchy" not in name
}


@each(HAVE_MOMENTS)
def test_draws_have_the_mean_variance_and_entropy_announced(case: Case) -> None:
    # Every element within 4.5 standard errors: a false-alarm rate below 1e-5 each; the key is fixed.
    d, n = case.make(), 4000
    draws = draws_of(case, n).astype(float)
    centred = (draws - np.asarray(d.mean)) ** 2
    assert d.mean.shape == d.variance.shape == d.batch_shape + d.event_shape
    assert (np.abs(draws.mean(0) - d.mean) < 4.5 * draws.std(0) / np.sqrt(n) + 1e-12).all()
    assert (np.abs(centred.mean(0) - d.variance) < 4.5 * centred.std(0) / np.sqrt(n) + 1e-12).all()
    try:
        entropy = d.entropy()
    except DistributionError:
        return
    surprise = -np.asarray(jax.jit(d.log_prob)(draws))
    assert entropy.shape == d.batch_shape
    assert (np.abs(surprise.mean(0) - entropy) <= 4.5 * surprise.std(0) / np.sqrt(n) + 1e-12).all()


@each(ALL)
def test_one_value_serves_every_transformation_twice_and_stays_as_it_was(case: Case) -> None:
    d = case.make()
    leaves = [np.array(leaf) for leaf in jax.tree.leaves(d)]
    copy = pickle.loads(pickle.dumps(d))
    draws = draws_of(case, 6)
    expected = jax.jit(lambda x: d.log_prob(x))(draws)
    floats, rest = eqx.partition(d, lambda leaf: np.issubdtype(np.asarray(leaf).dtype, np.floating))

    def total(floats: Any, draws: Any) -> jax.Array:
        return eqx.combine(floats, rest).log_prob(draws).sum()

    with jax.checking_leaks():
        for _ in range(2):
            # Fresh lambdas, so that everything is traced twice.
            assert_close(jax.jit(d.log_prob)(draws), expected, rtol=1e-10, atol=1e-12)
            assert_close(jax.jit(jax.vmap(lambda x: d.log_prob(x)))(draws), expected, rtol=1e-10, atol=1e-12)
            slopes = jax.jit(jax.grad(lambda f, x: total(f, x)))(floats, draws)
            assert not any(np.isnan(slope).any() for slope in jax.tree.leaves(slopes))
    assert jax.tree.structure(d) == jax.tree.structure(copy)
    for leaf, before, copied in zip(jax.tree.leaves(d), leaves, jax.tree.leaves(copy), strict=True):
        np.testing.assert_array_equal(leaf, before)
        np.testing.assert_array_equal(copied, before)
    assert d == copy
    assert hash(d) == hash(copy)


MODULE_LEVEL = dist.TruncatedNormal(0.0, 1.0, low=np.array([1.0, 0.0]), high=np.array([2.0, np.inf]))


def test_a_truncated_distribution_at_module_level_serves_threads() -> None:
    x = np.array([1.5, 0.5])
    expected = jax.value_and_grad(lambda s: (MODULE_LEVEL.log_prob(x) * s).sum())(1.0)

    def work(number: int) -> tuple:
        @jax.jit
        def scaled(s: jax.Array) -> jax.Array:
            return (MODULE_LEVEL.log_prob(x) * s).sum() + 0.0 * number

        with jax.enable_x64(True), jax.numpy_rank_promotion("raise"):
            return jax.value_and_grad(scaled)(1.0)

    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(work, range(8)):
            assert_close(result, expected)


def test_expanding_gives_independent_draws() -> None:
    draws = dist.Normal(np.zeros((2, 1)), 1).expand((3, 2, 4)).sample(jax.random.key(0), (5,))
    assert len(np.unique(draws)) == draws.size
    loc = np.arange(2.0).reshape(2, 1)
    means = dist.Normal(loc, 1e-9).expand((3, 2, 4)).sample(jax.random.key(0), (5,))
    assert_close(means, np.broadcast_to(loc, (5, 3, 2, 4)), atol=1e-7)


def test_to_event_sums_log_densities_and_moves_axes() -> None:
    d = dist.Normal(np.zeros((2, 3)), 1.0)
    x = d.sample(jax.random.key(0), (4,))
    assert (d.to_event(1).batch_shape, d.to_event(1).event_shape) == ((2,), (3,))
    assert (d.to_event().batch_shape, d.to_event().event_shape) == ((), (2, 3))
    assert_close(d.to_event(1).log_prob(x), d.log_prob(x).sum(-1))
    assert_close(d.to_event().log_prob(x), d.log_prob(x).sum((-1, -2)))
    assert d.to_event(1).support == constraints.independent(constraints.real, 1)
    assert_close(d.to_event(0).log_prob(x), d.log_prob(x))


def test_an_improper_uniform_weighs_its_support_evenly_and_has_no_draws() -> None:
    d = dist.ImproperUniform(constraints.simplex, (2,), (3,))
    inside, outside = np.full((2, 3), 1 / 3), np.ones((2, 3))
    assert_close(d.log_prob(inside), np.zeros(2))
    assert (d.log_prob(outside) == -np.inf).all()
    assert (d.batch_shape, d.event_shape, d.support) == ((2,), (3,), constraints.simplex)
    whole = dist.ImproperUniform(constraints.real, (), (4,))
    assert whole.support == constraints.independent(constraints.real, 1)
    assert_close(whole.log_prob(np.ones((5, 4))), np.zeros(5))
    with pytest.raises(DistributionError, match="no draws"):
        d.sample(jax.random.key(0))


def test_a_support_may_depend_on_a_traced_value() -> None:
    @jax.jit
    def log_joint(x: jax.Array, free: jax.Array) -> jax.Array:
        d = dist.TruncatedNormal(0, 1, low=x)
        y, log_det = dist.biject_to(d.support).forward_and_log_det(free)
        return d.log_prob(y) + log_det

    x, free = 0.5, -0.3
    expected = stats.truncnorm(0.5, np.inf).logpdf(0.5 + np.exp(-0.3)) - 0.3
    assert_close(log_joint(x, free), np.asarray(expected), rtol=1e-10)
    assert_finite(jax.hessian(log_joint, (0, 1))(x, free))


SUPPORTS = {
    "positive": (constraints.positive, [1.0, 0.0, -1.0], [True, False, False]),
    "nonnegative": (constraints.nonnegative, [1.0, 0.0, -1.0], [True, True, False]),
    "unit_interval": (constraints.unit_interval, [0.0, 1.0, 1.1], [True, True, False]),
    "open_interval": (constraints.open_interval(0, 1), [0.0, 0.5, 1.0], [False, True, False]),
    "interval, arrays": (constraints.interval(np.array([0, 1, 2]), 3), [0.0, 0.5, 3.0], [True, False, True]),
    "greater_than": (constraints.greater_than(2), [2.0, 2.5, np.nan], [False, True, False]),
    "greater_than_eq": (constraints.greater_than_eq(2), [2.0, 2.5, 1.0], [True, True, False]),
    "less_than": (constraints.less_than(2), [2.0, 1.5, 3.0], [False, True, False]),
    "real": (constraints.real, [2.0, np.nan, np.inf], [True, False, True]),
    "boolean": (constraints.boolean, [0, 1, 2], [True, True, False]),
    "nonnegative_integer": (constraints.nonnegative_integer, [0.0, 1.5, -1.0], [True, False, False]),
    "positive_integer": (constraints.positive_integer, [0, 1, 7], [False, True, True]),
    "integer_interval": (constraints.integer_interval(1, 3), [0, 3, 4], [False, True, False]),
    "real_vector": (constraints.real_vector, [[1.0, np.nan], [0.0, 2.0]], [False, True]),
    "simplex": (constraints.simplex, [[0.2, 0.8], [0.5, 0.6], [-0.1, 1.1]], [True, False, False]),
    "ordered_vector": (constraints.ordered_vector, [[-1.0, 2.0], [2.0, 2.0]], [True, False]),
    "positive_ordered_vector": (
        constraints.positive_ordered_vector,
        [[-1.0, 2.0], [1.0, 2.0]],
        [False, True],
    ),
    "lower_cholesky": (
        constraints.lower_cholesky,
        [[[1.0, 0.0], [3.0, 2.0]], [[1.0, 1.0], [0.0, 2.0]], [[-1.0, 0.0], [0.0, 2.0]]],
        [True, False, False],
    ),
    "positive_definite": (
        constraints.positive_definite,
        [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [0.0, 2.0]]],
        [True, False, False],
    ),
}


@each(SUPPORTS)
def test_constraints_know_what_they_hold_on_host_and_device(case: tuple) -> None:
    constraint, values, expected = case
    host = constraint(np.asarray(values))
    assert isinstance(host, (np.ndarray, np.generic))
    np.testing.assert_array_equal(host, expected)
    np.testing.assert_array_equal(jax.jit(constraint)(np.asarray(values)), expected)
    assert constraint(constraint.feasible_like(np.asarray(values))).all()
    assert constraint == pickle.loads(pickle.dumps(constraint))
    assert hash(constraint) == hash(pickle.loads(pickle.dumps(constraint)))
    assert np.ndim(np.asarray(values)) - np.ndim(host) == constraint.event_dim


REFUSED = {
    "negative scale": (lambda: dist.Normal(0, -1), ["Normal", "scale", "-1", "above 0"]),
    "zero scale": (lambda: dist.Normal(0, 0.0), ["Normal", "scale", "0.0"]),
    "NaN scale": (lambda: dist.Normal(0, np.nan), ["Normal", "scale", "NaN"]),
    "negative scale in an array": (lambda: dist.HalfNormal(np.array([1.0, -2.0])), ["scale", "-2.0", "(1,)"]),
    "negative scale in a JAX array": (
        lambda: dist.Gamma(jnp.asarray([1.0, -2.0])),
        ["concentration", "-2.0"],
    ),
    "list": (lambda: dist.Normal(0, [1]), ["scale", "list", "NumPy array"]),
    "bounds in the wrong order": (lambda: dist.Uniform(2, 1), ["Uniform", "low=2", "high=1", "order"]),
    "empty truncation": (
        lambda: dist.TruncatedNormal(0, 1, low=np.array([0.0, 1.0]), high=1.0),
        ["TruncatedNormal", "low=1.0", "(1,)"],
    ),
    "scalar concentration": (lambda: dist.Dirichlet(1.0), ["Dirichlet", "concentration", "axis"]),
    "neither probs nor logits": (lambda: dist.Bernoulli(), ["Bernoulli", "none", "exactly one"]),
    "both probs and logits": (
        lambda: dist.Binomial(1, 0.1, 0.2),
        ["Binomial", "probs and logits", "exactly one"],
    ),
    "probability above one": (lambda: dist.Bernoulli(1.5), ["Bernoulli", "probs", "1.5", "between"]),
    "probabilities that do not sum to one": (
        lambda: dist.Categorical(np.array([0.3, 0.3])),
        ["probs", "sum 1"],
    ),
    "fractional count": (lambda: dist.Binomial(2.5, 0.1), ["total_count", "2.5", "whole number"]),
    "not positive definite": (
        lambda: dist.MultivariateNormal(0, covariance_matrix=np.array([[1.0, 2.0], [2.0, 1.0]])),
        ["covariance_matrix", "positive definite"],
    ),
    "two matrices": (
        lambda: dist.MultivariateNormal(0, covariance_matrix=np.eye(2), scale_tril=np.eye(2)),
        ["MultivariateNormal", "exactly one"],
    ),
    "loc of another length": (
        lambda: dist.MultivariateNormal(np.zeros(3), scale_tril=np.eye(2)),
        ["(3,)", "(2, 2)"],
    ),
    "expand to a shape that does not fit": (
        lambda: dist.Normal(np.zeros(3), 1).expand((2,)),
        ["(3,)", "(2,)"],
    ),
    "to_event of axes that are not there": (lambda: dist.Normal(np.zeros(3), 1).to_event(2), ["(3,)", "2"]),
    "mask of numbers": (
        lambda: dist.Normal(0, 1).mask(np.array([0.0, 1.0])),
        ["mask", "float64", "booleans"],
    ),
    "weights without components": (
        lambda: dist.MixtureSameFamily(dist.Categorical(np.array([0.5, 0.5])), dist.Normal(np.zeros(3), 1)),
        ["(3,)", "2 mixing weights"],
    ),
    "components without weights": (
        lambda: dist.MixtureGeneral(dist.Categorical(np.array([1.0])), [dist.Normal(), dist.Normal()]),
        ["2 components", "1 mixing"],
    ),
    "components of other supports": (
        lambda: dist.Mixture(dist.Categorical(np.array([0.5, 0.5])), [dist.Normal(), dist.HalfNormal()]),
        ["supports", "support="],
    ),
    "components of other shapes": (
        lambda: dist.Mixture(
            dist.Categorical(np.array([0.5, 0.5])),
            [dist.Normal(), dist.MultivariateNormal(0, scale_tril=np.eye(2))],
        ),
        ["event shapes"],
    ),
    "improper support without event axes": (
        lambda: dist.ImproperUniform(constraints.simplex, (), ()),
        ["ImproperUniform", "event_shape"],
    ),
    "no map to a discrete set": (lambda: dist.biject_to(constraints.boolean), ["biject_to", "discrete"]),
    "no map to a set": (lambda: dist.biject_to(constraints.positive_definite), ["lower_cholesky"]),
    "no entropy": (lambda: dist.Poisson(3).entropy(), ["Poisson", "entropy"]),
    "no quantiles": (lambda: dist.Gamma(2, 3).icdf(0.5), ["Gamma", "icdf"]),
    "no cdf": (lambda: dist.Dirichlet(np.ones(3)).cdf(np.ones(3)), ["Dirichlet", "cdf"]),
    "no mean": (lambda: dist.ImproperUniform(constraints.real, (), ()).mean, ["ImproperUniform", "mean"]),
    "no variance": (
        lambda: dist.ImproperUniform(constraints.real, (), ()).variance,
        ["ImproperUniform", "variance"],
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: object, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_cached_property_is_refused_when_the_class_is_defined() -> None:
    import functools

    with pytest.raises(DistributionError, match=r"Cached\.total is a functools\.cached_property"):

        class Cached(dist.AbstractDistribution):
            @functools.cached_property
            def total(self) -> float:
                return 1.0


def test_traced_parameters_are_not_looked_at() -> None:
    assert jnp.isnan(jax.jit(lambda s: dist.Normal(0, s).log_prob(1.0))(-1.0))
