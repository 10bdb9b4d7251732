"""Test what tables cannot say of continuous families: limits, seams and priors that are no distributions."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each

import accord.distributions as dist
from accord.core.errors import DistributionError

# A family at a parameter where its formula divides zero by zero, and the family that it is there.
LIMITS = {
    "GeneralizedExtremeValue": (
        lambda s: dist.GeneralizedExtremeValue(0.5, 2.0, s),
        dist.Gumbel(0.5, 2.0),
        0.0,
    ),
    "GeneralizedPareto": (lambda s: dist.GeneralizedPareto(0.0, 2.0, s), dist.Exponential(0.5), 0.0),
    "DoublyTruncatedPowerLaw": (
        lambda s: dist.DoublyTruncatedPowerLaw(s, 0.5, 3.0),
        dist.LogUniform(0.5, 3.0),
        -1.0,
    ),
    "AsymmetricLaplace": (lambda s: dist.AsymmetricLaplace(0.0, 2.0, s), dist.Laplace(0.0, 2.0), 1.0),
}


@each(LIMITS)
def test_a_family_goes_smoothly_through_its_limit(case: tuple) -> None:
    make, limit, at = case
    x = np.array([0.6, 1.1, 2.9])

    def everything(d: dist.AbstractDistribution) -> dict[str, jax.Array]:
        return {
            "log_prob": d.log_prob(x),
            "cdf": d.cdf(x),
            "icdf": d.icdf(np.array([1e-9, 0.3, 0.999])),
            "entropy": d.entropy(),
            "mean": d.mean,
            "variance": d.variance,
        }

    def around(s: float) -> tuple:
        slope = jax.jvp(lambda s: everything(make(s)), (s,), (1.0,))[1]
        return everything(make(s)), slope, everything(make(s + 1e-4)), everything(make(s - 1e-4))

    here, slope, right, left = compiled(around)(at)
    assert_close(here, compiled(lambda: everything(limit))(), rtol=1e-12, atol=1e-12)
    difference = jax.tree.map(lambda b, a: (b - a) / 2e-4, right, left)
    assert_close(slope, difference, rtol=1e-5, atol=1e-6)


SMOOTH_AT = {
    "Logistic at its centre": lambda x: dist.Logistic(0.0, 1.0).log_prob(x),
    "SoftLaplace at its centre": lambda x: dist.SoftLaplace(0.0, 1.0).log_prob(x),
    "Gumbel at its mode": lambda x: dist.Gumbel(0.0, 1.0).log_prob(x),
    "GeneralizedExtremeValue by shape 0": lambda s: dist.GeneralizedExtremeValue(0.0, 1.0, s).log_prob(0.7),
    "GeneralizedPareto by shape 0": lambda s: dist.GeneralizedPareto(0.0, 1.0, s).log_prob(0.7),
    "DoublyTruncatedPowerLaw by alpha": lambda s: dist.DoublyTruncatedPowerLaw(s - 1, 0.5, 3.0).log_prob(0.7),
}


@each(SMOOTH_AT)
def test_second_derivatives_are_right_at_the_seam(function: Callable) -> None:
    curve = compiled(jax.grad(jax.grad(function)))(0.0)
    slopes = compiled(jax.vmap(jax.grad(function)))(np.array([-1e-4, 1e-4]))
    assert_close(curve, (slopes[1] - slopes[0]) / 2e-4, rtol=1e-6, atol=1e-7)


def test_the_kink_of_laplace_has_no_slope_and_its_cdf_no_seam() -> None:
    d = dist.Laplace(0.5, 2.0)
    assert jax.grad(d.log_prob)(0.5) == 0
    assert_close(jax.grad(d.cdf)(0.5), jnp.asarray(0.25))


TAILS = {
    "Laplace": (dist.Laplace(0.0, 1.0).log_survival, 1e4, -1e4 - np.log(2)),
    "Logistic": (dist.Logistic(0.0, 1.0).log_cdf, -1e4, -1e4),
    "SoftLaplace": (dist.SoftLaplace(0.0, 1.0).log_cdf, -1e4, -1e4 + np.log(2 / np.pi)),
    "Gumbel above": (dist.Gumbel(0.0, 1.0).log_survival, 1e4, -1e4),
    "Gumbel below": (dist.Gumbel(0.0, 1.0).log_cdf, -9.0, -np.exp(9.0)),
    "Weibull": (dist.Weibull(1.0, 2.0).log_cdf, 1e-200, 400 * np.log(0.1)),
    "Dagum": (dist.Dagum(2.0, 3.0, 1.0).log_survival, 1e200, np.log(2) - 600 * np.log(10)),
    "Kumaraswamy": (dist.Kumaraswamy(3.0, 2.0).log_cdf, 1e-200, np.log(2) - 600 * np.log(10)),
    "Levy": (dist.Levy(0.0, 1.0).log_cdf, 5e-5, -10005.1779),
    "InverseGaussian": (dist.InverseGaussian(1.0, 1.0).log_survival, 2e4, -10014.0811976),
}


@each(TAILS)
def test_log_tails_are_right_where_the_tails_underflow(case: tuple) -> None:
    function, at, expected = case
    assert_close(function(at), jnp.asarray(expected), rtol=1e-7)
    assert np.isfinite(jax.grad(function)(at))


def test_flat_priors_weigh_everything_evenly_and_have_no_draws() -> None:
    assert_close(dist.Flat().log_prob(np.array([-1e300, 0.0])), jnp.zeros(2))
    above = dist.FlatPos(np.array([0.0, 2.0]))
    assert_close(above.log_prob(1.0), jnp.asarray([0.0, -np.inf]))
    assert (above.batch_shape, above.support(np.array([1.0, 2.0])).tolist()) == ((2,), [True, False])
    for prior in (dist.Flat(), above):
        assert jnp.isnan(prior.log_prob(np.nan)).all()
        with pytest.raises(DistributionError, match="no draws"):
            prior.sample(jax.random.key(0))


REFUSED = {
    "peak outside": (lambda: dist.Triangular(0, 1, 2), ["Triangular", "peak", "2"]),
    "empty interval": (lambda: dist.LogUniform(2, 1), ["LogUniform", "low=2"]),
    "exponent of a whole tail": (lambda: dist.LowerTruncatedPowerLaw(-0.5, 1), ["alpha", "below -1"]),
    "mean of a share": (lambda: dist.BetaProportion(1.5, 2), ["BetaProportion", "mean", "1.5"]),
    "flat on the line": (lambda: dist.Uniform(-np.inf, np.inf), ["zero everywhere", "`dist.Flat()`"]),
    "flat above a bound": (lambda: dist.Uniform(2.0, np.inf), ["zero everywhere", "`dist.FlatPos(2.0)`"]),
    "flat below a bound": (
        lambda: dist.Uniform(-np.inf, 3.0),
        ["zero everywhere", "`dist.ImproperUniform(constraints.less_than(3.0), (), ())`"],
    ),
    "flat in a row": (lambda: dist.Uniform(np.zeros(2), np.array([1.0, np.inf])), ["zero everywhere"]),
    "both probs and logits": (lambda: dist.RelaxedBernoulli(1, 0.5, 0.0), ["exactly one"]),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: Callable, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
