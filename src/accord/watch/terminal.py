"""Show a run in a terminal: a table of chains, the worst unknowns with their traces, and notices."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..report.sketch import BLOCKS, PLAIN
from ..report.words import count_of, duration
from .watcher import View, Watcher

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_PERIOD = 2.0  # seconds between steps in a terminal
_LINE_PERIOD = 30.0  # seconds between lines where nothing can be redrawn
_SOON = 0.05
_MOST_ROWS = 16  # chains shown one by one
_MOST_WORST = 5
_TRACE_WIDTH = 32  # characters
_STYLES = {"error": "bold red", "warning": "yellow", "info": "blue"}


def show(watcher: Watcher, console: "Console", ended: threading.Event) -> None:
    """Show a run until it is complete, or until `ended`; a line now and then where nothing can be redrawn.

    A run that was killed or stopped is waited for, since it may be continued.

    **Raises** `StorageError` if the run is no longer there.
    """
    if console.is_terminal:
        from rich.live import Live

        with Live(console=console, auto_refresh=False) as live:
            _follow(watcher, lambda view: live.update(_shown(view, console), refresh=True), _PERIOD, ended)
        return
    _follow(watcher, lambda view: _print(console, sentence(view)), _LINE_PERIOD, ended)


def _follow(watcher: Watcher, draw: Callable[[View], object], period: float, ended: threading.Event) -> None:
    drawn, last = -1, -period
    while not ended.is_set():
        has_more = watcher.step()
        is_complete = watcher.is_over and watcher.view["state"] == "complete"
        is_due = time.monotonic() - last >= period and watcher.version != drawn and not has_more
        if is_due or is_complete:
            draw(watcher.view)
            drawn, last = watcher.version, time.monotonic()
        if is_complete:
            return
        ended.wait(_SOON if has_more else _PERIOD)


def _print(console: "Console", text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def sentence(view: View) -> str:
    """Describe a run in a line, for a log."""
    chains = view["chains"]
    slowest = min(chains, key=lambda chain: chain["all_done"])
    of = f" of {slowest['total']}" if view["has_length"] else ""
    parts = [f"{view['model']}: {view['words']}"]
    parts.append(f"slowest {view['noun']}: {slowest['phase']} {slowest['done']}{of}")
    if view["has_length"]:
        parts.append(count_of(sum(chain["divergences"] for chain in chains), "divergence"))
    if view["worst"]:
        least = view["worst"][0]
        parts.append(f"smallest ESS {_size(view['history'][-1]['ess'])} ({least['name']})")
    if view["seconds_left"] is not None:
        parts.append(f"{duration(view['seconds_left'])} left")
    if view["notices"]:
        parts.append(f"notices: {', '.join(each['code'] for each in view['notices'])}")
    return "; ".join(parts)


def _shown(view: View, console: "Console") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    ramp = BLOCKS if "utf" in console.encoding.lower() else PLAIN
    passed = (time.time() if view["state"] == "running" else view["last"]) - view["created"]
    left = view["seconds_left"]
    head = Text.assemble(
        (view["model"], "bold"), f"  {view['sampler']}, seed {view['seed']}, {view['folder']}"
    )
    words = f"{view['words']} {duration(passed)} since its beginning"
    most = "at most " if view["until"] else ""
    words += f", {most}{duration(left)} left." if left is not None else "."
    parts: list[RenderableType] = [head, Text(words), Text(""), _chains(view)]
    if view["until"]:
        found = view["until"]["found"] or f"{view['until']['rule']}, not checked yet"
        parts += [Text(f"Stopping rule: {found}.")]
    if view["worst"]:
        parts += [Text(""), _worst(view, ramp)]
    elif view["traces"]:
        parts += [Text(""), _traces(view, ramp)]
    if view["notices"] or view["problems"]:
        parts.append(Text(""))
    parts += [Text(f"damage: {problem}", style=_STYLES["error"]) for problem in view["problems"]]
    parts += [
        Text.assemble((each["severity"], _STYLES[each["severity"]]), f": {each['message']} {each['remedy']}")
        for each in view["notices"]
    ]
    return Group(*parts)


def _chains(view: View) -> "Table":
    from rich.progress_bar import ProgressBar

    rows: Sequence[dict[str, Any]] = view["chains"]
    optional = [
        (name, head, form)
        for name, head, form in (
            ("step_size", "step size", ".3g"),
            ("depth", "depth", ".1f"),
            ("steps", "steps/draw", ".1f"),
        )
        if any(row[name] is not None for row in rows)
    ]
    bars, counts = ([""], ["divergences"]) if view["has_length"] else ([], [])
    table = _table(
        view["noun"],
        "phase",
        *bars,
        view["counted"],
        "per s",
        *counts,
        *(each[1] for each in optional),
        "left",
    )
    if len(rows) > _MOST_ROWS:
        slowest = min(rows, key=lambda row: (row["is_lost"], row["all_done"]))
        rows = [slowest | {"divergences": sum(row["divergences"] for row in rows)}]
    for row in rows:
        left = row["left"] / row["speed"] if row["speed"] and view["has_length"] else None
        end = "given up" if row["is_lost"] else "done" if row["left"] == 0 else duration(left)
        table.add_row(
            str(row["number"]) if len(rows) == len(view["chains"]) else f"slowest of {len(view['chains'])}",
            row["phase"],
            *([ProgressBar(total=max(row["total"], 1), completed=row["done"], width=20)] if bars else []),
            f"{row['done']}/{row['total']}" if bars else str(row["done"]),
            _number(row["speed"], ".3g"),
            *([str(row["divergences"])] if bars else []),
            *(_number(row[name], form) for name, _, form in optional),
            end,
        )
    return table


def _worst(view: View, ramp: str) -> "Table":
    from rich.text import Text

    least = "ESS at least" if view["stride"] > 1 else "ESS bulk"
    table = _table(
        f"worst of {view['num_judged']}", least, "tail", "R-hat", "mean", "sd", "trace of the first chain"
    )
    traces = {trace["name"]: trace["chains"][0]["values"] for trace in view["traces"]}
    for row in view["worst"][:_MOST_WORST]:
        sizes = (_size(row["ess_bulk"]), _size(row["ess_tail"]))
        numbers = (_number(row["r_hat"], ".3f"), _number(row["mean"], ".3g"), _number(row["sd"], ".3g"))
        table.add_row(Text(row["name"]), *sizes, *numbers, sparkline(traces.get(row["name"], ()), ramp))
    return table


def _traces(view: View, ramp: str) -> "Table":
    trace = view["traces"][0]
    table = _table(view["noun"], trace["name"])
    for chain in trace["chains"]:
        table.add_row(str(chain["chain"]), sparkline(chain["values"], ramp))
    return table


def _table(*heads: str) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place == 0 else "right")
    return table


def sparkline(values: Sequence[float | None], ramp: str = BLOCKS, width: int = _TRACE_WIDTH) -> str:
    """Draw a trace in one line of text; values that are None leave a gap."""
    step = max(-(-len(values) // width), 1)
    some = list(values[::step])
    finite = [value for value in some if value is not None]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    scale = (len(ramp) - 2) / (high - low) if high > low else 0.0
    return "".join(" " if value is None else ramp[1 + round((value - low) * scale)] for value in some)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _size(value: float | None) -> str:
    return _number(value, ".0f")
