"""Write the page on fits to the posteriors of posteriordb."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from results import Record

GOOD_K, WRONG = (
    0.7,
    0.3,
)  # Pareto k of a fit that is to be trusted; standard deviations that a moment may be off by

_HEAD = """# Fits beside reference draws

`infer.fit` at its defaults, and `infer.pathfinder`, on all posteriors of
[posteriordb](https://github.com/stan-dev/posteriordb) that have reference draws and a model here.
`benchmarks/guides_posteriordb.py` makes the fits and writes this page.
[Variational inference](variational.md) says what the guides are.

"mean off" and "sd off" are the largest errors of means and standard deviations over all scalars of the reference, in
standard deviations of the posterior; errors above {wrong} are bold. "k" is Pareto k, by which a fit is judged without
any reference: bold from {good} on. "worth" is the share of its draws that a fit is worth once they are weighted.
Seconds are of CPU, with tracing, compiling and the judgement, on a machine that was busy with other work. Draws of
Pathfinder are weighted and resampled, those of guides are not.
"""


def write(page: Path, runs: Sequence[Record]) -> None:
    """Write the page from all fits."""
    guides = list(dict.fromkeys(run["guide"] for run in runs))
    parts = [_HEAD.format(wrong=WRONG, good=GOOD_K), _summary(runs, guides), _misleading(runs)]
    parts += [_table(guide, [run for run in runs if run["guide"] == guide]) for guide in guides]
    page.write_text("\n".join(parts), encoding="utf-8")


def _summary(runs: Sequence[Record], guides: Sequence[str]) -> str:
    lines = [
        "## Whether Pareto k tells",
        "",
        f"Fits by guide, and of them those with a mean or a standard deviation that is off by more than {WRONG}:",
        "",
        f"| guide | fits | k below {GOOD_K} | of these off | k above | of these off | median seconds | failed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for guide in guides:
        mine = [run for run in runs if run["guide"] == guide]
        made = [run for run in mine if not run["error"]]
        low, high = ([run for run in made if _is_good(run) is good] for good in (True, False))
        seconds = f"{np.median([run['cpu_seconds'] for run in made]):.1f}" if made else "-"
        counts = (len(made), len(low), _num_off(low), len(high), _num_off(high))
        cells = [guide, *map(str, counts), seconds, str(len(mine) - len(made))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _misleading(runs: Sequence[Record]) -> str:
    """Name the fits with a low k whose moments are wrong all the same."""
    found = [run for run in runs if not run["error"] and _is_good(run) and _is_off(run)]
    lines = [
        f"Where k is below {GOOD_K} and a moment is off by more than {WRONG} all the same, weights can correct it: a "
        "low k says that weighted draws are good (`mean_psis` and `sd_psis` of `fit.summary()`), and not that the "
        "guide is. Errors of many standard deviations are those of another mode, which k cannot see: no draw is there.",
        "",
        *(
            f"- {run['posterior']}, {run['guide']}: k {_number(run['pareto_k'])}, mean of `{run['mean_at']}` off by "
            f"{run['mean_error']:.2f}, sd of `{run['sd_at']}` by {run['sd_error']:.2f}."
            for run in found
        ),
    ]
    return "\n".join(
        [
            *(
                lines
                if found
                else [f"No fit with k below {GOOD_K} has a moment that is off by more than {WRONG}."]
            ),
            "",
        ]
    )


def _table(guide: str, runs: Sequence[Record]) -> str:
    lines = [
        f"## {guide}",
        "",
        "| posterior | bound | k | worth | mean off | of | sd off | of | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for run in sorted(runs, key=lambda run: run["posterior"]):
        if run["error"]:
            lines.append(f"| {run['posterior']} | {run['error']} | | | | | | | |")
            continue
        k = f"{_number(run['pareto_k'])}"
        count = 1000 if guide != "Pathfinder" else 8000
        cells = [
            run["posterior"],
            "-" if run["bound"] is None else f"{run['bound']:.1f}",
            k if _is_good(run) else f"**{k}**",
            "-" if run["effective"] is None else f"{100 * run['effective'] / count:.0f}%",
            _error(run["mean_error"]),
            f"`{run['mean_at']}`",
            _error(run["sd_error"]),
            f"`{run['sd_at']}`",
            f"{run['cpu_seconds']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _is_good(run: Record) -> bool:
    return run["pareto_k"] is not None and run["pareto_k"] < GOOD_K


def _is_off(run: Record) -> bool:
    return max(run["mean_error"], run["sd_error"]) > WRONG


def _num_off(runs: Sequence[Record]) -> int:
    return sum(map(_is_off, runs))


def _number(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.2f}"


def _error(value: float) -> str:
    return f"**{value:.2f}**" if value > WRONG else f"{value:.2f}"
