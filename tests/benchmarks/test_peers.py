"""Hold the series of benchmarks together: its order, its cells, its verdicts, its page, and every engine's models."""

import ast
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from folders import BENCHMARKS, importable

WORKERS = BENCHMARKS / "peers"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """The folder of commands, where they import one another."""
    with importable(monkeypatch, BENCHMARKS):
        yield


def run(engine, model="eight_schools", **changes):
    """A run as it is kept, with round figures."""
    record = {
        "engine": engine,
        "model": model,
        "repeat": 0,
        "cache": "cold",
        "draws": None,
        "date": "2026-01-01",
        "machine": "a machine",
        "cores": 2,
        "versions": {"accord": "0.1 abc", "jax": "1"},
        "limit": 300.0,
        "settings": "defaults",
        "load": 0.0,
        "error": "",
        "seconds": 10.0,
        "cpu_seconds": 10.0,
        "phases": {"compile": 4.0},
        "gradients": {"warmup": 1000, "sampling": 1000},
        "min_ess": 1000.0,
        "max_r_hat": 1.0,
    }
    return record | changes


def failure(engine, model="eight_schools"):
    """A run that was given up: nothing was measured."""
    kept = (
        "engine",
        "model",
        "repeat",
        "cache",
        "draws",
        "date",
        "machine",
        "cores",
        "versions",
        "limit",
        "settings",
        "load",
    )
    return {name: value for name, value in run(engine, model).items() if name in kept} | {
        "error": "over 300 s"
    }


def functions_of(path):
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_engine_has_a_model_for_whatever_it_is_asked():
    from engines import ENGINES
    from problems import LARGE_MODELS, MODELS

    assert set(MODELS) == {path.parent.name for path in (BENCHMARKS.parent / "examples").glob("*/model.py")}
    known = {
        "numpyro": functions_of(WORKERS / "models_numpyro.py") | functions_of(WORKERS / "large_numpyro.py"),
        "pymc": functions_of(WORKERS / "models_pymc.py") | functions_of(WORKERS / "large_pymc.py"),
        "pystan": {path.stem for path in (WORKERS / "stan").glob("*.stan")},
    }
    for name, engine in ENGINES.items():
        assert (WORKERS / f"{engine.script}.py").exists()
        source = next(
            (known[package] for package in ("pymc", "numpyro", "pystan") if package in engine.packages), None
        )
        wanted = {*MODELS, *LARGE_MODELS} - set(engine.without)
        assert source is None or wanted <= source, name


def test_large_models_are_large_and_simulated_data_always_the_same():
    import simulated
    from problems import LARGE_MODELS, model_of

    from accord.density import LogDensity

    dims = {name: LogDensity.from_model(model_of(name)).dim for name in simulated.DATA}
    assert dims.pop("logistic") == 26
    assert tuple(dims) == LARGE_MODELS and dims == {
        "hierarchical_logistic": 252,
        "horseshoe": 404,
        "stochastic_volatility": 3003,
        "item_response": 10_000,
    }
    for simulate in simulated.DATA.values():
        one, other = simulate(), simulate()
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_first_repeats_come_before_second_ones_and_engines_take_turns():
    from peers import plan

    runs = list(plan(["a", "b"], ["accord", "numpyro"], 2, ("cold", "warm")))
    assert runs == [
        (cache, engine, model, repeat)
        for cache, repeat in (("cold", 0), ("warm", 0), ("cold", 1))
        for model in ("a", "b")
        for engine in ("accord", "numpyro")
    ]


def test_what_has_been_run_is_not_run_again(tmp_path):
    from results import Results, key_of

    first = Results(tmp_path / "runs.jsonl")
    first.add(run("accord"))
    with first.path.open("a") as file:
        file.write('{"engine": "numpy')  # the process was killed here
    again = Results(first.path)
    assert again.has(key_of(run("accord"))) and not again.has(key_of(run("accord", repeat=1)))
    again.add(run("numpyro"))
    assert [each["engine"] for each in Results(first.path).runs] == ["accord", "numpyro"]


def test_an_engine_that_failed_or_took_long_is_not_repeated():
    from results import is_tired

    runs = [run("pymc", seconds=61.0), failure("nutpie"), run("accord")]
    tired = {
        name
        for name in ("pymc", "nutpie", "accord", "pystan")
        if is_tired(runs, name, "eight_schools", "warm", 60.0)
    }
    assert tired == {"pymc", "nutpie"}


def test_what_was_run_is_counted_beside_what_is_asked_for():
    """Of PyMC's 15 examples one took long: from a warm start it is asked for 14."""
    from sections import coverage

    pymc = "pymc_dense"
    runs = [run(pymc), run(pymc, "arK", seconds=61.0), run(pymc, cache="warm"), run("blackjax")]
    rows = dict(line.strip("| ").split(" | ", 1) for line in coverage(runs).splitlines() if "|" in line)
    assert rows[pymc] == "2 of 15 | 1 of 14 |  | 300"
    assert rows["blackjax"] == "1 of 17 |  |  | 300"
    assert rows["numpyro"].startswith("0 of 17 | 0 of 17 | 0 of 4")


def test_chains_in_processes_that_outlive_a_run_are_counted():
    from cells import cell

    stan = run("pystan", cpu_seconds=16.0, phases={"compile": 16.0, "own_clock": 8.0})
    assert cell([stan], "eight_schools", "pystan").values["cpu_seconds"] == 24.0


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (
            "Traceback\n  raise\nmodule.SomeError: it broke:\n(\n  1\n)\n\nFor simplicity",
            "module.SomeError: it broke:",
        ),
        ("Killed\n", "Killed"),
        ("", "no message"),
    ],
)
def test_an_engine_that_fails_is_quoted(errors, message):
    from runs import message_of

    assert message_of(errors) == message


def test_the_worst_scalar_is_named():
    from cells import judge

    draws = np.random.default_rng(0).normal(size=(4, 200, 3))
    draws[:, :, 1] += 100 * np.arange(4)[:, None]
    judged = judge({"b": draws, "a": draws[:, :, 0]})
    assert judged["worst"] == "b[1]" and judged["max_r_hat"] > 2
    assert judged["means"][0] == pytest.approx(draws[:, :, 0].mean())


def test_failed_cells_count_in_no_mean_and_are_listed():
    from cells import cell, ratios
    from tables import cells_of

    runs = [run("accord"), failure("numpyro"), run("pymc", max_r_hat=1.2), run("pystan", seconds=30.0)]
    cells = cells_of(runs, "cold")
    assert cells["eight_schools", "numpyro"].failure == "over 300 s"
    assert cells["eight_schools", "pymc"].failure == "R-hat 1.20"
    assert cell(runs, "eight_schools", "blackjax").failure == "not run"
    assert ratios(cells, ["eight_schools"], "pymc", "accord", "cold") == {}
    assert ratios(cells, ["eight_schools"], "pystan", "accord", "cold") == {"eight_schools": 3.0}


OVERHEAD = """
| model | gradient, one way | gradient, another | step | ratio |
|---|---|---|---|---|
| small | 1.00 | 0.90 | 3.30 | 3.67 |
| large | 50.00 | 51.00 | 60.00 | 1.20 |
"""


def test_a_page_says_which_aims_are_met_and_by_how_much_others_are_missed(tmp_path):
    from page import write

    (tmp_path / "overhead.md").write_text(OVERHEAD)
    (tmp_path / "lost_chains.txt").write_text("0 0 100\n1 1 100\n")
    runs = [
        run("accord"),
        run("numpyro", seconds=40.0, min_ess=50.0),
        run("pystan", seconds=20.0, phases={"compile": 16.0, "own_clock": 8.0}),
        failure("pymc"),
        run("accord_first_draw", cache="warm", seconds=1.0),
    ]
    path = tmp_path / "performance.md"
    write(path, runs, tmp_path)
    text = path.read_text()
    rows = {cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in text.splitlines())}
    assert rows["cold seconds per 1000 effective draws"][-1] == "**missed**: 0.80 of the aim"
    assert rows["ESS per gradient over numpyro's"][-1] == "met"
    assert "not measured" in rows["ESS per gradient over nutpie_low_rank's"][-1]
    assert rows["warm seconds to the first draw, eight_schools"][-1] == "met"
    assert rows["run time per effective draw, Stan's over accord's"][-1] == "**missed**: eight_schools 0.67"
    assert rows["a step of NUTS"][-1] == "**missed**: large 1.20 times"
    assert rows["arma11, chains lost"][-1] == "**missed**: seed 1: 1"
    assert "| eight_schools | pymc | over 300 s |" in text
    pictures = [tmp_path / "pictures" / f"performance_{name}.png" for name in ("cold", "gradients", "stan")]
    assert all(picture.stat().st_size > 1000 for picture in pictures)


COMPILING = """
| model | trace | lower | compile advance | compile sites | gradient: trace | gradient: lower | gradient: compile |
|---|---|---|---|---|---|---|---|
| small | 0.10 | 0.20 | 1.00 | 0.10 | 0.01 | 0.02 | 0.40 |
| large | 0.10 | 0.20 | 3.00 | 0.10 | 0.01 | 0.02 | 4.00 |
"""


def test_a_page_says_what_was_run_and_what_was_not(tmp_path):
    from engines import ENGINES
    from page import write

    path = tmp_path / "performance.md"
    runs = [
        run("accord"),
        run("accord", repeat=1),
        run("accord", "nes"),
        run("numpyro", "horseshoe", limit=900.0),
    ]
    write(path, runs, tmp_path)
    text = path.read_text()
    assert text.count("\n\nNot run.\n\n") == 5  # warm, Stan's, steps, compiling, lost chains
    rows = {
        cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in text.splitlines()[::-1])
    }
    assert rows["accord"] == ["2 of 17, 1 to 2 runs each", "0 of 17", "0 of 4", "300"]
    assert rows["numpyro"] == ["0 of 17", "0 of 17", "1 of 4", "900"]
    assert rows["pymc_dense"] == ["0 of 15", "0 of 15"]
    assert set(ENGINES) < set(rows)
    assert (tmp_path / "pictures" / "performance_large.png").stat().st_size > 1000
    (tmp_path / "compiling.md").write_text(COMPILING)
    write(path, runs, tmp_path)
    text = path.read_text()
    assert "in the median; -1.00 on `large`, 0.60 on `small`" in text and "take -0.20 s" in text
    assert "| small | 0.10 | 0.20 | 1.00 | 0.10 | 0.01 | 0.02 | 0.40 |" in text


def test_both_of_nutpies_low_rank_options_are_to_be_beaten_on_the_models_of_both():
    from tables import cells_of
    from targets import gradients

    def with_ess(engine, model, ess):
        return run(engine, model, min_ess=float(ess))

    runs = [
        *(with_ess("accord", model, 1000) for model in ("nes", "blr", "arK")),
        *(
            with_ess("nutpie_low_rank", model, ess)
            for model, ess in (("nes", 500), ("blr", 500), ("arK", 10))
        ),
        *(with_ess("nutpie_pymc_low_rank", model, 1000) for model in ("nes", "blr")),
    ]
    numpyro, jax, numba = gradients(cells_of(runs, "cold"), ["nes", "blr", "arK"])
    assert numpyro.missed is None
    assert (jax.figure, jax.missed) == ("2.00 times, on 2 models that all completed", "")
    assert (numba.figure, numba.missed) == ("1.00 times, on 2 models that all completed", "0.83 of the aim")
    _, alone, absent = gradients(cells_of(runs[:6], "cold"), ["nes", "blr", "arK"])
    assert alone.figure.endswith("on 3 models") and absent.missed is None


def test_a_table_of_models_is_kept_row_by_row(tmp_path):
    from leftovers import ModelTable, table_of

    path = tmp_path / "new" / "table.md"
    for row in (["a", "1"], ["b", "2"], ["a", "3"]):
        ModelTable(path, ["model", "seconds"]).put(row)
    assert table_of(path) == (["model", "seconds"], {"a": ["a", "3"], "b": ["b", "2"]})
    with pytest.raises(SystemExit, match="move it away"):
        ModelTable(path, ["model", "minutes"])


def test_seeds_that_were_run_are_not_run_again(tmp_path, monkeypatch):
    import lost_chains

    means = json.loads(lost_chains.REFERENCES.read_text())[lost_chains.MODEL]["parameters"]
    path, seeds = tmp_path / "lost.txt", []

    def sample(model, *, seed, **_):
        seeds.append(seed)
        return SimpleNamespace(
            sites={name: np.full((4, 9), row["mean"]) for name, row in means.items()}, work={"sample": 7}
        )

    monkeypatch.setattr(lost_chains.infer, "sample", sample)
    path.write_text("0 1 100\n1 0 100\n")
    monkeypatch.setattr("sys.argv", ["", "--seeds", "3", "--output", str(path), "--resume"])
    lost_chains.main()
    assert seeds == [2] and path.read_text() == "0 1 100\n1 0 100\n2 0 7\n"
    monkeypatch.setattr("sys.argv", sys.argv[:-1])
    lost_chains.main()
    assert seeds == [2, 0, 1, 2] and path.read_text() == "0 0 7\n1 0 7\n2 0 7\n"


@pytest.fixture
def series(monkeypatch, tmp_path):
    """The command for the whole series, which says what it would have run; the part that measures overhead fails."""
    import series as module

    commands = []

    def ran(command):
        commands.append([Path(command[1]).name, *command[2:]])
        return int("overhead.py" in command[1])

    monkeypatch.setattr(module, "run_script", ran)

    def run_series(*arguments):
        monkeypatch.setattr("sys.argv", ["", *arguments, "--results", str(tmp_path)])
        module.main()

    return run_series, commands


def test_one_command_runs_every_part_and_writes_the_page_though_one_fails(series, monkeypatch):
    from peers import _options

    run_series, commands = series
    with pytest.raises(SystemExit, match=r"parts failed: overhead\."):
        run_series("--peers", "numpyro")
    scripts = [name for name, *_ in commands]
    assert scripts == ["peers.py", "overhead.py", "compiling.py", "lost_chains.py", *["peers.py"] * 4]
    assert all("--resume" in command for command in commands[:-1]) and "--page" in commands[-1]
    parsed = []
    for command in commands:
        if command[0] == "peers.py":
            monkeypatch.setattr("sys.argv", command)
            parsed.append(_options())
    assert [(each.repeats, each.caches, len(each.models)) for each in parsed[:-1]] == [
        (1, ["cold"], 17),
        (1, ["warm"], 17),
        (1, ["cold"], 4),
        (3, ["cold"], 17),
    ]
    assert all(each.peers == ["numpyro"] and each.resume for each in parsed[:-1])


def test_a_series_begins_nothing_after_its_time_and_only_the_parts_that_it_is_asked_for(series):
    run_series, commands = series
    run_series("--until", "0")
    assert [command[0] for command in commands] == ["peers.py"] and "--page" in commands[0]
    commands.clear()
    run_series("--only", "lost_chains", "compiling", "--until", "1")
    assert [command[0] for command in commands] == ["compiling.py", "lost_chains.py", "peers.py"]


def test_densities_are_compared_by_differences_where_both_are_finite():
    from densities import verdict_of

    values = np.array([1.0, 5.0, 9.0, -np.inf])
    assert verdict_of(values, values + 3, 1e-8).startswith("agrees")
    assert verdict_of(values, 1.001 * values, 1e-8).startswith("FAILED")
    assert verdict_of(values[2:], values[2:], 1e-8).startswith("FAILED: finite at 1")


def test_records_are_json_that_any_reader_takes():
    from cells import judge

    judged = judge({"a": np.zeros((4, 10)), "b": np.random.default_rng(0).normal(size=(4, 10))})
    assert judged["min_ess"] == 0 and judged["worst"] == "a" and judged["max_r_hat"] > 100
    json.dumps(judged, allow_nan=False)
