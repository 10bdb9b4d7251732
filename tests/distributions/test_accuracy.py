"""Compare log densities and derivatives with high-precision references, where the textbook formulas cancel."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled, each

import accord.distributions as dist

DATA = Path(__file__).parent / "data"
TRUNCATED = json.loads((DATA / "truncated_normal.json").read_text())["points"]
EXTREMES = json.loads((DATA / "extremes.json").read_text())["points"]

# Allowed multiples of eps times the sum of the sizes of the terms.
BAR = {
    "log_prob": 16,
    "d_value": 16,
    "d_loc": 16,
    "d_scale": 16,
    "d_low": 16,
    "d_high": 16,
    "cdf": 1000,
    "icdf": 1000,
}


def truncated(loc: Any, scale: Any, low: Any, high: Any) -> dist.TruncatedNormal:
    return dist.TruncatedNormal(loc, scale, low=low, high=high)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_truncated_normal_and_its_five_derivatives_are_exact_to_rounding(dtype: type) -> None:
    points = [p for p in TRUNCATED if dtype == np.float64 or p["f32_exact"]]
    x, q, *parameters = (
        np.array([float(p[name]) for p in points], dtype)
        for name in ("x", "q", "loc", "scale", "low", "high")
    )
    by_argument = jax.value_and_grad(lambda x, *p: truncated(*p).log_prob(x), argnums=(0, 1, 2, 3, 4))
    value, slopes = compiled(jax.vmap(by_argument))(x, *parameters)
    found = dict(zip(BAR, (value, *slopes), strict=False))
    found["cdf"] = compiled(lambda x, *p: truncated(*p).cdf(x))(x, *parameters)
    found["icdf"] = compiled(lambda q, *p: truncated(*p).icdf(q))(q, *parameters)
    limits = np.finfo(dtype)
    for name, bar in BAR.items():
        reference = np.array([float(p["ref"][name]) for p in points])
        tolerance = np.array([float(p["tol_scale"][name]) for p in points])
        error = np.abs(np.asarray(found[name], np.float64) - reference)
        # Numbers below the smallest normal one may be flushed to zero.
        allowed = bar * float(limits.eps) * tolerance + 4 * float(limits.tiny)
        assert found[name].dtype == dtype
        assert (error <= allowed).all(), (name, [p["id"] for p in np.array(points)[~(error <= allowed)]])


EXTREME = {
    "StudentT(nu) x=1.5": lambda p: dist.StudentT(p, 0, 1),
    "Gamma(shape=p,1) x=2^-40": lambda p: dist.Gamma(p, 1),
    "Gamma(shape=p,rate=p) x=1": lambda p: dist.Gamma(p, p),
    "InverseGamma(p,p) x=1": lambda p: dist.InverseGamma(p, p),
    "Beta(p,p) x=.5": lambda p: dist.Beta(p, p),
    "Beta(p,1) x=1-2^-24": lambda p: dist.Beta(p, 1),
    "Poisson(rate=p) k=p": lambda p: dist.Poisson(p),
    "Binomial(10,logits=p) k=3": lambda p: dist.Binomial(10, logits=p),
    "Bernoulli(logits=p) k=1": lambda p: dist.Bernoulli(logits=p),
    "Bernoulli(probs=p) k=1": lambda p: dist.Bernoulli(p),
    "LogNormal(0,p) x=2^30": lambda p: dist.LogNormal(0, p),
    "Cauchy(0,p) x=2^60": lambda p: dist.Cauchy(0, p),
}


@pytest.mark.parametrize("point", EXTREMES, ids=[f"{p['name']} at {p['p']:.3g}" for p in EXTREMES])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_large_cancels(point: dict, dtype: type) -> None:
    if float(dtype(point["x"])) != point["x"]:
        pytest.skip("the point is not a number of this precision")
    make = EXTREME[point["name"]]
    value, slope = compiled(jax.value_and_grad(lambda p: make(p).log_prob(dtype(point["x"]))))(
        dtype(point["p"])
    )
    eps = float(np.finfo(dtype).eps)
    expected, expected_slope = float(point["log_prob"]), float(point["d_param"])
    # A hundred roundings of the answer, or of a number of size one: no memory of the large terms.
    assert abs(float(value) - expected) <= 100 * eps * max(1.0, abs(expected))
    assert abs(float(slope) - expected_slope) <= 200 * eps * max(1.0, abs(expected_slope))


def test_log_density_of_a_scale_and_a_truncated_normal_has_the_known_gradient() -> None:
    def log_joint(sigma: Any, v: Any, high: Any = np.inf) -> jax.Array:
        prior = dist.InverseGamma(2, 3).log_prob(sigma)
        return prior + dist.TruncatedNormal(0, sigma, low=0, high=high).log_prob(v)

    value, slopes = jax.value_and_grad(log_joint, argnums=(0, 1))(1.0, 2.0)
    assert abs(float(value) + 3.0285667753) < 1e-10
    assert_close(slopes, (jnp.asarray(3.0), jnp.asarray(-2.0)))
    traced = compiled(jax.value_and_grad(log_joint, argnums=(0, 1, 2)))(1.0, 2.0, np.inf)
    assert_close(traced, (value, (*slopes, jnp.asarray(0.0))))


BOUNDS = {
    "low only": (0.5, np.inf),
    "high only": (-np.inf, 2.5),
    "far low only": (20.0, np.inf),
    "neither": (-np.inf, np.inf),
}


@each(BOUNDS)
def test_infinite_bounds_traced_or_written_are_no_bounds(bounds: tuple) -> None:
    low, high = bounds
    value = {20.0: 20.25}.get(low, 1.25)
    plain = dist.TruncatedNormal(
        0.3, 1.7, low=low if np.isfinite(low) else None, high=high if np.isfinite(high) else None
    )

    def everything(d: dist.TruncatedNormal) -> tuple:
        return d.log_prob(value), d.cdf(value), d.icdf(0.3), d.mean, d.variance, d.entropy()

    def derivatives(low: Any, high: Any) -> tuple:
        def total(x: Any, loc: Any, scale: Any) -> jax.Array:
            return dist.TruncatedNormal(loc, scale, low=low, high=high).log_prob(x)

        return jax.grad(total, (0, 1, 2))(value, 0.3, 1.7), jax.hessian(total, (0, 1, 2))(value, 0.3, 1.7)

    expected = everything(plain)
    assert_close(everything(dist.TruncatedNormal(0.3, 1.7, low=low, high=high)), expected)
    assert_close(
        compiled(lambda a, b: everything(truncated(0.3, 1.7, a, b)))(low, high), expected, rtol=1e-10
    )
    want = derivatives(plain.low, plain.high)
    assert_finite(want)
    assert_close(derivatives(low, high), want)
    assert_close(compiled(derivatives)(low, high), want, rtol=1e-10)


def test_an_unbounded_truncated_normal_is_the_normal() -> None:
    x = jnp.linspace(-4.0, 4.0, 9)
    assert_close(dist.TruncatedNormal(0.5, 2.0).log_prob(x), dist.Normal(0.5, 2.0).log_prob(x))


def test_second_derivatives_of_the_truncated_normal_are_those_of_differences() -> None:
    def gradient(p: np.ndarray) -> np.ndarray:
        return np.asarray(jax.grad(lambda p: truncated(*p[1:]).log_prob(p[0]))(jnp.asarray(p)))

    for p in ([0.7, 0.0, 1.0, -1.0, 2.0], [5.2, 0.1, 1.0, 5.0, 8.0], [0.2, 0.0, 1.0, 0.0, 0.5]):
        point = np.asarray(p)
        hessian = jax.hessian(lambda p: truncated(*p[1:]).log_prob(p[0]))(jnp.asarray(point))
        steps = [gradient(point + 1e-6 * e) - gradient(point - 1e-6 * e) for e in np.eye(5)]
        np.testing.assert_allclose(hessian, np.array(steps) / 2e-6, rtol=1e-5, atol=1e-6)


@each(
    {
        "centre": (-1.0, 2.0),
        "tail": (4.0, 9.0),
        "narrow": (1.0, 1.01),
        "left tail": (-9.0, -4.0),
        "one": (3.0, np.inf),
    }
)
def test_truncated_normal_quantiles_undo_the_cdf(bounds: tuple) -> None:
    d = dist.TruncatedNormal(0.2, 1.3, low=bounds[0], high=bounds[1])
    q = jnp.asarray([0.0, 1e-8, 0.1, 0.5, 0.9, 0.999999])
    assert_close(d.cdf(d.icdf(q)), q, rtol=1e-9, atol=1e-12)
    assert ((d.icdf(q) >= bounds[0]) & (d.icdf(q) <= bounds[1])).all()


BRANCHES = {
    "Bernoulli": (lambda logits: dist.Bernoulli(logits=logits).log_prob(1), 0.5, -0.25),
    "Binomial": (lambda logits: dist.Binomial(10, logits=logits).log_prob(3), -2.0, -2.5),
    "regression": (
        lambda b: dist.Bernoulli(logits=b * np.array([1.0, -2.0, 3.0])).log_prob(np.array([1, 0, 1])).sum(),
        3.0,
        -3.5,
    ),
    "StudentT at its centre": (lambda loc: dist.StudentT(3.0, loc, 1.0).log_prob(0.0), 0.0, -4 / 3),
    "Cauchy at its centre": (lambda loc: dist.Cauchy(loc, 1.0).log_prob(0.0), 0.0, -2.0),
    "Dirichlet at one": (lambda a: dist.Beta(a, 1.0).log_prob(np.exp(-1.0)), 0.0, -1.0),
}


@each(BRANCHES)
def test_derivatives_are_right_where_formulas_change_branch(case: tuple) -> None:
    function, first, second = case
    at = 1.0 if function is BRANCHES["Dirichlet at one"][0] else 0.0
    assert_close(jax.grad(function)(at), jnp.asarray(first))
    assert_close(jax.grad(jax.grad(function))(at), jnp.asarray(second))


OF_EQUAL_SHARES = {
    "Beta": (lambda p: dist.Beta(p, p).log_prob(0.5), 2),
    "Beta, with one known": (lambda p: dist.Beta(p, jax.lax.stop_gradient(p)).log_prob(0.5), 1),
    "BetaPrime": (lambda p: dist.BetaPrime(p, p).log_prob(1.0), 2),
    "Dirichlet": (lambda p: dist.Dirichlet(jnp.stack([p, p])).log_prob(np.array([0.5, 0.5])), 2),
}


@each(OF_EQUAL_SHARES)
def test_the_slope_by_a_concentration_keeps_its_digits_where_shares_are_at_their_mean(case: tuple) -> None:
    log_prob, count = case
    p = np.array([0.3, 2.0, 50.0, 1e3, 1e6, 1e9, 1e12])
    # By hand; about count / (4 p) for large p, which is what is left of terms near 1.
    with mpmath.workdps(50):
        gaps = [mpmath.digamma(2 * x) - mpmath.digamma(x) - mpmath.log(2) for x in map(mpmath.mpf, p)]
        curves = [2 * mpmath.psi(1, 2 * x) - mpmath.psi(1, x) for x in map(mpmath.mpf, p[:4])]
        slope, second = (np.array([count * float(each) for each in some]) for some in (gaps, curves))
    assert_close(compiled(jax.vmap(jax.grad(log_prob)))(p), slope, rtol=4e-15, atol=0)
    if count == 2:
        assert_close(compiled(jax.vmap(jax.grad(jax.grad(log_prob))))(p[:4]), second, rtol=1e-9, atol=0)
