"""Watch and stop runs at the command line."""

import json

import pytest

from accord import infer
from accord.storage import RunFolder

DATA = ("--data", "data.json")


@pytest.fixture
def run(folder, accord):
    assert accord("sample", "one.py", *DATA, "--draws", "100", "--warmup", "50", "--out", "run", "--quiet")[
        0
    ] in (0, 1)
    return folder / "run"


def test_a_run_is_shown_in_a_log_and_as_json(run, accord):
    status, out, err = accord("watch", "run", "--terminal")
    assert (status, err) == (0, "") and "slope: It is complete.; slowest chain: sample 100 of 100" in out
    status, out, err = accord("watch", "run", "--json")
    state = json.loads(out)
    assert (status, err, state["state"], state["worst"][0]["name"]) == (0, "", "complete", "b")


REFUSED = {
    "no folder": (("watch", "none"), "there is no folder none"),
    "no run": (("watch", "."), "is no run folder: it has no manifest.json"),
    "no folder to stop": (("stop", "none"), "there is no folder none"),
    "no run to stop": (("stop", "."), "is no run folder"),
    "a run that has ended": (("stop", "run"), "no process writes to run, so there is nothing to stop"),
    "a port of the system": (("watch", "run", "--port", "70000"), "--port"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_watched_or_stopped_is_said(run, accord, name):
    arguments, words = REFUSED[name]
    status, out, err = accord(*arguments)
    assert (status, out) == (2, "") and words in err
    assert not (run / "stop").exists()


def test_a_request_to_stop_is_a_file_until_the_writer_has_gone(run, accord):
    writer = RunFolder(run).reopen()
    assert not writer.is_to_stop
    status, out, err = accord("stop", "run")
    assert (status, err) == (0, "") and "to stop" in out and "accord resume run FILE" in out
    assert accord("stop", "run")[0] == 0 and writer.is_to_stop  # again
    assert infer.load(run).complete  # the file is no damage
    writer.close()
    assert not (run / "stop").exists()
    (run / "stop").write_text("left by a writer that was killed")
    RunFolder(run).reopen().close()
    assert not (run / "stop").exists()
