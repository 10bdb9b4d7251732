"""Test the studentized range against printed tables, against what it is for two groups, and what it refuses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled

import accord.distributions as dist
from accord.core.errors import DistributionError


def test_quantiles_of_tukey_tables_have_the_chance_of_their_heading() -> None:
    # Four digits of the upper 5 % points, as in Harter (1960), Ann. Math. Stat. 31(4), 1122-1147.
    df = np.array([1.0, 5.0, 10.0, 20.0, 120.0])
    printed = {3: [26.98, 4.602, 3.877, 3.578, 3.356], 10: [49.07, 6.995, 5.598, 5.008, 4.560]}

    def chances(x: Any) -> list[jax.Array]:
        return [dist.StudentizedRange(df, n).cdf(x[n]) for n in printed]

    for found in compiled(chances)({n: np.array(x) for n, x in printed.items()}):
        assert_close(found, np.full(5, 0.95), atol=2e-4)


@pytest.mark.slow
def test_for_two_groups_it_is_a_student_t_variable_without_its_sign() -> None:
    df, x = np.array([0.5, 3.0, 40.0]), np.array([0.01, 2.0, 9.0])

    def both(df: Any, x: Any) -> tuple[Any, ...]:
        two, one = dist.StudentizedRange(df, 2), dist.HalfStudentT(df, np.sqrt(2.0))
        entropy = dist.StudentT(df, 0.0, np.sqrt(2.0)).entropy() - jnp.log(2.0)
        summaries = (two.mean, one.mean), (two.variance, one.variance), (two.mode, one.mode)
        tails = (two.log_cdf(x), one.log_cdf(x)), (two.log_survival(x), one.log_survival(x))
        return (two.log_prob(x), one.log_prob(x)), *tails, *summaries, (two.entropy(), entropy)

    for found, expected in compiled(both)(df, x):
        assert_close(found, expected, rtol=1e-12)


@pytest.mark.parametrize("num_groups", [1, 201, 3.0])
def test_an_invalid_number_of_groups_is_refused(num_groups: Any) -> None:
    with pytest.raises(DistributionError) as caught:
        dist.StudentizedRange(5.0, num_groups)
    for word in ("StudentizedRange", "num_groups", repr(num_groups), "from 2 to 200"):
        assert word in str(caught.value)
