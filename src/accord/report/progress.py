"""Show the progress of each chain: live in a terminal or notebook, an occasional line elsewhere."""

import abc
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .notebook import NotebookDisplay
from .words import count_of, duration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_LIVE_PERIOD = 0.1  # seconds between redraws, which cost some milliseconds each
_LINE_PERIOD = 5.0  # seconds between lines where nothing can be redrawn, in the first minutes
_LINE_SHARE = 0.02  # of the time so far, later: 60 lines in five minutes, 200 in an hour, 400 in a week
_SHARE = (
    0.02  # of the time, at most, is spent on drawing: many chains on a slow terminal are redrawn more rarely
)
_BAR_WIDTH = 24  # characters
_MOST_ROWS = 32  # chains shown one by one: more would not fit on a screen


class AbstractProgress(abc.ABC):
    """Display of progress that a run calls while it goes on. It changes no draw: no method returns anything."""

    @abc.abstractmethod
    def start(self, chains: Sequence[int], totals: Mapping[str, int]) -> None:
        """Start to show `chains`, each with `totals` draws by phase, in order."""

    @abc.abstractmethod
    def update(
        self,
        chain: int,
        phase: str,
        done: int,
        total: int,
        *,
        columns: Sequence[tuple[str, float]] = (),
        divergences: int = 0,
        steps_per_draw: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Update one chain; may be called from any thread, and now and then redraws in that thread.

        - `chain`: zero-based number; `phase`: `"warmup"` or `"sample"`; `done`, `total`: draws of that phase.
        - `columns`: what the chain's adaptation shows, each with its heading, such as `("step size", 0.4)`;
          `divergences`: since sampling began.
        - `steps_per_draw`: mean evaluations, None if unknown; `seconds`: since the chain began.
        """

    @abc.abstractmethod
    def note(self, text: str) -> None:
        """Show a line below the chains until the next one replaces it, such as the result of a stopping rule."""

    @abc.abstractmethod
    def message(self, text: str) -> None:
        """Show a line that stays, such as a notice."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Show the last state and release the terminal. Calling it twice, or before `start`, does no harm."""


class NoProgress(AbstractProgress):
    """Show nothing."""

    def start(self, chains: Sequence[int], totals: Mapping[str, int]) -> None:
        """Do nothing."""

    def update(
        self,
        chain: int,
        phase: str,
        done: int,
        total: int,
        *,
        columns: Sequence[tuple[str, float]] = (),
        divergences: int = 0,
        steps_per_draw: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""

    def message(self, text: str) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class _Row:
    """The last update of one chain; see `AbstractProgress.update`."""

    chain: int
    phase: str
    done: int
    total: int
    columns: tuple[tuple[str, float], ...] = ()
    divergences: int = 0
    steps_per_draw: float | None = None
    seconds: float = 0.0


@dataclass(eq=False)
class RichProgress(AbstractProgress):
    """Show a table with a row per chain by `rich`: bar, draws, divergences, what the adaptation shows, such as the
    step size, steps per draw, time left. More than 32 chains have one row together.

    Redrawn at most ten times a second in a terminal or notebook. Elsewhere a line every five seconds at first, and ever
    more rarely, to keep logs short. It has mutable state: use one for each run.

    **Fields**
    - `console`: where to draw; standard error by default, so that standard output stays the program's.
    - `noun`, `counted`: words for a row and for what is done in it. Rows other than chains have neither divergences nor
      steps, and no time left, since they end by themselves.
    """

    console: "Console | None" = None
    noun: str = "chain"
    counted: str = "draws"
    _rows: dict[int, _Row] = field(default_factory=dict, init=False)
    _totals: dict[str, int] = field(default_factory=dict, init=False)
    _note: str = field(default="", init=False)
    _live: Any = field(default=None, init=False)
    _shown: float = field(default=0.0, init=False)
    _began: float = field(default=0.0, init=False)
    _period: float = field(default=0.0, init=False)
    _running: bool = field(default=False, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)

    def start(self, chains: Sequence[int], totals: Mapping[str, int]) -> None:
        from rich.console import Console
        from rich.live import Live

        self.stop()
        with self._lock:
            self.console = self.console or Console(stderr=True)
            self._totals = {phase: total for phase, total in totals.items() if total > 0}
            phase, total = next(iter(self._totals.items()), ("sample", 0))
            self._rows = {chain: _Row(chain, phase, 0, total) for chain in chains}
            self._running, self._note = True, ""
            self._shown = self._began = time.monotonic()
            self._period = _LIVE_PERIOD if self._is_live else _LINE_PERIOD
            if self._is_live:
                # Only callers draw, since a refreshing thread of rich's own would compete with the chains; and
                # the program's own streams stay as they are.
                self._live = (
                    NotebookDisplay(self._table())
                    if self.console.is_jupyter
                    else Live(
                        self._table(),
                        console=self.console,
                        auto_refresh=False,
                        redirect_stdout=False,
                        redirect_stderr=False,
                    )
                )
                self._live.start(refresh=True)

    def update(
        self,
        chain: int,
        phase: str,
        done: int,
        total: int,
        *,
        columns: Sequence[tuple[str, float]] = (),
        divergences: int = 0,
        steps_per_draw: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        row = _Row(chain, phase, done, total, tuple(columns), divergences, steps_per_draw, seconds)
        with self._lock:
            if not self._running:
                return
            self._rows[chain] = row
            begun = time.monotonic()
            if begun - self._shown >= self._period:
                self._draw()
                self._shown = time.monotonic()
                self._period = max(self._period, (self._shown - begun) / _SHARE)
                if self._live is None:
                    self._period = max(self._period, _LINE_SHARE * (self._shown - self._began))

    def note(self, text: str) -> None:
        with self._lock:
            self._note = text

    def message(self, text: str) -> None:
        with self._lock:
            if self.console is None:
                sys.stderr.write(f"{text}\n")
            else:
                self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        with self._lock:
            if not self._running:
                return
            self._running = False
            try:
                self._draw()
            finally:
                if self._live is not None:
                    self._live.stop()
                    self._live = None

    @property
    def _is_live(self) -> bool:
        return self.console is not None and (self.console.is_terminal or self.console.is_jupyter)

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif self.console is not None:
            self.console.print(self._sentence(), markup=False, highlight=False, soft_wrap=True)

    def _table(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        table.add_column(self.noun, justify="right")
        table.add_column("phase", min_width=6)
        table.add_column("", min_width=_BAR_WIDTH)
        rows = list(self._rows.values())
        heads = tuple(dict.fromkeys(head for row in rows for head, _ in row.columns))
        of_chains = (("divergences",), ("steps/draw", "left")) if self._is_of_chains else ((), ())
        for head in (self.counted, *of_chains[0], *heads, *of_chains[1]):
            table.add_column(head, justify="right")
        for row in rows if len(rows) <= _MOST_ROWS else [_together(rows)]:
            table.add_row(
                str(row.chain) if len(rows) <= _MOST_ROWS else f"all {len(rows)}",
                row.phase,
                ProgressBar(total=max(row.total, 1), completed=row.done, width=_BAR_WIDTH),
                f"{row.done}/{row.total}",
                *([str(row.divergences)] if self._is_of_chains else []),
                *(_number(dict(row.columns).get(head), ".3g") for head in heads),
                *(
                    [_number(row.steps_per_draw, ".1f"), duration(self._seconds_left(row))]
                    if self._is_of_chains
                    else []
                ),
            )
        return Group(table, Text(self._note)) if self._note else table

    def _sentence(self) -> str:
        """Describe all chains in one line, by the slowest."""
        rows = list(self._rows.values())
        parts = ", ".join(f"{row.chain}: {row.phase} {row.done}/{row.total}" for row in rows)
        if len(rows) > _MOST_ROWS:
            slowest = _together(rows)
            parts = (
                f"{slowest.chain}, the slowest of {len(rows)}: {slowest.phase} {slowest.done}/{slowest.total}"
            )
        note = f"; {self._note}" if self._note else ""
        if not self._is_of_chains:
            return f"{self.noun} {parts}{note}"
        divergences = sum(row.divergences for row in rows)
        left = [self._seconds_left(row) for row in rows]
        known = [seconds for seconds in left if seconds is not None]
        end = f"; {duration(max(known))} left" if len(known) == len(left) and known and max(known) > 0 else ""
        return f"{self.noun} {parts}; {count_of(divergences, 'divergence')}{note}{end}"

    @property
    def _is_of_chains(self) -> bool:
        return self.noun == "chain"

    def _seconds_left(self, row: _Row) -> float | None:
        """Estimate the time left at the mean pace of all phases so far; None before the first draw."""
        phases = list(self._totals)
        if row.phase not in phases:
            return None
        before = sum(self._totals[phase] for phase in phases[: phases.index(row.phase)])
        done, total = before + row.done, sum(self._totals.values())
        return row.seconds / done * max(total - done, 0) if done > 0 else None


def _together(rows: Sequence[_Row]) -> _Row:
    """Combine many chains into one row: the slowest, with all divergences and the mean number of steps."""
    slowest = min(rows, key=lambda row: (row.phase != "warmup", row.done))
    steps = [row.steps_per_draw for row in rows if row.steps_per_draw is not None]
    return replace(
        slowest,
        divergences=sum(row.divergences for row in rows),
        steps_per_draw=sum(steps) / len(steps) if steps else None,
    )


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
