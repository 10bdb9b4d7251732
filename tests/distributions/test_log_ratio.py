"""Compare the logarithm of a quotient with 50 digits."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from accord.distributions.special.basic.smooth import log_ratio_by_logs


# by how far the logarithms lie apart: the error allowed, in units of the result, with log(y) up to 10
@pytest.mark.parametrize(
    ("low", "high", "error"),
    [(1e-12, 0.01, 5e-16), (0.01, 0.2, 5e-16), (0.2, 0.5, 2e-14), (0.5, 600.0, 1e-14)],
)
def test_the_logarithm_of_a_quotient_is_exact_where_it_is_small(low, high, error):
    rng = np.random.default_rng(0)
    y = np.exp(rng.uniform(-10, 10, 200))
    x = y * np.exp(rng.uniform(low, high, 200) * rng.choice([-1, 1], 200))
    with mpmath.workdps(50):
        exact = [mpmath.log(mpmath.mpf(a) / mpmath.mpf(b)) for a, b in zip(x, y, strict=True)]
        found = np.asarray(log_ratio_by_logs(jnp.asarray(x), jnp.asarray(y)))
        worst = max(abs(each / float_ - 1) for each, float_ in zip(found.tolist(), exact, strict=True))
    assert worst < error


def test_the_logarithm_of_a_quotient_does_not_overflow():
    x = jnp.array([1.7e308, 1e308, 1e300, 1e-300, 3.0])
    y = jnp.array([1.5e308, 1e308, 1e-300, 1e300, 3.0])
    expected = [np.log(17 / 15), 0.0, 600 * np.log(10), -600 * np.log(10), 0.0]
    np.testing.assert_allclose(log_ratio_by_logs(x, y), expected, rtol=1e-14)
