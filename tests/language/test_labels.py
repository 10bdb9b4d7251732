"""Check that labels of entries are one thing each, and that others are refused where they are given."""

import datetime

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.errors import OptionError, SiteError
from accord.report.labels import as_labels


def labels_of(coords):
    """The labels of a plate in the layout of its draws."""

    @ac.model
    def model():
        with ac.plate("group", len(coords), coords=coords):
            ac.sample("t", dist.Normal(0, 1))

    return [*as_labels(model().log_density().layout.coords["group"])]


DAYS = ["2020-01-01", "2020-01-02"]
DATES = [np.datetime64(day) for day in DAYS]
READ = {
    "words": (["a", "b"], ["a", "b"]),
    "numbers of any array": (np.arange(2), [0, 1]),
    "numbers of jax": (jnp.arange(2), [0, 1]),
    "numbers and words": (["a", 1], ["a", "1"]),
    "days of numpy": (np.array(DAYS, "datetime64[D]"), DATES),
    "the same in nanoseconds": (np.array(DAYS, "datetime64[ns]"), DATES),
    "days of Python": ([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 2)], DATES),
    "hours": ([datetime.datetime(2020, 1, 1, 5)], [np.datetime64("2020-01-01T05", "s")]),
    "truth values": ([False, True], [False, True]),
}


@pytest.mark.parametrize("case", READ.values(), ids=READ)
def test_labels_are_read_as_files_keep_them(case):
    given, wanted = case
    assert labels_of(given) == wanted


REFUSED = {
    "twice": (["a", "b", "a"], ["plate 'group': coords: 'a' is the label of entries 0 and 2", "fromkeys"]),
    "equal as numbers": ([1, 1.0], ["1.0 is the label of entries"]),
    "nothing": (["a", None], ["label 1 is missing (None)"]),
    "not a number": ([0.5, float("nan")], ["label 1 is missing (nan)"]),
    "not a number among words": (["a", float("nan")], ["label 1 is missing (nan)"]),
    "no time": (np.array(["2020", "NaT"], "datetime64[D]"), ["label 1 is missing"]),
    "parts": ([("a", 1), ("b", 2)], ["one label for each entry", "join"]),
    "an axis too many": (np.zeros((2, 2)), ["one label for each entry"]),
    "no label": ([object()], ["label 0 is a object", "strings, numbers or dates"]),
    "complex": ([1j], ["label 0 is a complex"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_labels_by_which_nothing_could_be_found_are_refused(case):
    given, words = case
    with pytest.raises(OptionError) as caught:
        labels_of(given)
    assert all(word in str(caught.value) for word in words), caught.value


def test_labels_of_scans_and_of_dims_are_read_alike():
    @ac.model
    def series():
        def step(carry, _):
            return ac.sample("x", dist.Normal(carry, 1)), None

        ac.scan(step, 0.0, None, length=2, name="day", coords=["a", "a"])

    @ac.model
    def named():
        ac.sample("v", dist.Normal(0, 1).expand([2]), dims={"column": ["a", "a"]})

    for model, word in ((series, "ac.scan: coords"), (named, "site 'v': the labels of dim 'column'")):
        with pytest.raises((OptionError, SiteError), match=f"{word}: 'a' is the label of"):
            model().sites()


def test_missing_entries_have_the_labels_of_their_plates():
    @ac.model
    def gaps(y):
        with ac.plate("row", 3, coords=["a", "b", "c"]), ac.plate("column", 2, dim=-2):
            ac.sample("y", dist.Normal(0, 1), obs=np.nan_to_num(y), obs_mask=~np.isnan(y))

    y = np.zeros((2, 3))
    y[0, 1] = y[1, 2] = np.nan
    assert gaps(y).log_density().layout.coords["y_missing"].tolist() == ["0,b", "1,c"]

    @ac.model
    def row(y):
        with ac.plate("row", 3, coords=["a", "b", "c"]):
            ac.sample("y", dist.Normal(0, 1), obs=np.nan_to_num(y), obs_mask=~np.isnan(y))

    assert row(y[0]).log_density().layout.coords["y_missing"].tolist() == ["b"]
