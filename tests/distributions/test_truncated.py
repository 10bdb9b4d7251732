"""Test truncation of any family where tables of points cannot say what must hold."""

from typing import Any

import jax
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled, each

import accord.distributions as dist


def total(x: Any, loc: Any, scale: Any, low: Any, high: Any) -> jax.Array:
    return dist.Laplace(loc, scale).truncate(low, high).log_prob(x)


@pytest.mark.parametrize("bounds", [(0.5, np.inf), (-np.inf, 2.5), (-np.inf, np.inf)])
def test_infinite_bounds_traced_or_written_are_no_bounds_for_any_family(bounds: tuple) -> None:
    low, high = bounds
    plain = [None if np.isinf(bound) else bound for bound in bounds]
    expected = compiled(jax.value_and_grad(lambda *p: total(*p, *plain), (0, 1, 2)))(1.25, 0.3, 1.7)
    written = compiled(jax.value_and_grad(lambda *p: total(*p, low, high), (0, 1, 2)))(1.25, 0.3, 1.7)
    traced = compiled(jax.value_and_grad(total, (0, 1, 2, 3, 4)))(1.25, 0.3, 1.7, low, high)
    assert_close(written, expected)
    assert_close((traced[0], traced[1][:3]), expected)
    assert_finite(traced)
    assert all(slope == 0 for slope, bound in zip(traced[1][3:], bounds, strict=True) if np.isinf(bound))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_kink_within_one_part_in_a_million_is_seen(dtype: Any) -> None:
    x, loc, scale, low, high = (dtype(number) for number in (-5e-8, 0.0, 1.0, -1e-7, 1e-6))
    value, slopes = jax.jit(jax.value_and_grad(total, (0, 1, 3, 4)))(x, loc, scale, low, high)
    # To first order in the width the density is flat; the slope by the location is that of |x - loc| and its mean.
    width = float(high) - float(low)
    mean = (float(high) - -float(low)) / width
    expected = np.array([1.0, -1.0 + -mean * -1.0 * -1.0, 1 / width, -1 / width])
    assert abs(float(value) + np.log(width)) < 1e-6
    np.testing.assert_allclose(np.array(slopes, float), expected, rtol=2e-6)


def test_truncating_again_intersects_the_bounds() -> None:
    once = dist.Gamma(2.0, 1.0).truncate(0.5, 2.0)
    twice = dist.Gamma(2.0, 1.0).truncate(0.5, 5.0).truncate(0.25, 2.0)
    assert (once.low, once.high) == (twice.low, twice.high)
    by_sides = dist.Gamma(2.0, 1.0).truncate(0.5).truncate(high=2.0)
    assert (by_sides.low, by_sides.high) == (once.low, once.high)
    assert isinstance(dist.Normal().truncate(0.0).truncate(high=1.0), dist.TruncatedNormal)


def test_a_truncated_count_includes_its_bounds() -> None:
    d = dist.Poisson(3.0).truncate(2, 4)
    weights = np.array([4.5, 4.5, 3.375])
    log_prob, again = compiled(lambda k: (d.log_prob(k), d.icdf(d.cdf(k))))(np.arange(2.0, 5.0))
    assert_close(log_prob, np.log(weights / weights.sum()))
    assert_close(again, np.arange(2.0, 5.0))


@each(
    {
        "Gumbel": (lambda a: dist.Gumbel(a, 1.0), -800.0, 5.0),
        "Weibull": (lambda a: dist.Weibull(a, 3.0), 0.5, 1e9),
        "StudentT": (lambda a: dist.StudentT(3.0, a, 1.0), -1e200, 3e9),
        "Gamma": (lambda a: dist.Gamma(a, 1.0), 1e-300, 3e9),
    }
)
def test_a_bound_beyond_which_no_mass_is_left_has_a_finite_gradient(case: tuple) -> None:
    make, low, high = case

    def log_prob(a: Any, low: Any, high: Any, x: Any) -> jax.Array:
        return make(a).truncate(low, high).log_prob(x)

    assert_finite(compiled(jax.value_and_grad(log_prob, (0, 1, 2, 3)))(1.5, low, high, 1.25))


@pytest.mark.slow
def test_a_truncated_beta_negative_binomial_has_all_probability_between_its_bounds() -> None:
    # Of a few levels only: the search for a quantile takes milliseconds.
    d, k = dist.BetaNegativeBinomial(2.5, 12.0, 4.0).truncate(1, 200), np.arange(0, 205)
    log_prob, below = compiled(lambda k: (d.log_prob(k), d.cdf(k)))(k)
    p = np.exp(np.asarray(log_prob))
    assert_close(p.sum(), np.float64(1.0), rtol=1e-10)
    assert_close(np.asarray(below), p.cumsum(), rtol=1e-9, atol=1e-12)
    assert p[0] == 0 and (p[201:] == 0).all()
    levels = 0.5 * (p.cumsum()[[1, 9, 60]] + p.cumsum()[[2, 10, 61]])
    assert_close(compiled(d.icdf)(levels), np.array([2.0, 10.0, 61.0]))


def test_the_highest_quantiles_of_a_far_tail_are_those_of_the_exponential_that_it_is() -> None:
    level = np.array([0.5, 1 - 1e-6, 1 - 2.0**-40])
    above = compiled(lambda q: dist.Logistic(0.0, 2.0).truncate(60.0).icdf(q))(level)
    below = compiled(lambda q: dist.Logistic(0.0, 2.0).truncate(high=-60.0).icdf(q))(1 - level)
    assert_close(above, 60 - 2 * np.log1p(-level), rtol=1e-9)
    assert_close(below, -np.asarray(above), rtol=1e-9)
