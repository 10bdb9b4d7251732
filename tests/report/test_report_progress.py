"""Check that progress is shown cheaply, and that showing it never gets in the way."""

import io
import threading

import pytest
from rich.console import Console
from rich.text import Text

from accord.report import NoProgress, RichProgress
from accord.report import progress as progress_module
from accord.report.notebook import NotebookDisplay
from accord.report.words import duration


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def shown_on(terminal: bool) -> tuple[RichProgress, io.StringIO]:
    file = io.StringIO()
    return RichProgress(Console(file=file, force_terminal=terminal, width=110, force_jupyter=False)), file


class Terminal(io.StringIO):
    """A terminal that takes some time, by a clock, for what it is given, or refuses it once."""

    def __init__(self, clock: Clock | None = None, seconds: float = 0.0) -> None:
        super().__init__()
        self.clock, self.seconds, self.is_full = clock, seconds, False

    def write(self, text: str) -> int:
        if self.clock is not None:
            self.clock.now += self.seconds
        if self.is_full:
            self.is_full = False
            raise OSError("no room")
        return super().write(text)

    @property
    def num_drawn(self) -> int:
        """How often the table was drawn: its head is in it once."""
        return self.getvalue().count("steps/draw")


def shown_in(terminal: Terminal) -> RichProgress:
    return RichProgress(Console(file=terminal, force_terminal=True, width=110, force_jupyter=False))


def run(progress) -> None:
    progress.start([0, 3], {"warmup": 10, "sample": 20})
    progress.update(0, "warmup", 5, 10)
    progress.update(
        3, "sample", 5, 20, columns=[("step size", 0.25)], divergences=2, steps_per_draw=7.0, seconds=3.0
    )
    progress.note("ESS 12 of 1000")
    progress.note("ESS 640 of [1000]")
    progress.message("a [notice] that stays")
    progress.stop()


def test_no_progress_shows_nothing(capsys):
    run(NoProgress())
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_row_for_each_chain():
    progress, file = shown_on(terminal=True)
    run(progress)
    text = file.getvalue()
    for words in (
        "chain",
        "warmup",
        "5/10",
        "5/20",
        "0.25",
        "7.0",
        "3s",
        "ESS 640 of [1000]",
        "a [notice] that stays",
    ):
        assert words in text
    assert "\x1b[?25h" in text  # the cursor is back


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "log"])
def test_very_many_chains_are_shown_as_one(terminal):
    progress, file = shown_on(terminal)
    progress.start(range(4096), {"warmup": 10, "sample": 20})
    for chain in range(4096):
        done = 3 if chain == 77 else 9
        progress.update(chain, "sample", done, 20, divergences=1, steps_per_draw=7.0, seconds=3.0)
    progress.stop()
    text = file.getvalue()
    assert len(text.splitlines()) < 100
    for words in ("4096", "3/20"):
        assert words in text


def test_a_log_gets_a_line_every_few_seconds(clock):
    progress, file = shown_on(terminal=False)
    progress.start([0, 1], {"warmup": 100, "sample": 100})
    for step in range(1, 101):
        clock.now += 0.11
        progress.update(0, "warmup", step, 100, seconds=clock.now)
        progress.update(1, "warmup", step, 100, seconds=clock.now)
    progress.stop()
    lines = file.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("chain 0: warmup 46/100, 1: warmup 45/100; 0 divergences; 17s left")
    assert lines[-1] == "chain 0: warmup 100/100, 1: warmup 100/100; 0 divergences; 11s left"
    assert "\x1b" not in file.getvalue()


@pytest.mark.parametrize(("hours", "most"), [(1, 220), (24, 380)])
def test_the_log_of_a_long_run_has_hundreds_of_lines(clock, hours, most):
    progress, file = shown_on(terminal=False)
    progress.start([0], {"sample": 100_000})
    for step in range(hours * 3600):
        clock.now += 1.0
        progress.update(0, "sample", step, 100_000)
    progress.stop()
    assert 50 < file.getvalue().count("\n") < most


class Cell:
    """A cell of a notebook, with one output that is updated."""

    def __init__(self):
        self.shown = []

    def display(self, content):
        self.update(content)
        return self

    def update(self, content):
        self.shown.append(content.data)


def test_a_notebook_shows_one_output_that_is_updated(clock):
    cell = Cell()
    live = NotebookDisplay(Text("chain [0] <b>"), cell.display)
    live.start(refresh=True)
    live.update(Text("chain 1"), refresh=False)
    live.update(Text("chain 2"), refresh=True)
    live.stop()
    assert [text.startswith("<pre style=") for text in cell.shown] == [True, True]
    assert "[0] &lt;b&gt;" in cell.shown[0] and "chain 2" in cell.shown[1]


def test_progress_in_a_notebook_needs_no_widgets(clock, capsys):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    had_shell = InteractiveShell.initialized()
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            progress = RichProgress(Console(force_jupyter=True, width=110))
            progress.start([0], {"sample": 10})
            clock.now += 1.0
            progress.update(0, "sample", 5, 10)
            progress.stop()
    finally:
        if not had_shell:
            InteractiveShell.clear_instance()
    shown = [output.data["text/html"] for output in captured.outputs]
    assert shown and "10" in shown[0] and "5/10" in shown[-1]
    assert captured.stdout == captured.stderr == ""


def test_a_terminal_is_drawn_at_most_ten_times_a_second(clock):
    terminal = Terminal()
    progress = shown_in(terminal)
    progress.start([0], {"sample": 1000})
    before = terminal.num_drawn
    for step in range(1000):
        clock.now += 0.001
        progress.update(0, "sample", step, 1000)
    assert 8 <= terminal.num_drawn - before <= 10
    progress.stop()


def test_a_slow_terminal_is_drawn_more_rarely(clock):
    terminal = Terminal(clock, seconds=0.05)
    progress = shown_in(terminal)
    progress.start([0], {"sample": 1000})
    before = terminal.num_drawn
    for step in range(10_000):
        clock.now += 0.001
        progress.update(0, "sample", step, 10_000)
    assert 1 <= terminal.num_drawn - before <= 5
    progress.stop()


@pytest.mark.parametrize("terminal", [True, False])
def test_stopping_is_harmless_at_any_time(terminal):
    progress, file = shown_on(terminal)
    progress.stop()
    progress.update(0, "sample", 1, 2)
    progress.start([0], {"sample": 2})
    progress.start([1], {"sample": 2})
    progress.stop()
    size = len(file.getvalue())
    progress.stop()
    progress.update(1, "sample", 2, 2)
    assert len(file.getvalue()) == size


def test_the_terminal_is_given_back_when_drawing_fails():
    terminal = Terminal()
    progress = shown_in(terminal)
    progress.start([0], {"sample": 2})
    terminal.is_full = True
    with pytest.raises(OSError, match="no room"):
        progress.stop()
    assert "\x1b[?25h" in terminal.getvalue()
    progress.stop()


def test_the_streams_of_the_program_are_left_alone(capsys):
    progress, file = shown_on(terminal=True)
    progress.start([0], {"sample": 2})
    print("the program's own")
    progress.stop()
    assert capsys.readouterr().out == "the program's own\n"
    assert "own" not in file.getvalue()


def test_a_message_before_the_start_is_not_lost(capsys):
    RichProgress().message("early")
    assert capsys.readouterr().err == "early\n"


def test_threads_may_all_report():
    progress, file = shown_on(terminal=False)
    chains = list(range(8))
    progress.start(chains, {"sample": 100})

    def report(chain: int) -> None:
        for step in range(101):
            progress.update(chain, "sample", step, 100)

    threads = [threading.Thread(target=report, args=(chain,)) for chain in chains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    progress.stop()
    assert file.getvalue().count("100/100") == 8


def test_a_run_without_warm_up_or_draws_can_be_shown():
    progress, file = shown_on(terminal=True)
    progress.start([0], {"warmup": 0, "sample": 0})
    progress.stop()
    assert "0/0" in file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.4, "0s"), (59.6, "1m00s"), (190.0, "3m10s"), (7500.0, "2h05m")]
)
def test_a_duration_is_short(seconds, text):
    assert duration(seconds) == text
