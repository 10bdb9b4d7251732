"""Check that whatever takes data compares indices with their axes, and compiles nothing before it has."""

import numpy as np
import pytest
from test_p7_one_program import RUN, counting

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError

GOOD, BAD = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 1])
Y = np.array([0.3, -0.2, 1.1, 0.4])


@ac.model
def groups(g, y=None):
    """Rows of three groups."""
    with ac.plate("group", 3):
        a = ac.sample("a", dist.Normal(0, 1))
    with ac.plate("row", len(g)):
        ac.sample("y", dist.Normal(a[g], 1), obs=y)


@pytest.fixture(scope="module")
def draws():
    return infer.sample(groups(GOOD, Y), **RUN)


CALLS = {
    "LogDensity.from_model": lambda draws: ac.LogDensity.from_model(groups(BAD, Y)),
    "Model.log_density": lambda draws: groups(BAD, Y).log_density(),
    "with_data": lambda draws: groups(GOOD, Y).log_density().with_data({"g": BAD}),
    "with_data of another length": lambda draws: groups(GOOD).log_density().with_data({"g": BAD[:3]}),
    "sample": lambda draws: infer.sample(groups(BAD, Y), **RUN),
    "sample by devices": lambda draws: infer.sample(
        groups(BAD, Y), executor=infer.Devices(shard="row"), **RUN
    ),
    "find_mode": lambda draws: infer.find_mode(groups(BAD, Y)),
    "calibrate": lambda draws: infer.calibrate(groups(BAD, Y)),
    "prior": lambda draws: groups(BAD).prior(draws=3),
    "predict": lambda draws: infer.predict(draws, groups(BAD)),
    "log_likelihood": lambda draws: infer.log_likelihood(draws, groups(BAD, Y)),
}


@pytest.mark.parametrize("case", CALLS)
def test_nothing_is_compiled_for_data_that_index_another_group(case, draws):
    with (
        counting() as compiled,
        pytest.raises(DataError, match=r"argument 'g': row 2 is 3.*plate 'group' of size 3"),
    ):
        CALLS[case](draws)
    assert not compiled


def test_a_check_reports_an_index_that_does_not_fit():
    report = infer.check(groups(BAD, Y))
    assert "Argument 'g': row 2 is 3" in str(report) and "plate 'group' of size 3" in str(report)
