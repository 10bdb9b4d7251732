"""Check that what the run's precision does to data is refused or told."""

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.errors import DataError


@ac.model
def line(x, y=None):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(b * x, 1), obs=y)


X = np.ones(3)
WIDE = np.array(["1e400", "1", "2"], np.longdouble)
is_wide = pytest.mark.skipif(not np.isfinite(WIDE[0]), reason="a longdouble is no wider than a double here")
# What is given, the precision of the run, and words that the message must contain.
TOO_LARGE = {
    "longdouble": pytest.param(lambda: WIDE, "float64", ["1 of 3", "float64", "1e+400"], marks=is_wide),
    "float64": (
        lambda: np.array([1e300, 1.0, 2.0]),
        "float32",
        ["1 of 3", "float32", "1e+300", "run in float64"],
    ),
    "a list": (lambda: [1e300, 1.0, 2.0], "float32", ["1 of 3", "1e+300"]),
    "objects": (lambda: np.array([10**400, 0.5, 1.0], object), "float64", ["do not fit float64"]),
}


@pytest.mark.parametrize(("give", "precision", "words"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_numbers_do_not_become_infinite_on_the_way_in(give, precision, words):
    with pytest.raises(DataError) as caught:
        ac.LogDensity.from_model(line(give(), X), precision)
    assert all(word in str(caught.value) for word in ["argument 'x'", *words]), caught.value


@is_wide
def test_digits_that_a_double_does_not_have_are_told():
    times = np.longdouble(2_460_000) + np.array([0, 1, 2], np.longdouble) * np.longdouble(1e-8)
    (notice,) = line(times, X).log_density().notices
    assert notice.code == "data_exceeds_precision" and "does not fit float64" in notice.message
    assert not line(np.arange(3, dtype=np.longdouble), X).log_density().notices


def test_infinity_and_big_endian_numbers_are_data_as_they_are():
    given = np.array([np.inf, -np.inf, 1.5], ">f8")
    np.testing.assert_array_equal(
        ac.LogDensity.from_model(line(given), "float32").data["x"], [np.inf, -np.inf, 1.5]
    )
