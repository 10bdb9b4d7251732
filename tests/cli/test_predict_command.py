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
    assert again[0] == 2 and "is there already" in again[2]


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
