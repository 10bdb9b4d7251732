"""Run the commands as a user would, and read what they print."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.cli import examples
from accord.cli.running import bind
from accord.cli.source import import_model
from accord.core.errors import OptionError

FEW = ("--draws", "100", "--warmup", "100", "--chains", "2")


def test_sample_prints_a_summary_and_where_the_run_is(folder, accord):
    status, out, err = accord("sample", "one.py", "--data", "data.json", "--out", "run", *FEW)
    assert status == 0
    assert "ess_bulk" in out and "\nb " in out
    assert "Stored in run." in out and "accord summary run" in out and "infer.load('run')" in out
    assert "sample 100/100" in err
    assert infer.load("run")["b"].shape == (2, 100)


def test_sample_draws_what_the_library_draws(folder, accord):
    accord("sample", "one.py", "--data", "data.json", "--out", "run", "--seed", "5", "--thinning", "2", *FEW)

    @ac.model
    def slope(x, y, scale=1.0):
        b = ac.sample("b", dist.Normal(0, 10))
        ac.sample("y", dist.Normal(b * x, scale), obs=y)

    model = slope(np.array([1, 2, 3]), np.array([2.1, 3.9, 6.2]))
    draws = infer.sample(model, draws=100, warmup=100, chains=2, seed=5, thinning=2, quiet=True)
    np.testing.assert_array_equal(infer.load("run")["b"], draws["b"])


def test_runs_without_a_folder_are_numbered(folder, accord):
    for number in (1, 2):
        _, out, _ = accord("sample", "one.py", "--data", "data.json", "--quiet", *FEW)
        assert f"Stored in {Path('runs') / f'slope-{number}'}." in out


def test_quiet_prints_no_progress_and_no_notices(folder, accord):
    _, out, err = accord(
        "sample", "one.py", "--data", "data.json", "--quiet", "--draws", "20", "--chains", "1"
    )
    assert err == ""
    assert out.lstrip().startswith("mean")


@pytest.mark.parametrize(
    ("arguments", "sampler"),
    [
        (
            ("--max-tree-depth", "5", "--target-accept", "0.9"),
            ("NUTS", {"max_tree_depth": 5, "target_accept": 0.9}),
        ),
        (("--sampler", "hmc", "--trajectory-length", "2"), ("HMC", {"trajectory_length": 2.0})),
        (("--sampler", "hmc", "--max-steps", "50"), ("HMC", {"max_steps": 50})),
        (("--metric", "low_rank"), ("NUTS", {"metric": "low_rank"})),
    ],
)
def test_options_reach_the_sampler(folder, accord, arguments, sampler):
    status, _, err = accord("sample", "one.py", "--data", "data.json", "--out", "run", *FEW, *arguments)
    assert status == 0, err
    used = infer.load("run").manifest["sampler"]
    assert used["name"] == sampler[0]
    assert used.items() >= sampler[1].items()


def test_precision_reaches_the_run(folder, accord):
    accord("sample", "one.py", "--data", "data.json", "--out", "run", "--precision", "float32", *FEW)
    assert infer.load("run")["b"].dtype == np.float32


def test_a_model_is_chosen_by_name_where_there_are_several(folder, accord):
    status, _, err = accord("sample", "two.py:slope", "--data", "data.json", "--out", "run", *FEW)
    assert status == 0, err


def test_summary_prints_a_stored_run_with_its_notices(folder, accord):
    accord(
        "sample", "one.py", "--data", "data.json", "--out", "run", "--draws", "20", "--chains", "1", "--quiet"
    )
    status, out, _ = accord("summary", "run")
    assert status == 0
    assert "1 chains x 20 draws" in out and "ess_bulk" in out
    assert "20 draws per chain are too few" in out


def test_a_summary_is_json_on_request_with_null_for_what_is_unknown(folder, accord):
    one = ("--draws", "20", "--chains", "1", "--quiet")
    accord("sample", "one.py", "--data", "data.json", "--out", "run", *one)
    status, out, _ = accord("summary", "run", "--json")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    found = json.loads(out, parse_constant=refuse)
    (row,) = found["rows"]
    table = infer.load("run").summary()
    assert status == 0 and row["name"] == "b" and row["mean"] == table["mean"][0]
    assert row["r_hat"] is None  # of one chain
    assert (found["model"], found["chains"], found["draws"], found["num_rows"]) == ("slope", 1, 20, 1)
    assert {each["code"] for each in found["notices"]} == {each.code for each in infer.load("run").notices}


def test_a_summary_shows_the_sites_rows_and_columns_that_are_asked_for(folder, accord):
    accord("example", "eight_schools", "--out", "schools", "--quiet", *FEW)
    some = ("summary", "schools", "--site", "th*", "--site", "mu", "--rows", "2")
    _, out, _ = accord(*some, "--kind", "stats", "--prob", "0.5")
    lines = out.splitlines()
    assert lines[1].split() == ["mean", "sd", "25%", "50%", "75%", "shape"]
    assert [line.split("[")[0] for line in lines[2:4]] == ["theta", "theta"]
    assert lines[4].startswith("... and 7 more rows")
    found = json.loads(accord(*some, "--json", "--interval", "hdi", "--kind", "diagnostics")[1])
    assert len(found["rows"]) == 2 and found["num_rows"] == 9
    assert list(found["rows"][0]) == ["name", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]


def test_a_run_that_must_not_be_used_ends_with_a_status_and_the_reason(folder, accord):
    accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
    assert accord("summary", "run")[0] == 0
    # Earlier versions spelled some codes with hyphens: a stored run keeps them.
    notices = [
        dict(severity="warning", code="prior-only", message="This was seen.", remedy="", sites=[]),
        dict(severity="error", code="r_hat", message="Chains disagree.", remedy="Draw more.", sites=["b"]),
    ]
    run = infer.RunFolder("run").reopen()
    run.record("notices", notices)
    run.close()
    assert [notice.code for notice in infer.load("run").notices] == ["prior-only", "r_hat"]
    for command in (("summary", "run"), ("resume", "run", "one.py", "--data", "data.json", "--quiet")):
        status, out, err = accord(*command)
        assert status == 1
        assert "ess_bulk" in out
        assert err.splitlines()[-1] == "error: do not use these draws (r_hat): Chains disagree."


def test_summary_names_a_damaged_segment(folder, accord):
    accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
    last = sorted(Path("run/chain-0001").iterdir())[-1]
    last.write_bytes(b"nothing")
    _, _, err = accord("summary", "run")
    assert "damage:" in err and last.name in err


def test_example_runs_a_model_that_comes_along(folder, accord):
    status, out, _ = accord("example", "eight_schools", "--out", "schools", "--quiet", *FEW)
    assert status == 0
    assert "Estimate the effect of coaching" in out and "theta" in out
    assert infer.load("schools")["theta"].shape == (2, 100, 8)


@pytest.mark.parametrize("arguments", [("example",), ("example", "--list")])
def test_the_examples_are_listed_with_what_they_are(accord, arguments):
    status, out, _ = accord(*arguments)
    assert status == 0
    assert len(out.splitlines()) == 17
    assert all(line.split(maxsplit=1)[1].endswith(".") for line in out.splitlines())


def test_the_version_is_that_of_the_package(accord):
    assert accord("--version") == (0, f"accord {ac.__version__}\n", "")


def test_ctrl_c_ends_with_the_status_of_an_interrupt(folder, accord, monkeypatch):
    sample = infer.sample
    monkeypatch.setattr(
        infer,
        "sample",
        lambda *args, **options: replace(sample(*args, **options), complete=False, requested=200),
    )
    status, out, _ = accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
    assert status == 130
    assert "Stored in run." in out and "accord resume run FILE" in out


def test_a_chain_that_failed_ends_with_a_status_of_its_own(folder, accord, monkeypatch):
    sample = infer.sample
    monkeypatch.setattr(
        infer, "sample", lambda *args, **options: replace(sample(*args, **options), complete=False)
    )
    status, out, _ = accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
    assert status == 1
    assert "Stored in run." in out and "resume" not in out


def test_resume_goes_on_to_the_draws_of_the_whole_run(folder, accord):
    run = ("--data", "data.json", "--quiet")
    accord("sample", "one.py", "--out", "whole", *FEW, *run)
    accord("sample", "one.py", "--out", "run", *FEW, *run)
    # As if the process had been killed: the last segment of one chain, and all of another, are not there.
    max(Path("run/chain-0000").iterdir()).unlink()
    for path in Path("run/chain-0001").iterdir():
        path.unlink()
    for name in ("record-notices.json", "record-timings.json"):
        Path("run", name).unlink()
    assert not infer.load("run").complete
    status, out, err = accord("resume", "run", "one.py", *run)
    assert status == 0, err
    assert "ess_bulk" in out and "Stored in run." in out and err == ""
    assert infer.load("run").complete
    np.testing.assert_equal(dict(infer.load("run")), dict(infer.load("whole")))


RARE = """
import jax.numpy as jnp
import accord as ac
import accord.distributions as dist


@ac.model
def rare():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("edge", jnp.where(x > 3.0, jnp.nan, 0.0))
"""


def test_resume_raises_where_the_run_was_to_raise(folder, accord):
    (folder / "rare.py").write_text(RARE)
    options = dict(warmup=0, chains=1, init={"x": 0.1}, quiet=True)
    with import_model("rare.py") as function:
        places = infer.sample(function(), draws=2000, **options).failures
        first = min(each.draw for each in places)
        run = infer.sample(
            function(), draws=first, store=infer.RunFolder("run"), on_nonfinite="raise", **options
        )
    assert run.complete
    run = infer.RunFolder("run").reopen()
    run.record("extended", 2000)  # as if an extension had died at once
    run.close()
    status, out, err = accord("resume", "run", "rare.py", "--quiet")
    assert (status, out) == (2, "")
    assert err.startswith(f"error: chain 0, draw {first} of sample: a log density that is not finite.")


def test_a_calibration_is_printed_and_resumed_but_has_no_draws(folder, accord):
    with import_model("one.py") as function:
        model = bind(function, Path("data.json"))
        options = dict(simulations=3, draws=10, warmup=50, thinning=1, quiet=True)
        infer.calibrate(model, store=infer.RunFolder("run"), **options)
    shutil.rmtree("run/chain-0001")
    status, out, err = accord("summary", "run")
    assert status == 1 and "in 2 of 3 simulations" in out and "the calibration has failed (incomplete)" in err
    status, out, _ = accord("resume", "run", "one.py", "--data", "data.json")
    assert status == 0 and "in 3 of 3 simulations" in out and "calibration = infer.load('run')" in out
    for command in (("predict", "run", "one.py", "--data", "data.json"), ("summary", "run", "--json")):
        status, _, err = accord(*command)
        assert status == 2 and "run holds a calibration of the model 'slope', and no draws" in err


def test_a_fit_and_populations_are_printed_and_resumed_but_have_no_draws(folder, accord):
    with import_model("one.py") as function:
        model = bind(function, Path("data.json"))
        infer.fit(model, store=infer.RunFolder("fit"), quiet=True)
        infer.smc(model, populations=2, particles=100, store=infer.RunFolder("smcdraws"), quiet=True)
    for run, name in (
        ("fit", "Fit of slope"),
        ("smcdraws", "SMCDraws of slope"),
    ):
        status, out, _ = accord("summary", run)
        assert status == 0 and name in out
        status, out, _ = accord("resume", run, "one.py", "--data", "data.json")
        assert status == 0 and name in out and f"{run} = infer.load('{run}')" in out
        status, _, err = accord("summary", run, "--json")
        assert status == 2 and f"{run} holds a {run} of the model 'slope', and no draws" in err


def test_a_finished_run_is_resumed_by_printing_it(folder, accord):
    accord("sample", "one.py", "--out", "run", "--data", "data.json", "--quiet", *FEW)
    status, out, _ = accord("resume", "run", "one.py", "--data", "data.json")
    assert status == 0
    assert "ess_bulk" in out and "Stored in run." in out


@pytest.mark.parametrize(
    "where",
    [
        ("--executor", "serial"),
        ("--workers", "1"),
        ("--executor", "processes", "--workers", "1"),
        pytest.param(("--executor", "dask", "--workers", "1"), marks=pytest.mark.slow),
    ],
    ids=lambda where: " ".join(where),
)
def test_the_executor_changes_no_draw(folder, accord, where):
    run = ("--data", "data.json", "--quiet", *FEW)
    accord("sample", "one.py", "--out", "plain", *run)
    status, _, err = accord("sample", "one.py", "--out", "run", *run, *where)
    assert status == 0, err
    np.testing.assert_equal(dict(infer.load("run")), dict(infer.load("plain")))


def test_a_rule_ends_a_run_and_is_printed(folder, accord):
    run = ("--data", "data.json", "--quiet", "--draws", "400", "--warmup", "100", "--chains", "2")
    status, out, err = accord(
        "sample", "one.py", "--out", "run", *run, "--until", "ess=20 and RHat=1.5 or seconds=9999"
    )
    assert status == 0, err
    assert "ESS(20) & RHat(1.5) | Seconds(9999) held at 100 draws per chain: ESS " in out
    assert infer.load("run").num_draws == 100


# Arguments of `accord`, and words that the message must contain.
ERRORS = {
    "no file": (("sample", "none.py"), ["no file 'none.py'"]),
    "not python": (("sample", "data.json"), ["must end in .py"]),
    "no model": (("sample", "empty.py"), ["defines no model", "@ac.model"]),
    "several models": (("sample", "two.py"), ["2 models", "slope, other", "two.py:slope"]),
    "several models, one of them called as the file": (
        ("sample", "other.py"),
        ["slope, other", "as other.py:other"],
    ),
    "unknown model": (("sample", "two.py:slpe"), ["no model 'slpe'", "Did you mean 'slope'", "slope, other"]),
    "no data": (("sample", "one.py"), ["missing argument 'x'", "missing argument 'y'"]),
    "wrong names": (
        ("sample", "one.py", "--data", "wrong.json"),
        ["missing argument 'x'. Did you mean 'X'", "passed over: 'X'"],
    ),
    "complex numbers": (("sample", "one.py", "--data", "complex.npz"), ["argument 'x'", "are complex"]),
    "no data file": (("sample", "one.py", "--data", "no.json"), ["no file 'no.json'"]),
    "unknown kind": (("sample", "one.py", "--data", "data.xlsx"), [".json, .csv, .tsv, .npz, .parquet"]),
    "sampler": (("sample", "one.py", "--sampler", "nut"), ["nuts or hmc", "Did you mean 'nuts'"]),
    "option of the other": (
        ("sample", "one.py", "--sampler", "hmc", "--max-tree-depth", "3"),
        ["max_tree_depth"],
    ),
    "precision": (("sample", "one.py", "--data", "data.json", "--precision", "float46"), ["float64"]),
    "draws": (("sample", "one.py", "--data", "data.json", "--draws", "0"), ["draws", "at least 1"]),
    "more draws than can be counted": (
        ("sample", "one.py", "--data", "data.json", "--draws", "9" * 400),
        ["draws must be at most 2147483647", "digits"],
    ),
    "more draws before thinning than can be counted": (
        ("sample", "one.py", "--data", "data.json", "--draws", "100000", "--thinning", "100000"),
        ["draws=100000 with thinning=100000", "at most 2147483647"],
    ),
    "more warm-up than can be counted": (
        ("sample", "one.py", "--data", "data.json", "--warmup", str(10**18)),
        ["warmup must be at most 2147483647"],
    ),
    "more steps than can be counted": (
        ("sample", "one.py", "--sampler", "hmc", "--max-steps", "9" * 400),
        ["max_steps must be an integer from 1 to 2147483647"],
    ),
    "a name that no file can have": (("sample", "m" * 5000), ["no file 'mmm", "(5003 letters)"]),
    "a name that no run can have": (("summary", "r" * 5000), ["File name too long"]),
    "a long name": (("example", "e" * 5000), ["no example 'eee", "(5003 letters)"]),
    "a name that no array file can have": (
        ("predict", "run", "one.py", "--out", "x" * 5000 + ".npz"),
        ["--out", "File name too long"],
    ),
    "executor": (
        ("sample", "one.py", "--executor", "thread"),
        ["threads, processes, serial, dask or ray", "Did you mean 'threads'"],
    ),
    "workers": (("sample", "one.py", "--workers", "0"), ["Threads", "at least 1"]),
    "workers of serial": (("sample", "one.py", "--executor", "serial", "--workers", "2"), ["serial has one"]),
    "cluster of none": (("sample", "one.py", "--cluster", "tcp://127.0.0.1:1"), ["dask or ray, not threads"]),
    "cluster of others": (
        ("sample", "one.py", "--executor", "dask", "--cluster", "tcp://10.0.0.5:1"),
        ["another machine", "insecure=True"],
    ),
    "rule": (
        ("sample", "one.py", "--until", "es=9"),
        ["ess, rhat, mcse, seconds", "'es=9'", "Did you mean 'ess'"],
    ),
    "rule without number": (("sample", "one.py", "--until", "rhat=low"), ["rhat= needs a number", "'low'"]),
    "rule of nothing": (("sample", "one.py", "--until", "ess=0"), ["ESS: target must be a positive number"]),
    "no run": (("summary", "nowhere"), ["no folder nowhere"]),
    "no run to resume": (("resume", "nowhere", "one.py", "--data", "data.json"), ["no folder nowhere"]),
    "no example": (("example", "eight_school"), ["Did you mean 'eight_schools'", "--list"]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_one_message_without_a_traceback(folder, accord, name):
    arguments, words = ERRORS[name]
    (folder / "wrong.json").write_text('{"X": [1.0], "y": [1.0]}')
    np.savez(folder / "complex.npz", x=np.array([1j]), y=np.ones(1))
    status, out, err = accord(*arguments)
    assert status == 2
    assert out == "" and "Traceback" not in err and err.startswith("error: ")
    assert all(word in err for word in words), err
    assert not (folder / "runs").exists()


def test_a_folder_that_holds_a_run_is_not_written_over(folder, accord):
    for expected in (0, 2):
        status, _, err = accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
        assert status == expected
    assert "already holds a run" in err


def test_resume_names_what_differs(folder, accord):
    accord("sample", "one.py", "--data", "data.json", "--out", "run", "--quiet", *FEW)
    (folder / "other.json").write_text('{"x": [1, 2, 3], "y": [2.1, 3.9, 6.3]}')
    status, _, err = accord("resume", "run", "one.py", "--data", "other.json")
    assert status == 2
    assert "started differently" in err and "y" in err


def test_an_unknown_option_is_refused(folder, accord):
    status, _, err = accord("sample", "one.py", "--darws", "3")
    assert status == 2
    assert "--draws" in err


def test_importing_a_file_leaves_nothing_behind(folder, accord):
    path, modules = list(sys.path), set(sys.modules)
    accord("sample", "one.py")
    assert sys.path == path
    assert not [
        name for name in set(sys.modules) - modules if name == "one" or name.startswith("accord_model")
    ]


def test_an_example_without_its_data_says_where_they_are(tmp_path):
    for name in ("large", "small"):
        (tmp_path / "examples" / name).mkdir(parents=True)
        (tmp_path / "examples" / name / "model.py").write_text('"""Some model."""\n')
    (tmp_path / "examples" / "small" / "data.json").write_text("{}")
    assert [example.name for example in examples.find_all(tmp_path)] == ["small"]
    with pytest.raises(OptionError, match="'large' are too large for the installed package"):
        examples.find("large", tmp_path)


def test_an_example_that_needs_an_extra_says_which(accord, monkeypatch):
    monkeypatch.setitem(sys.modules, "diffrax", None)
    status, _, err = accord("example", "lotka_volterra")
    assert status == 2
    assert 'pip install "accord[ode]"' in err
