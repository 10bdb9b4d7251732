"""Test densities and summaries: against SciPy, their integrals, and where a value is impossible, missing or masked."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each
from table import ALL, DISCRETE, MULTIVARIATE, OUTSIDE, UNIVARIATE, VARIANTS, Case, draws_of, each_line

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions.constraint import Circular

# Of these mean, variance and entropy are long programs; some are compared with closer numbers in `test_summaries.py`.
SUMMED = [name for name in ALL if "truncated" in name and "Exponential" not in name]


def summary(d: dist.AbstractDistribution, what: str) -> Any:
    """A summary, or None where there is none in closed form."""
    try:
        found = getattr(d, what)
        return found() if callable(found) else found
    except DistributionError:
        return None


def has_quantiles(d: dist.AbstractDistribution) -> bool:
    """Whether the inverse cdf is defined."""
    try:
        jax.eval_shape(d.icdf, 0.5)
    except DistributionError:
        return False
    return True


@each_line(UNIVARIATE, slow=SUMMED)
def test_densities_integrate_to_one_and_to_the_summaries_announced(case: Case) -> None:
    d = case.make()
    bijector = dist.biject_to(d.support)
    # The trapezoidal rule in t, for x = bijector(sinh(t)), which decays doubly exponentially at both ends.
    t = np.linspace(-40.0, 40.0, 64_001)

    def integrals(t: jax.Array) -> tuple:
        announced = {what: summary(d, what) for what in ("mean", "variance", "entropy")}
        if isinstance(d.support, Circular):  # its mean is a direction
            announced["mean"] = announced["variance"] = None
        centre = announced["mean"]
        centre = 0.0 if centre is None else jnp.where(jnp.isfinite(centre), centre, 0.0)
        x, log_det = bijector.forward_and_log_det(jnp.sinh(t))
        log_prob = d.log_prob(x)
        log_weight = log_prob + log_det + jnp.log(jnp.cosh(t))
        weight = jnp.where(jnp.isfinite(log_weight) & jnp.isfinite(x), jnp.exp(log_weight), 0.0)
        weight = weight * (t[1] - t[0])

        def average(of: Any) -> jax.Array:
            return jnp.where(weight > 0, weight * of, 0.0).sum()

        middle = bijector.forward(0.0)
        lower = jnp.where(x <= middle, weight, 0.0).sum() - 0.5 * weight[t.size // 2]
        moments = (average(x), average((x - centre) ** 2), average(-log_prob))
        return average(1.0), lower, d.cdf(middle), moments, announced

    whole, lower, below, moments, announced = compiled(integrals)(t)
    assert_close(whole, jnp.ones(()), atol=1e-6)
    assert_close(lower, below, atol=1e-6)
    for what, integral in zip(("mean", "variance", "entropy"), moments, strict=True):
        value = announced[what]
        if value is not None and np.isfinite(value):
            assert_close(np.asarray(integral), np.asarray(value), rtol=1e-5, atol=1e-6)


@each_line(DISCRETE, slow={*SUMMED, *VARIANTS})
def test_discrete_probabilities_are_those_of_scipy_and_sum_to_one(case: Case) -> None:
    d = case.make()
    low, high = (int(v) for v in (draws_of(case).min(), draws_of(case).max()))
    k = np.arange(min(2 * low, 0), 4 * high + 60)
    log_prob, as_float, below, inside, odd, announced = compiled(
        lambda k: (
            d.log_prob(k),
            d.log_prob(k.astype(float)),
            d.cdf(k),
            d.support(k),
            d.log_prob(k.astype(float) + 0.5),
            {what: summary(d, what) for what in ("mean", "variance", "entropy")},
        )
    )(k)
    p = np.exp(log_prob)
    assert (np.asarray(inside) | (p == 0)).all()
    assert (odd == -np.inf).all()
    assert_close(as_float, log_prob)
    assert_close(p.sum(), np.asarray(1.0), rtol=1e-6)
    assert_close(below, p.cumsum(), rtol=1e-8, atol=1e-9)
    mean = (p * k).sum()
    totals = {
        "mean": mean,
        "variance": (p * (k - mean) ** 2).sum(),
        "entropy": -np.where(p > 0, p * np.where(p > 0, log_prob, 0), 0).sum(),
    }
    for what, expected in totals.items():
        value = announced[what]
        if value is not None and np.isfinite(value):
            assert_close(np.asarray(value), expected, rtol=1e-5, atol=1e-8)
    if case.scipy:
        reference = case.scipy()
        # Further out, formulas that add a small tail to a gate of 0 have lost it.
        some = np.asarray(inside) & (p > 1e-12)
        assert_close(np.asarray(log_prob)[some], reference.logpmf(k)[some], rtol=1e-8, atol=1e-8)


@each_line(MULTIVARIATE)
def test_multivariate_densities_are_those_of_scipy(case: Case) -> None:
    if case.scipy is None:
        pytest.skip("SciPy has no such distribution")
    d, reference = case.make(), case.scipy()
    x = draws_of(case, 5)
    expected = [reference.logpdf(value) for value in x]
    assert_close(compiled(d.log_prob)(x), np.asarray(expected), rtol=1e-8, atol=1e-8)


LEVELS = np.array([0.001, 0.1, 0.3, 0.5, 0.8, 0.99])


@each_line(UNIVARIATE | DISCRETE, slow=VARIANTS)
def test_tails_quantiles_and_modes_agree_with_the_density_and_the_cdf_and_scipy(case: Case) -> None:
    d, x = case.make(), draws_of(case, 200)
    reference = case.scipy() if case.scipy and not d.is_discrete else None
    if reference:
        x = np.concatenate([x, reference.ppf(LEVELS)])
    is_inverted = has_quantiles(d)
    # Just under the cdf, since a sum that rounds up must not move a count to the next one.
    margin = 1e-9 if d.is_discrete else 0.0

    def everything(x: jax.Array) -> tuple:
        below, mode = d.cdf(x), summary(d, "mode")
        quantiles = d.icdf(below * (1 - margin)) if is_inverted else None
        if mode is not None:
            # Where a density is unbounded, its mode may be at an end that is not in the support.
            mode = jnp.where(d.support(mode), mode, jnp.nan)
        at_mode = (
            None if mode is None else d.log_prob(jnp.where(jnp.isfinite(mode), mode, x[0].astype(mode.dtype)))
        )
        return below, d.log_cdf(x), d.log_survival(x), d.log_prob(x), quantiles, mode, at_mode

    found = compiled(everything)(x)
    below, log_below, log_above, log_prob, quantiles, mode, at_mode = found
    assert_close(np.exp(log_below), np.asarray(below), rtol=1e-9)
    assert_close(np.exp(log_above), 1 - np.asarray(below), rtol=1e-7, atol=1e-9)
    if mode is not None and np.isfinite(mode):
        assert at_mode >= log_prob.max() - 1e-9
    is_sharp = (below > 1e-6) & (below < 1 - 1e-6)
    if is_inverted:
        assert_close(quantiles[is_sharp] * 1.0, x[is_sharp] * 1.0, rtol=1e-6, atol=1e-8)
    if reference:
        last = slice(-len(LEVELS), None)
        assert_close(log_prob[last], reference.logpdf(x[last]), rtol=1e-9, atol=1e-9)
        assert_close(below[last], LEVELS, rtol=1e-8, atol=1e-9)
        if is_inverted:
            assert_close(quantiles[last], x[last], rtol=1e-8, atol=1e-9)


@each_line(OUTSIDE)
def test_outside_the_support_the_log_density_is_minus_infinity_with_zero_gradient(case: tuple) -> None:
    make, parameters, value = case
    is_continuous = not make(*parameters).is_discrete

    def log_prob(parameters: tuple, value: Any) -> jax.Array:
        return make(*parameters).log_prob(value)

    value = jnp.asarray(value, float) if is_continuous else value
    arguments = (0, 1) if is_continuous else 0
    result, slopes = compiled(jax.value_and_grad(log_prob, arguments))(parameters, value)
    assert result == -np.inf
    assert all((np.asarray(slope) == 0).all() for slope in jax.tree.leaves(slopes)), slopes


@each_line(ALL, slow=VARIANTS)
def test_a_masked_nan_has_no_influence_on_value_or_gradient(case: Case) -> None:
    d = case.make()
    draws, batch = draws_of(case, 2).astype(float), d.batch_shape
    value = np.concatenate([draws, np.full_like(draws, np.nan), np.full_like(draws, np.inf)])
    mask = np.broadcast_to(np.arange(6).reshape(6, *(1 for _ in batch)) < 2, (6, *batch))
    floats, rest = eqx.partition(d, lambda leaf: np.issubdtype(np.asarray(leaf).dtype, np.floating))

    def log_joint(floats: Any, value: Any, *, is_masked: bool) -> jax.Array:
        it = eqx.combine(floats, rest)
        return (it.expand((6, *batch)).mask(mask) if is_masked else it).log_prob(value).sum()

    def both(floats: Any, value: Any, kept: Any) -> tuple:
        with_nan = jax.value_and_grad(lambda f, v: log_joint(f, v, is_masked=True), (0, 1))(floats, value)
        without = jax.value_and_grad(lambda f, v: log_joint(f, v, is_masked=False), (0, 1))(floats, kept)
        return with_nan, without

    with_nan, without = compiled(both)(floats, value, draws)
    assert_close(with_nan[0], without[0], rtol=1e-10)
    assert_close(with_nan[1][0], without[1][0], rtol=1e-8, atol=1e-10)
    assert_close(with_nan[1][1][:2], without[1][1], rtol=1e-8, atol=1e-10)
    assert (np.asarray(with_nan[1][1][2:]) == 0).all()


def test_a_masked_observation_does_not_reach_the_parameters() -> None:
    y, mask = np.array([1.0, np.nan, 2.0]), np.array([True, False, True])
    slopes = jax.grad(lambda m, s: dist.Normal(m, s).expand((3,)).mask(mask).log_prob(y).sum(), (0, 1))(
        0.5, 2.0
    )
    kept = jax.grad(lambda m, s: dist.Normal(m, s).log_prob(y[mask]).sum(), (0, 1))(0.5, 2.0)
    assert_close(slopes, kept)


def test_an_unmasked_nan_is_not_hidden() -> None:
    for d in (
        dist.Normal(0, 1),
        dist.Gamma(2, 3),
        dist.Beta(2, 3),
        dist.HalfNormal(1),
        dist.TruncatedNormal(0, 1, low=0),
    ):
        assert jnp.isnan(d.log_prob(np.nan))
    assert not jnp.isfinite(dist.Uniform(0, 1).log_prob(np.nan))


def test_the_normal_costs_a_handful_of_operations() -> None:
    jaxpr = jax.make_jaxpr(dist.Normal(0, 5).log_prob)(jnp.ones(3))
    assert len(jaxpr.eqns) <= 6
    gamma = str(jax.make_jaxpr(dist.Gamma(2, 3).log_prob)(jnp.ones(3)))
    assert "lgamma" not in gamma
    assert gamma.count("log ") + gamma.count("log1p ") <= 2


PARAMETERS = {
    "Python numbers": (0, 5),
    "NumPy float64": (np.zeros(2), np.array([1.0, 2.0])),
    "NumPy integers": (np.zeros(2, int), 2),
    "NumPy scalars": (np.float64(0.0), np.int64(2)),
    "JAX float32": (jnp.zeros(2, np.float32), 2.0),
    "a bool": (False, True),
}


@each(PARAMETERS)
@pytest.mark.parametrize("x64", [True, False])
def test_any_kind_of_number_is_a_parameter(parameters: tuple, x64: bool) -> None:
    with jax.enable_x64(x64):
        d = dist.Normal(*parameters)
        strong = [
            np.asarray(p).dtype for p in parameters if isinstance(p, (np.ndarray, np.generic, jax.Array))
        ]
        single = not x64 or (strong and all(dtype == np.float32 for dtype in strong))
        expected = np.float32 if single else np.float64
        assert d.dtype == expected
        assert d.log_prob(np.zeros(2, np.float32)).dtype == (expected if np.float64 in strong else np.float32)
        assert d.log_prob(np.zeros(2, np.int32)).dtype == expected
        assert d.sample(jax.random.key(0)).dtype == expected
        assert d.mean.dtype == d.variance.dtype == d.entropy().dtype == expected
        assert dist.Poisson(np.array([1.0, 2.0])).log_prob(np.array([1, 2])).shape == (2,)


def test_parameters_are_kept_as_given() -> None:
    array = np.array([1.0, 2.0])
    d = dist.Normal(0.1, array)
    assert d.loc == 0.1
    assert type(d.loc) is float
    assert d.scale is array
