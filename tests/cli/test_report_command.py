"""Check `accord report`."""

import pytest

from accord import infer


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


def test_a_fit_is_reported_without_its_model(folder, accord):
    accord("fit", "one.py", "--data", "data.json", "--out", "fit", "--steps", "20", "--quiet")
    status, _out, _ = accord("report", "fit", "--output", "fit.html")
    assert status == 0 and "<h1>slope</h1>" in (folder / "fit.html").read_text("utf-8")
