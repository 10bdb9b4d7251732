"""Sample models of formulas from the command line."""

import numpy as np
import pytest

import accord as ac
from accord import infer

pytest.importorskip("formulae")

LINES = ["count,x,day", *(f"{place % 4},{place / 10},2024-01-0{place % 9 + 1}" for place in range(24))]


@pytest.fixture
def table(folder):
    (folder / "table.csv").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return {"count": [place % 4 for place in range(24)], "x": [place / 10 for place in range(24)]}


def test_glm_prints_a_table_and_draws_what_the_library_draws(table, accord):
    options = (
        "--family",
        "poisson",
        "--draws",
        "30",
        "--warmup",
        "30",
        "--chains",
        "2",
        "--seed",
        "4",
        "--out",
        "run",
    )
    status, out, _ = accord("glm", "count ~ x", "table.csv", *options, "--quiet")
    assert status in (0, 1) and "Intercept" in out and "Stored in run." in out  # 1: few draws may disagree
    same = infer.sample(
        ac.glm("count ~ x", table, "poisson"),
        draws=30,
        warmup=30,
        chains=2,
        seed=4,
        quiet=True,
        progress=False,
    )
    np.testing.assert_array_equal(infer.load("run")["x"], same["x"])


def test_the_code_is_printed(table, accord):
    status, out, _ = accord("glm", "count ~ x", "table.csv", "--family", "poisson", "--code")
    assert (status, out) == (0, str(ac.glm("count ~ x", table, "poisson").source))


@pytest.mark.parametrize(
    ("formula", "options", "words"),
    [
        ("count ~ y", (), "no column 'y'"),
        ("count ~ xx", (), "Did you mean 'x'"),
        ("count ~ day", (), "day"),
        ("count ~ x", ("--family", "poison"), "Did you mean 'poisson'"),
        ("count + x", (), "outcome ~ terms"),
        ("count ~ x", ("--executor", "thread"), "--executor must be"),
    ],
)
def test_what_cannot_be_used_is_refused(table, accord, formula, options, words):
    status, _, err = accord("glm", formula, "table.csv", "--out", "run", *options)
    assert status == 2 and words in err
