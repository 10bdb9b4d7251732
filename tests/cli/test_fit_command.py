"""Fit guides from the command line, and read what is printed."""

from pathlib import Path

import numpy as np
import pytest

from accord import infer
from accord.cli.running import bind
from accord.cli.source import import_model


def test_fit_prints_a_table_and_fits_what_the_library_fits(folder, accord):
    options = ("--guide", "full_rank", "--steps", "50", "--restarts", "2", "--seed", "3")
    status, out, err = accord("fit", "one.py", "--data", "data.json", "--out", "fit", *options)
    assert status == 0
    assert "Fit of slope: FullRank by ELBO" in out and "mean" in out and "\nb " in out
    assert "Stored in fit." in out and "fit = infer.load('fit')" in out
    assert "not_converged" not in out and "took all of its 50 steps" in err
    with import_model("one.py") as function:
        same = infer.fit(
            bind(function, Path("data.json")),
            infer.guides.FullRank(),
            steps=50,
            restarts=2,
            seed=3,
            quiet=True,
        )
    np.testing.assert_array_equal(infer.load("fit").losses[1], same.losses[1])
    status, out, _ = accord("summary", "fit")
    assert status == 0 and "Fit of slope: FullRank by ELBO" in out


def test_fits_without_a_folder_are_numbered_and_resumed_with_a_table(folder, accord):
    status, out, err = accord("fit", "one.py", "--data", "data.json", "--quiet")
    assert (status, err) == (0, "") and f"Stored in {Path('runs') / 'slope-1'}." in out
    status, out, _ = accord("resume", "runs/slope-1", "one.py", "--data", "data.json", "--quiet")
    assert status == 0 and "sd_lr" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--guide", "full-rank"), "Did you mean 'full_rank'"),
        (("--steps", "0"), "steps must be"),
        (("--executor", "thread"), "--executor must be"),
    ],
)
def test_what_is_no_option_of_a_fit_is_refused_before_it_begins(folder, accord, options, words):
    status, _, err = accord("fit", "one.py", "--data", "data.json", "--out", "fit", *options)
    assert status == 2 and words in err
    assert not Path("fit").exists()
