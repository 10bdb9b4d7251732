"""Test refusals and limits of distributions of counts and of empirical distribution functions."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled

import accord.distributions as dist
from accord.core.errors import DistributionError

REFUSED = {
    "more draws than the exact distribution is for": (
        lambda: dist.KolmogorovSmirnov(1001),
        ["KolmogorovSmirnov", "1001", "from 1 to 1000", "`Kolmogorov`"],
    ),
    "no draws": (lambda: dist.KolmogorovSmirnovOneSided(0), ["size is 0", "Rayleigh"]),
    "a number of draws that is no integer": (lambda: dist.KolmogorovSmirnov(5.0), ["5.0"]),  # type: ignore[arg-type]
    "a spike without a bound on failure": (lambda: dist.Soliton(30, 6), ["Soliton", "failure is missing"]),
    "a spike beyond the symbols": (lambda: dist.Soliton(30, 31, 0.1), ["spike is 31", "1 to 30"]),
    "a level of certainty": (lambda: dist.Soliton(30, 6, 0.1, 1.0), ["atol", "1.0"]),
    "more things taken than there are": (
        lambda: dist.WalleniusHypergeometric(3, 4, 8, 2.0),
        ["WalleniusHypergeometric", "total_count is 8"],
    ),
    "a count that is traced": (lambda: dist.WalleniusHypergeometric(3.0, 4, 2, 2.0), ["num_successes"]),  # type: ignore[arg-type]
    "certain asymmetry": (lambda: dist.SkewedExponentialPower(0, 1, 2, 1.0), ["asymmetry", "1.0"]),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: Callable[[], object], words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_thousand_draws_are_near_the_limiting_distribution_to_one_over_their_root() -> None:
    x = np.array([0.5, 0.8, 1.2, 1.8])
    size = 1000
    exact, limit = compiled(
        lambda x: (
            dist.KolmogorovSmirnov(size).cdf(x / jnp.sqrt(size)),
            dist.Kolmogorov().cdf(x + 1 / 6 / jnp.sqrt(size)),
        )
    )(x)
    # The first term of the expansion in 1 / sqrt(size) is a shift (Kolmogorov's limit, at x + 1 / (6 sqrt(size))).
    assert_close(exact, limit, atol=1 / size)


def test_without_a_preference_things_taken_one_by_one_are_hypergeometric() -> None:
    k = np.arange(4, 9)
    one_by_one, all_at_once = compiled(
        lambda k: (
            dist.WalleniusHypergeometric(8, 5, 9, 1.0).log_prob(k),
            dist.Hypergeometric(8, 5, 9).log_prob(k),
        )
    )(k)
    assert_close(one_by_one, all_at_once)
