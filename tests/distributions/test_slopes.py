"""Compare slopes that have rules of their own with exact ones, near zero and far out."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from laws import each

import accord.distributions as dist
from accord.core.versions import FUSING_CPU_OPTIONS, QUICK_CPU_OPTIONS
from accord.distributions.special import log1p_square, standardise

OPTIONS = {"defaults": {}, "quick": dict(QUICK_CPU_OPTIONS), "fusing": dict(FUSING_CPU_OPTIONS)}
SIZES = 10.0 ** np.linspace(-200, 200, 81)
Z = np.concatenate([-SIZES, [0.0], SIZES])


@pytest.mark.parametrize("num", [1, 400])  # few and many numbers, which have a rule of their own
@pytest.mark.parametrize("way", OPTIONS)
def test_slopes_of_log1p_of_a_square_neither_overflow_nor_vanish(way, num):
    slope = jax.grad(lambda z: log1p_square(z).sum())
    curvature = jax.grad(lambda z: slope(z).sum())

    def both(z):
        every = jnp.full(num, z)
        return slope(every)[0], curvature(every)[0]

    found = jax.jit(jax.vmap(both), compiler_options=OPTIONS[way])(Z)
    assert abs(found[1][abs(Z) == 1.0]).max() < 1e-15
    exact = [mpmath.mpf(z) for z in Z]
    np.testing.assert_allclose(found[0], [float(2 * z / (1 + z * z)) for z in exact], rtol=1e-15)
    # Beyond, curvatures are below the smallest number; at 1 they are zero, of two numbers that are rounded.
    near = (abs(Z) < 1e100) & ~np.isclose(abs(Z), 1.0)
    true = np.array([float(2 * (1 - z * z) / (1 + z * z) ** 2) for z in exact])
    np.testing.assert_allclose(found[1][near], true[near], rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("scale", [np.float64(0.7), np.geomspace(0.7, 2.0, 300)], ids=["shared", "each"])
def test_standardised_values_have_the_slopes_of_a_quotient(scale):
    x, loc = np.linspace(-2.0, 5.0, 300), np.float64(0.4)

    def total(function):
        return lambda *arguments: (jnp.linspace(1.0, 4.0, 300) * jnp.sin(function(*arguments))).sum()

    def plain(x, loc, scale):
        return (x - loc) / scale

    for derivative in (jax.grad, jax.hessian):
        found, true = (derivative(total(f), (0, 1, 2))(x, loc, scale) for f in (standardise, plain))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(true), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-12)


def binomial_slope(k, n, logit):
    return k - n / (1 + mpmath.exp(-mpmath.mpf(logit)))


COUNTS = {
    "one of many, rarely": (1.0, 12.0, -600.0),
    "all, nearly always": (12.0, 12.0, 600.0),
    "half, at even odds": (6.0, 12.0, 1e-12),
    "as expected of many": (3e8, 1e9, float(mpmath.log(mpmath.mpf(3) / 7))),
}


@each(COUNTS)
def test_the_slope_of_a_binomial_by_logits_is_observed_less_expected(case):
    k, n, logit = case
    found = jax.grad(lambda logit: dist.Binomial(n, logits=logit).log_prob(k))(logit)
    with mpmath.workdps(400):
        true = float(binomial_slope(k, n, logit))
    np.testing.assert_allclose(found, true, rtol=1e-13, atol=1e-7 if n > 1e6 else 0.0)
    curvature = jax.hessian(lambda logit: dist.Binomial(n, logits=logit).log_prob(k))(logit)
    with mpmath.workdps(400):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(logit)))
        np.testing.assert_allclose(curvature, float(-n * p * (1 - p)), rtol=1e-13)


@each({"rare": (0.3, 1e-9), "likely": (0.3, 2.0), "never else": (1e-200, 900.0), "gate only": (0.2, 900.0)})
def test_zero_inflation_and_its_slopes_are_exact_at_zero(case):
    gate, rate = case
    found = jax.value_and_grad(lambda *p: dist.ZeroInflatedPoisson(*p).log_prob(0), (0, 1))(gate, rate)
    with mpmath.workdps(400):
        gate, rate = mpmath.mpf(gate), mpmath.mpf(rate)
        fall = mpmath.exp(-rate)
        total = gate + (1 - gate) * fall
        true = [mpmath.log(total), (1 - fall) / total, -(1 - gate) * fall / total]
    np.testing.assert_allclose(jax.tree.leaves(found), [float(x) for x in true], rtol=1e-13, atol=1e-320)
