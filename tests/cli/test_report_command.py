"""Check `accord report`."""

import json
from pathlib import Path

import pytest

from accord import infer
from accord.cli.running import bind
from accord.cli.source import import_model


@pytest.fixture
def run(folder, accord):
    status, _, _ = accord(
        "sample", "one.py", "--data", "data.json", "--out", "run", "--draws", "50", "--warmup", "50", "--quiet",
        "--executor", "serial",
    )  # fmt: skip
    assert status in (0, 1)
    return folder


def test_a_report_is_a_page_by_default_and_markdown_is_printed(run, accord):
    status, out, err = accord("report", "run")
    assert (status, out, err) == (0, "Written to run.html.\n", "")
    page = (run / "run.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and "<h1>slope</h1>" in page
    infer.load("run").report("again.html")
    assert (run / "again.html").read_text("utf-8") == page
    status, out, err = accord("report", "run", "--format", "md")
    assert status == 0 and out.startswith("# slope\n") and "| b |" in out
    status, out, err = accord("report", "run", "--output", "b.md")
    assert status == 0 and (run / "b.md").read_text("utf-8").startswith("# slope")


def test_what_cannot_be_written_is_refused(run, accord):
    for arguments, words in (
        (("--format", "pdf"), "--format must be html or md"),
        (("--format", "md", "--output", "b.html"), "does not fit"),
        (("--output", "b.txt"), "must end in .html"),
        (("--output", "away/b.html"), "does not exist"),
    ):
        status, _, err = accord("report", "run", *arguments)
        assert status == 2 and words in err, arguments
    assert accord("report", "nothing")[0] == 2


@pytest.fixture
def others(folder):
    """Folders of paths and of a calibration, by their names."""
    with import_model("one.py") as function:
        model = bind(function, Path("data.json"))
        options = dict(quiet=True, progress=False)
        paths = infer.pathfinder(model, paths=2, draws=50, store=infer.RunFolder("paths"), **options)
        calibration = infer.calibrate(
            model,
            simulations=4,
            draws=10,
            warmup=50,
            executor=infer.Serial(),
            store=infer.RunFolder("calibration"),
            **options,
        )
    return {"paths": paths, "calibration": calibration}


def test_paths_and_calibrations_are_reported_without_their_model(others, folder, accord):
    for name in others:
        status, out, err = accord("report", name)
        assert (status, out, err) == (0, f"Written to {name}.html.\n", "")
        page = (folder / f"{name}.html").read_text("utf-8")
        assert page.startswith("<!DOCTYPE html>") and "<h1>slope</h1>" in page
        infer.load(name).report("again.html")
        assert (folder / "again.html").read_text("utf-8") == page
        status, out, _ = accord("report", name, "--format", "md")
        assert status == 0 and out.startswith("# slope\n") and "| b |" in out


def test_a_summary_of_paths_is_a_table_of_their_draws(others, accord):
    status, out, _ = accord("summary", "paths")
    assert status in (0, 1) and out.startswith("<Paths of slope: 2 paths, 50 draws")
    assert "mean" in out and "\nb " in out and "r_hat" not in out
    status, out, _ = accord("summary", "paths", "--site", "b", "--interval", "hdi", "--prob", "0.5", "--json")
    found = json.loads(out)
    assert (found["paths"], found["draws"], found["num_rows"]) == (2, 50, 1)
    assert (
        found["rows"][0]["mean"] == others["paths"].summary()["mean"][0] and "hdi50_low" in found["rows"][0]
    )
    status, _, err = accord("summary", "paths", "--kind", "diagnostics")
    assert status == 2 and "which no chain made" in err
    status, _, err = accord("summary", "paths", "--site", "c")
    assert status == 2 and "no site 'c'" in err
    status, out, _ = accord("resume", "paths", "one.py", "--data", "data.json", "--quiet")
    assert status in (0, 1) and "mean" in out and "\nb " in out and "Stored in paths." in out
    assert accord("summary", "calibration", "--json")[0] == 2


def test_a_fit_is_reported_without_its_model(folder, accord):
    accord("fit", "one.py", "--data", "data.json", "--out", "fit", "--steps", "20", "--quiet")
    status, _out, _ = accord("report", "fit", "--output", "fit.html")
    assert status == 0 and "<h1>slope</h1>" in (folder / "fit.html").read_text("utf-8")
