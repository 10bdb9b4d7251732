"""Show runs in terminals and logs."""

import io
import threading
import time

import pytest
from growing import begin, grow
from rich.console import Console

from accord.watch.terminal import sentence, show, sparkline
from accord.watch.watcher import Watcher

NAMES = {"x[red]": (), "theta": (2,)}


@pytest.fixture
def folder(tmp_path):
    run = begin(tmp_path / "run", names=NAMES, draws=200)
    grow(run, [0, 1], "warmup", 0, 100)
    grow(run, [0, 1], "sample", 0, 200, 50, names=NAMES)
    notice = {
        "severity": "warning",
        "code": "r_hat",
        "message": "R-hat of 'x[red]'.",
        "remedy": "Draw more.",
        "sites": [],
    }
    run.record("notices", [notice])
    run.close()
    return tmp_path / "run"


def shown(folder, **options):
    console = Console(file=io.StringIO(), width=120, **options)
    show(Watcher(folder, share=1e9), console, threading.Event())
    return console.file.getvalue()


def test_a_terminal_shows_chains_unknowns_and_notices_until_the_run_is_complete(folder):
    text = shown(folder, force_terminal=True, color_system=None)
    assert "200/200" in text and "done" in text and "It is complete." in text
    assert "x[red]" in text and "theta[1]" in text
    assert "warning: R-hat of 'x[red]'. Draw more." in text


def test_a_log_gets_a_line(folder):
    text = shown(folder, force_terminal=False)
    assert text.count("\n") == 1
    for words in (
        "grown: It is complete.",
        "slowest chain: sample 200 of 200",
        "smallest ESS",
        "notices: r_hat",
    ):
        assert words in text


def test_a_fit_in_a_log_has_steps_and_no_divergences(folder):
    view = dict(Watcher(folder).view) | {"noun": "restart", "has_length": False, "worst": [], "notices": []}
    assert "divergences" not in sentence(view) and "slowest restart" in sentence(view)


def test_many_chains_share_a_row(tmp_path):
    run = begin(tmp_path / "run", chains=40, draws=20)
    grow(run, range(40), "sample", 0, 20)
    run.record("notices", [])
    run.close()
    text = shown(tmp_path / "run", force_terminal=True, color_system=None)
    rows = [line for line in text.splitlines() if "20/20" in line]
    assert rows and all(line.startswith("slowest of 40") for line in rows)


def test_a_killed_run_is_waited_for(tmp_path):
    run = begin(tmp_path / "run", draws=20)
    grow(run, [0, 1], "sample", 0, 10)
    run.close()
    ended, console = threading.Event(), Console(file=io.StringIO(), width=120)
    thread = threading.Thread(target=show, args=(Watcher(tmp_path / "run"), console, ended))
    thread.start()
    end = time.monotonic() + 60  # which only keeps a failure from hanging
    while "accord resume" not in console.file.getvalue():
        assert time.monotonic() < end
        time.sleep(0.02)
    thread.join(0.5)
    assert thread.is_alive()
    ended.set()
    thread.join()


def test_a_trace_fits_into_a_line():
    assert sparkline([0.0, 1.0, None, 7.0]) == "▁▂ █"
    assert len(sparkline([float(value) for value in range(1000)])) <= 32
    assert sparkline([None]) == "" and sparkline([3.0, 3.0]) == "▁▁"
