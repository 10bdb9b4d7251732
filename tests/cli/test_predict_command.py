"""Run `accord predict` as a user would: what it prints, writes and refuses."""

import json

import numpy as np
import pytest

from accord import infer

MODEL = """
import accord as ac
import accord.distributions as dist


@ac.model
def slope(x, y=None):
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(x)):
        ac.deterministic("file", b * x)
        ac.sample("y", dist.Normal(b * x, 1.0), obs=y)
"""


@pytest.fixture
def stored(folder, accord):
    (folder / "plated.py").write_text(MODEL)
    (folder / "new.json").write_text(json.dumps({"x": [1, 10]}))
    sample = ("sample", "plated.py", "--data", "data.json", "--out", "run", "--quiet")
    assert accord(*sample, "--draws", "50", "--warmup", "100", "--chains", "2")[0] == 0
    return "run", "plated.py", "--data", "new.json"


def test_predict_prints_a_summary_and_writes_the_draws(stored, accord):
    status, out, err = accord("predict", *stored, "--seed", "3", "--out", "ahead.npz")
    assert status == 0 and not err
    assert "predicted: y[2]; computed: file[2]" in out and "y[1]" in out and "numpy.load('ahead.npz')" in out
    with np.load("ahead.npz") as found:
        assert found["y"].shape == (2, 50, 2)
        draws = infer.load("run")
        np.testing.assert_allclose(found["file"][..., 1], 10 * draws["b"])
    again = accord("predict", *stored, "--out", "ahead.npz")
    assert again[0] == 2 and "exists already" in again[2]


def test_predict_takes_sites_and_unknowns_to_redraw(stored, accord):
    _, out, err = accord("predict", *stored, "--site", "y", "--redraw", "b")
    assert "file" not in out and "'b' comes from the prior" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--site", "yy"), "Did you mean 'y'"),
        (("--redraw", "file"), "redraw takes unknowns"),
        (("--out", "ahead.csv"), "ending in .npz"),
        (("--out", "nowhere/ahead.npz"), "no folder 'nowhere'"),
    ],
)
def test_predict_refuses_by_name(stored, accord, options, words):
    status, _, err = accord("predict", *stored, *options)
    assert status == 2 and words in err


LABELLED = """
import accord as ac
import accord.distributions as dist


@ac.model
def regions(names, group, y=None):
    with ac.plate("region", len(names), coords=names):
        effect = ac.sample("effect", dist.Normal(0, 5))
    with ac.plate("row", len(group)):
        ac.deterministic("mean", effect[group])
        ac.sample("y", dist.Normal(effect[group], 1.0), obs=y)
"""


def test_predict_matches_regions_by_their_names(folder, accord):
    (folder / "regions.py").write_text(LABELLED)
    data = {"names": ["north", "south"], "group": [0, 1, 1], "y": [1.0, 2.0, 4.0]}
    for name, changes in {"old": {}, "new": {"names": ["west", "south", "north"], "y": None}}.items():
        (folder / f"{name}.json").write_text(json.dumps(data | changes))
    sample = ("sample", "regions.py", "--data", "old.json", "--out", "run", "--quiet")
    assert accord(*sample, "--draws", "20", "--warmup", "50", "--chains", "1")[0] == 0
    predict = ("predict", "run", "regions.py", "--data", "new.json", "--quiet")
    status, _, err = accord(*predict)
    assert status == 2 and "labels that" not in err and "'west'" in err and "redraw=['effect']" in err
    assert accord(*predict, "--redraw", "effect", "--out", "ahead.npz")[0] == 0
    with np.load("ahead.npz") as found:
        np.testing.assert_array_equal(found["mean"][..., 1], infer.load("run")["effect"][..., 1])
        np.testing.assert_array_equal(found["effect"][..., 2], infer.load("run")["effect"][..., 0])
    assert accord(*predict, "--redraw", "effect=all", "--out", "anew.npz")[0] == 0
    with np.load("anew.npz") as found:
        assert not np.any(found["effect"][..., 2] == infer.load("run")["effect"][..., 0])
    assert '"all"' in accord(*predict, "--redraw", "effect=al")[2]


def test_complex_numbers_in_a_file_are_refused_by_name(folder, accord):
    np.savez(folder / "waves.npz", x=np.array([1 + 1j, 2.0]), y=np.zeros(2))
    (folder / "plated.py").write_text(MODEL)
    status, _, err = accord("sample", "plated.py", "--data", "waves.npz", "--out", "run")
    assert status == 2 and "argument 'x'" in err and "complex" in err and "`z.imag`" in err
