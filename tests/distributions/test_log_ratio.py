"""Compare the logarithm of a quotient with 50 digits."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from accord.distributions.special.basic.smooth import log_ratio_by_logs


# By how far the logarithms lie apart: the error allowed, in units of the result, with log(y) up to 10, in units of the
# last digit of either precision.
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize(
    ("low", "high", "units"), [(1e-12, 0.01, 2.3), (0.01, 0.2, 2.3), (0.2, 0.5, 90.0), (0.5, 80.0, 45.0)]
)
def test_the_logarithm_of_a_quotient_is_exact_where_it_is_small(low, high, units, dtype):
    rng = np.random.default_rng(0)
    y = np.exp(rng.uniform(-10, 10, 200)).astype(dtype)
    apart = rng.uniform(low, high, 200) * rng.choice([-1, 1], 200)
    x = (
        y * np.exp(np.where(abs(apart) + abs(np.log(y)) < 85, apart, -np.sign(np.log(y)) * abs(apart)))
    ).astype(dtype)
    with mpmath.workdps(50):
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        exact = [mpmath.log(mpmath.mpf(a) / mpmath.mpf(b)) for a, b in pairs]
        found = np.asarray(log_ratio_by_logs(jnp.asarray(x), jnp.asarray(y)))
        assert found.dtype == dtype
        worst = max(
            abs(each / true - 1) if true else abs(each)
            for each, true in zip(found.tolist(), exact, strict=True)
        )
    assert worst < units * np.finfo(dtype).eps


LARGE = {"float64": (1e308, 1e300, 600 * np.log(10)), "float32": (1e38, 1e30, 60 * np.log(10))}


@pytest.mark.parametrize("dtype", LARGE)
def test_the_logarithm_of_a_quotient_does_not_overflow(dtype):
    most, much, difference = LARGE[dtype]
    x = jnp.array([1.7 * most, most, much, 1 / much, 3.0], dtype)
    y = jnp.array([1.5 * most, most, 1 / much, much, 3.0], dtype)
    expected = [np.log(17 / 15), 0.0, difference, -difference, 0.0]
    np.testing.assert_allclose(log_ratio_by_logs(x, y), expected, rtol=45 * float(np.finfo(dtype).eps))
