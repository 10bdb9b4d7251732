"""Check that what a NumPy mask hides is never used as data."""

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError

HIDDEN = np.ma.masked_array([1.0, 2.0, 999.0], [False, False, True])
SHOWN = np.ma.masked_array([1.0, 2.0, 3.0], False)
TABLE = np.ma.array([(1.0, 2.0)] * 3, mask=[(False, True)] * 3, dtype=[("x", float), ("y", float)])


@ac.model
def line(x, y=None):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(b * x, 1), obs=y)


@ac.model
def closed(obs=False, parameter=False, mask=False):
    with ac.plate("row", 3):
        loc = ac.sample("loc", dist.Normal(HIDDEN if parameter else np.zeros(3), 1))
        is_seen = np.ma.masked_array([True, True, False], HIDDEN.mask) if mask else None
        ac.sample("y", dist.Normal(loc, 1), obs=HIDDEN if obs else np.zeros(3), obs_mask=is_seen)


X = np.ones(3)
# What is given, and the words that the message must contain beside the number of entries.
REFUSED = {
    "an argument": (lambda: line(HIDDEN), ["argument 'x'", "1 of 3", "index 2", "filled", "obs_mask"]),
    "an argument by name": (lambda: line(X, y=HIDDEN), ["argument 'y'", "1 of 3"]),
    "several axes": (lambda: line(np.ma.masked_array([[1, 2]], [[0, 1]])), ["1 of 2", "index (0, 1)"]),
    "one number": (lambda: line(HIDDEN[2]), ["argument 'x'", "1 of 1"]),
    "an entry of a list": (lambda: line([1.0, np.ma.masked, 2.0]), ["argument 'x'", "1 of 3", "index 1"]),
    "the first entry of a list": (lambda: line([np.ma.masked, 1.0]), ["argument 'x', entry 0"]),
    "objects": (lambda: line(HIDDEN.astype(object)), ["argument 'x'", "1 of 3"]),
    "words": (lambda: line(np.ma.masked_array(["1", "2"], [0, 1])), ["argument 'x'", "1 of 2"]),
    "a static argument": (lambda: line(ac.static(HIDDEN)), ["argument 'x'"]),
    "part of a tree": (lambda: line({"a": HIDDEN}), ["argument 'x', entry 'a'"]),
    "a column of a mapping": (lambda: line.bind({"x": HIDDEN, "y": X}), ["argument 'x'"]),
    "a column of a table": (lambda: line.bind(TABLE), ["argument 'y'", "3 of 3"]),
    "new data": (lambda: line(X, X).log_density().with_data({"x": HIDDEN}), ["argument 'x'"]),
    "a condition": (lambda: line(X).condition({"y": HIDDEN}), ["site 'y'", "1 of 3"]),
    "an intervention": (lambda: line(X).do({"b": HIDDEN[2]}), ["site 'b'"]),
    "data closed over": (lambda: closed(obs=True).log_density(), ["site 'y'", "1 of 3"]),
    "a parameter closed over": (lambda: closed(parameter=True).log_density(), ["Normal: loc", "1 of 3"]),
    "what is observed": (lambda: closed(mask=True).log_density(), ["site 'y'", "obs_mask", "1 of 3"]),
    "a start": (lambda: infer.from_values({"b": HIDDEN[2]}), ["init: site 'b'"]),
    "a place": (lambda: line(X, X).log_density().unconstrain({"b": HIDDEN[2]}), ["unconstrain: site 'b'"]),
    "draws": (
        lambda: infer.predict({"b": np.ma.masked_array(np.zeros((1, 2)), [[0, 1]])}, line(X)),
        ["draws of site 'b'", "1 of 2"],
    ),
    "labels of levels": (
        lambda: ac.levels(["a"], levels=np.ma.masked_array(["a", "b"], [0, 1])),
        ["ac.levels: levels", "1 of 2"],
    ),
    "categories": (lambda: ac.levels(np.ma.masked_array([1, 2, 9], [0, 0, 1])), ["1 of 3", "row 2"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_masked_entries_are_refused_and_counted(case):
    call, words = case
    with pytest.raises(AccordError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "give", [lambda a: line(a), lambda a: line(X, y=a), lambda a: line(X).condition({"y": a})]
)
def test_a_masked_array_that_hides_nothing_is_an_array(give):
    shown, plain = give(SHOWN).log_density(), give(np.asarray(SHOWN)).log_density()
    assert list(shown.data) == list(plain.data)
    for name, array in shown.data.items():
        assert type(array) is np.ndarray
        np.testing.assert_array_equal(array, plain.data[name])


def test_masked_categories_are_missing_where_missing_ones_are_wanted():
    column = np.ma.masked_array(["a", "?", "b"], [False, True, False])
    kept = ac.levels(column, missing="keep")
    np.testing.assert_array_equal(kept.codes, [0, -1, 1])
    assert kept.levels == ("a", "b")
    assert ac.levels(column, missing="level").levels == ("a", "b", "missing")
