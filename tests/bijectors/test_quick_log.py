"""Compare logarithms of many numbers with exact ones, however they are compiled."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.bijectors.elementwise import log1p_of_positive
from accord.bijectors.quick_log import quick_log
from accord.core.versions import FUSING_CPU_OPTIONS, QUICK_CPU_OPTIONS

OPTIONS = {"defaults": {}, "quick": dict(QUICK_CPU_OPTIONS), "fusing": dict(FUSING_CPU_OPTIONS)}
EDGES = np.array(
    [0.0, np.inf, np.nan, np.finfo(float).tiny, np.finfo(float).max, np.sqrt(0.5), np.sqrt(2.0), 1.0]
)


def numbers():
    rng = np.random.default_rng(0)
    far, near = (
        10 ** rng.uniform(-307, 308, 20_000),
        1 + rng.normal(size=20_000) * 10 ** rng.uniform(-16, -1, 20_000),
    )
    return np.concatenate([EDGES, far, near])


@pytest.mark.parametrize("way", OPTIONS)
def test_logarithms_of_many_numbers_are_right_to_a_unit_in_the_last_place(way: str) -> None:
    x = numbers()
    found = np.asarray(jax.jit(quick_log, compiler_options=OPTIONS[way])(x))
    np.testing.assert_array_equal(found[:3], [-np.inf, np.inf, np.nan])
    true = np.log(x[3:].astype(np.longdouble))
    assert (np.abs(found[3:] - true) <= np.spacing(np.abs(true.astype(float)))).all()


@pytest.mark.parametrize("way", OPTIONS)
def test_many_logarithms_of_one_plus_a_number_keep_its_digits(way: str) -> None:
    y = np.concatenate([[0.0], 10.0 ** np.linspace(-30, 300, 5_000)])
    found = jax.jit(log1p_of_positive, compiler_options=OPTIONS[way])(y)
    np.testing.assert_allclose(found, np.log1p(y.astype(np.longdouble)).astype(float), rtol=1e-15)


def test_slopes_of_many_logarithms_are_inverses():
    x = numbers()[3:]
    slope, curvature = (jax.jit(f)(x) for f in (_slope, jax.grad(lambda x: _slope(x).sum())))
    np.testing.assert_allclose(slope, 1 / x, rtol=1e-15, atol=1e-307)
    is_small = np.abs(np.log10(x)) < 150
    np.testing.assert_allclose(curvature[is_small], -1 / x[is_small] ** 2, rtol=1e-14)


def test_few_numbers_and_short_ones_are_left_to_xla():
    for x in (np.linspace(0.1, 3.0, 30), np.linspace(0.1, 3.0, 5_000, dtype=np.float32)):
        np.testing.assert_array_equal(jax.jit(quick_log)(x), jax.jit(jnp.log)(x))


def _slope(x: Any) -> Any:
    return jax.grad(lambda x: quick_log(x).sum())(x)


def test_logarithms_of_negative_numbers_are_nan_however_many_they_are():
    assert np.isnan(jax.jit(quick_log)(np.repeat([-np.inf, -1.0, -1e-300], 2_000))).all()
