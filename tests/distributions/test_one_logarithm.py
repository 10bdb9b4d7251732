"""Compile functions that correct a logarithm for rounding: compilers must not take the correction away."""

import jax
import mpmath
import numpy as np
import pytest
from laws import each

from accord.bijectors.elementwise import log1p_of_positive, logistic
from accord.core.versions import FUSING_CPU_OPTIONS, QUICK_CPU_OPTIONS
from accord.distributions.special.basic.elementary import log1p_square
from accord.distributions.special.basic.excess import (
    excess_by_log,
    log1p_excess_over_square,
    log_of_ratio,
    near_zero,
)
from accord.distributions.special.basic.gamma_ratio import remainder_rise

OPTIONS = {"defaults": {}, "quick": dict(QUICK_CPU_OPTIONS), "fusing": dict(FUSING_CPU_OPTIONS)}
SMALL = 10.0 ** np.linspace(-30, 0, 301)
SIGNED = np.concatenate([-0.24 * SMALL, 0.24 * SMALL])


def exactly(function, *columns):
    """Compute with 50 digits."""
    with mpmath.workdps(50):
        rows = zip(*(map(mpmath.mpf, column) for column in columns), strict=True)
        return np.array([float(function(*row)) for row in rows])


FUNCTIONS = {
    "log1p of positive numbers": (log1p_of_positive, (SMALL,), mpmath.log1p),
    "log1p of a square": (log1p_square, (SMALL,), lambda z: mpmath.log1p(z * z)),
    "log of a ratio": (
        lambda u: log_of_ratio(u, 2.0 + u, abs(u) < 1),
        (SIGNED,),
        mpmath.log1p,
    ),
    "log1p less its argument": (near_zero, (SIGNED,), lambda u: mpmath.log1p(u) - u),
    "the same by powers": (
        lambda u: u * (u * log1p_excess_over_square(u)),
        (SIGNED,),
        lambda u: mpmath.log1p(u) - u,
    ),
    "logistic": (logistic, (SIGNED * 100,), lambda x: 1 / (1 + mpmath.exp(-x))),
}


@each(FUNCTIONS)
@pytest.mark.parametrize("way", OPTIONS)
def test_digits_survive_every_way_of_compiling(case, way):
    function, columns, true = case
    found = jax.jit(function, compiler_options=OPTIONS[way])(*columns)
    np.testing.assert_allclose(found, exactly(true, *columns), rtol=2e-15)


def test_the_slope_of_log1p_is_whole_where_one_plus_its_argument_is_one():
    y = np.concatenate([[0.0], SMALL, 10.0 ** np.arange(1.0, 300.0, 20.0)])
    for dtype in (np.float32, np.float64):
        small = y[y < np.finfo(dtype).max].astype(dtype)
        slope = jax.jit(jax.vmap(jax.grad(log1p_of_positive)))(small)
        np.testing.assert_allclose(slope, 1 / (1 + small), rtol=4 * np.finfo(dtype).eps)


def test_an_excess_has_the_digits_of_its_gap():
    x, gap = np.array([3.0, 1e6, 1e12, 2.0, 5.0]), np.array([1e-9, 10.0, -1e5, 40.0, -4.9])
    mean = x + gap
    found = jax.jit(excess_by_log)(x, mean, np.log(mean))
    true = exactly(lambda x, mean: x * mpmath.log(mean / x) - (mean - x), x, mean)
    assert (np.abs(found - true) <= 1e-14 * np.abs(mean - x)).all()


def test_a_rise_and_its_slope_are_right_for_tiny_and_large_arguments():
    a = np.array([1e-20, 1e-5, 0.3, 2.0, 9.99, 10.0, 1e5, 1e5])
    k = np.array([0.0, 3.0, 0.0, 40.0, 0.5, 7.0, 0.0, 12.0])

    def remainder(x):
        return mpmath.loggamma(x) - x * mpmath.log(x) + x

    value, slope = jax.jit(jax.vmap(jax.value_and_grad(remainder_rise)))(a, k)
    true = exactly(lambda a, k: remainder(a + k) - remainder(a), a, k)
    by_a = exactly(
        lambda a, k: mpmath.digamma(a + k) - mpmath.log(a + k) - mpmath.digamma(a) + mpmath.log(a), a, k
    )
    np.testing.assert_allclose(value, true, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slope, by_a, rtol=1e-12, atol=1e-25)
