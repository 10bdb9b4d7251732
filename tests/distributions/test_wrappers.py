"""Test distributions made of distributions where a table cannot say what must hold."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each
from scipy import stats

import accord.distributions as dist
from accord import bijectors
from accord.core.errors import DistributionError
from accord.distributions import constraints

WEIGHTS = np.array([0.2, 0.5, 0.3])


def test_an_interval_is_weighed_by_its_flags() -> None:
    base = dist.Normal(0.0, 1.0)
    left, right = np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 0])
    value = np.array([[-1.0, 0.5]] * 4 + [[0.3, 0.3]])
    below, above = stats.norm.cdf(-1.0), stats.norm.sf(0.5)
    expected = np.log([1 - below - above, 1 - above, 1 - below, below + above, stats.norm.pdf(0.3)])
    assert_close(compiled(dist.IntervalCensoredDistribution(base, left, right).log_prob)(value), expected)


def test_flags_choose_between_density_and_tail() -> None:
    base, flags, value = dist.Normal(0.0, 1.0), np.array([0, 1]), np.array([0.5, 0.5])
    low = np.array([stats.norm.logpdf(0.5), stats.norm.logcdf(0.5)])
    high = np.array([stats.norm.logpdf(0.5), stats.norm.logsf(0.5)])
    assert_close(dist.LeftCensoredDistribution(base, flags).log_prob(value), low)
    assert_close(dist.RightCensoredDistribution(base, flags).log_prob(value), high)


def test_a_censored_distribution_has_a_density_and_two_masses() -> None:
    def log_prob(x: Any, *p: Any) -> jax.Array:
        return dist.Normal(*p[:2]).censor(*p[2:]).log_prob(x)

    found = jax.vmap(lambda x: log_prob(x, 0.2, 1.5, -1.0, 2.0))
    found = compiled(found)(np.array([-1.0, 0.0, 2.0]))
    n = stats.norm(0.2, 1.5)
    assert_close(found, np.array([n.logcdf(-1.0), n.logpdf(0.0), n.logsf(2.0)]))
    derivatives = compiled(jax.grad(log_prob, (0, 1, 2, 3, 4)))
    plain = jax.grad(lambda x, *p: dist.Normal(*p).log_prob(x), (0, 1, 2))(0.5, 0.2, 1.5)
    assert_close(derivatives(0.5, 0.2, 1.5, -np.inf, np.inf), (*plain, jnp.asarray(0.0), jnp.asarray(0.0)))


def test_a_censored_distribution_has_the_moments_of_recorded_values() -> None:
    loc, low, high = np.array([0.5, 0.0, 0.0]), np.array([-1.0, -9.0, 700.0]), np.array([3.0, np.inf, np.inf])
    d = dist.Laplace(loc, 2.0).censor(low, high)
    found = compiled(lambda: (d.mean, d.variance))()
    # The midpoint rule over quantiles.
    u = (np.arange(1_000_000) + 0.5) / 1_000_000
    x = np.stack(
        [np.clip(stats.laplace(at, 2.0).ppf(u), *ends) for at, *ends in zip(loc, low, high, strict=True)]
    )
    assert_close(found, (x.mean(1), x.var(1)), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_censored_count_has_the_sums_over_recorded_values() -> None:
    counts = dist.Poisson(3.5).censor(1, 6)  # of 3.0, two values would be as probable
    k = np.arange(1.0, 7.0)
    p, mean, variance, mode, entropy = compiled(
        lambda: (jnp.exp(counts.log_prob(k)), counts.mean, counts.variance, counts.mode, counts.entropy())
    )()
    p = np.asarray(p)
    assert_close(mean, (p * k).sum())
    assert_close(variance, (p * k * k).sum() - (p * k).sum() ** 2)
    assert_close(entropy, -(p * np.log(p)).sum())
    assert mode == k[p.argmax()]


def test_an_infinite_summary_is_infinite_and_not_a_finite_sum() -> None:
    heavy = {
        "mean of a Cauchy tail": lambda: dist.Cauchy(0.0, 1.0).truncate(1.0).mean,
        "variance of a Cauchy tail": lambda: dist.Cauchy(0.0, 1.0).truncate(1.0).variance,
        "variance below": lambda: dist.StudentT(1.9, 0.0, 1.0).truncate(high=0.0).variance,
        "folded": lambda: dist.FoldedDistribution(dist.Cauchy(0.0, 1.0)).mean,
    }
    found = compiled(lambda: {name: of() for name, of in heavy.items()})()
    assert all(value == np.inf for value in found.values()), found


@pytest.mark.slow
def test_the_smallest_of_heavy_draws_has_the_moments_that_the_largest_has_not() -> None:
    # The smallest is a Pareto variable of exponent 6.
    d = dist.OrderStatistic(dist.Pareto(1.0, 2.0), 3, np.array([1, 3]))
    assert_close(compiled(lambda: d.variance)(), np.array([0.06, np.inf]), rtol=1e-9)


def test_a_decreasing_map_turns_the_cdf_round() -> None:
    d = dist.TransformedDistribution(dist.Exponential(2.0), [bijectors.Affine(1.0, -2.0)])
    x = np.array([-3.0, 0.0, 2.0])
    assert_close(d.cdf(x), stats.expon(scale=0.5).sf((1 - x) / 2))
    assert_close(d.icdf(d.cdf(x[:2])), x[:2])


def test_a_moved_interval_is_known_while_a_program_is_traced() -> None:
    interval = dist.TransformedDistribution(dist.Beta(2.0, 2.0), bijectors.Affine(-1.0, 2.0))
    above = dist.TransformedDistribution(dist.Exponential(2.0), bijectors.Affine(-1.0, 2.0))
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    found = compiled(lambda x: (interval.support(x), above.support(x)))(x)
    assert_close(found, (np.array([False, True, True, False]), np.array([False, True, True, True])))


def test_quantiles_of_mixtures_undo_their_cdf() -> None:
    d = dist.MixtureSameFamily(dist.Categorical(WEIGHTS), dist.Normal(np.array([-2.0, 0.0, 3.0]), 0.7))
    q = np.array([1e-12, 0.2, 0.9])
    assert_close(compiled(lambda q: d.cdf(d.icdf(q)))(q), q)
    counts = dist.Mixture(dist.Categorical(WEIGHTS[:2] / 0.7), [dist.Poisson(3.0), dist.Poisson(9.0)])
    k = np.arange(20.0)
    assert_close(compiled(lambda k: counts.icdf(counts.cdf(k)))(k), k)
    assert float(d.log_survival(60.0)) < -3000


def test_a_product_stacks_independent_variables() -> None:
    d = dist.product_distribution([dist.Normal(0.0, 1.0), dist.Gamma(np.array([2.0, 3.0]), 1.0)])
    x = compiled(lambda key: d.sample(key, (4,)))(jax.random.key(0))
    assert x.shape == (4, 2, 2)
    expected = dist.Normal(0.0, 1.0).log_prob(x[..., 0]) + dist.Gamma(np.array([2.0, 3.0]), 1.0).log_prob(
        x[..., 1]
    )
    assert_close(d.log_prob(x), expected)
    assert d.support(x).all()


def test_ordering_multiplies_the_density_by_the_number_of_orders() -> None:
    base = dist.Normal(0.0, 1.0).expand((3,)).to_event(1)
    d = dist.ordered(base)
    x = d.sample(jax.random.key(0), (5,))
    assert d.support(x).all()
    assert_close(d.log_prob(x), base.log_prob(x) + np.log(6))
    assert (d.log_prob(x[:, ::-1]) == -np.inf).all()


def test_masked_values_do_not_reach_forward_derivatives() -> None:
    d = dist.Normal(np.zeros(3), 1.0).mask(np.array([True, False, True]))
    value, slope = jax.jvp(lambda s: d.log_prob(np.array([1.0, np.nan, 2.0]) * s), (1.0,), (1.0,))
    assert_close(slope, np.array([-1.0, 0.0, -4.0]))
    assert value[1] == 0


def test_a_point_holds_all_probability_and_an_empty_event_only_a_weight() -> None:
    d = dist.Delta(np.array([[1.0, 2.0]]), np.array([0.5, 0.25]), event_dim=1)
    assert (d.batch_shape, d.event_shape) == ((2,), (2,))
    assert_close(d.log_prob(d.sample(jax.random.key(0), (3,))), np.broadcast_to([0.5, 0.25], (3, 2)))
    assert (d.log_prob(np.array([1.0, 2.5])) == -np.inf).all()
    assert jnp.isnan(dist.Delta(1.0).log_prob(np.nan))
    assert_close(dist.Unit(np.array([1.0, 2.0])).log_prob(np.zeros((2, 0))), np.array([1.0, 2.0]))


REFUSED = {
    "mixture of kinds": (
        lambda: dist.Mixture(dist.Categorical(WEIGHTS[:2] / 0.7), [dist.Poisson(3.0), dist.Normal()]),
        ["Poisson (discrete)", "Normal (continuous)"],
    ),
    "transform of counts": (
        lambda: dist.TransformedDistribution(dist.Poisson(3.0), bijectors.Exp()),
        ["Poisson", "discrete"],
    ),
    "no bijector": (lambda: dist.TransformedDistribution(dist.Normal(), [np.exp]), ["transforms", "ufunc"]),
    "fold of vectors": (lambda: dist.FoldedDistribution(dist.Dirichlet(np.ones(2))), ["(2,)"]),
    "censored vectors": (lambda: dist.Dirichlet(np.ones(2)).censor(0.1), ["Dirichlet", "(2,)"]),
    "truncation without a cdf": (
        lambda: dist.ImproperUniform(constraints.real, (), ()).truncate(0.0),
        ["ImproperUniform", "cdf"],
    ),
    "nothing left": (lambda: dist.Gamma(2.0, 1.0).truncate(high=-1.0), ["Gamma", "high=-1.0"]),
    "no value between": (lambda: dist.Poisson(2.0).truncate(1.25, 1.75), ["Poisson", "1.25"]),
    "event axes that are not there": (lambda: dist.Delta(1.0, event_dim=1), ["Delta", "event"]),
    "map onto a point": (
        lambda: dist.biject_to(dist.Delta(np.array([1.0, 2.0]), event_dim=1).support),
        ["zero width", "Delta", "deterministic"],
    ),
    "product of kinds": (
        lambda: dist.product_distribution([dist.Poisson(3.0), dist.Normal()]),
        ["discrete"],
    ),
}


@each(REFUSED)
def test_parts_that_do_not_fit_together_are_refused(case: tuple) -> None:
    make, words = case
    with pytest.raises(DistributionError) as caught:
        make()
    assert all(word in str(caught.value) for word in words), caught.value
