"""Reduce runs to cells, and cells to Markdown tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from accord.report import ess_bulk, mcse_mean, r_hat

MAX_R_HAT = 1.05
REFERENCE = "numpyro"

Record = dict[str, Any]


def judge(draws: dict[str, np.ndarray]) -> dict[str, Any]:
    """Smallest bulk ESS and largest R-hat over all scalars; mean and its error of each, sites in alphabetical order."""
    columns = np.concatenate(
        [draws[name].reshape(*draws[name].shape[:2], -1) for name in sorted(draws)], axis=2
    )
    ess, rhat = ess_bulk(columns), r_hat(columns)
    # A scalar without ESS, of a chain that did not move say, is worth nothing.
    return {
        "shapes": {name: list(draws[name].shape) for name in sorted(draws)},
        "min_ess": float(np.nan_to_num(ess).min()),
        "max_r_hat": float(np.nan_to_num(rhat, nan=np.inf).max()),
        "means": columns.mean(axis=(0, 1)).tolist(),
        "errors": mcse_mean(columns).tolist(),
    }


def disagreement(one: Record, other: Record) -> float:
    """The largest difference of the posterior means of two runs, in standard errors of that difference."""
    means, errors = (np.asarray([run[name] for run in (one, other)], float) for name in ("means", "errors"))
    return float(np.max(np.abs(means[0] - means[1]) / np.hypot(errors[0], errors[1])))


@dataclass(frozen=True)
class Cell:
    """Medians over the runs of one engine on one model; `failure` says why there are none, or why they do not count."""

    model: str
    engine: str
    num_runs: int
    failure: str
    values: dict[str, float]


def cell(runs: Sequence[Record], model: str, engine: str) -> Cell:
    """The cell of an engine and a model among all `runs`."""
    mine = [run for run in runs if (run["model"], run["engine"]) == (model, engine)]
    done = [run for run in mine if not run["error"]]
    if not done:
        return Cell(model, engine, 0, mine[0]["error"] if mine else "not run", {})
    counted = [run for run in done if run["gradients"]["warmup"] is not None]

    def middle(figure: Callable[[Record], float], among: Iterable[Record] = done) -> float:
        values = [figure(run) for run in among]
        return median(values) if values else float("nan")

    def total(run: Record) -> int:
        return run["gradients"]["warmup"] + run["gradients"]["sampling"]

    values = {
        "seconds": middle(lambda run: run["seconds"]),
        "cpu_seconds": middle(lambda run: run["cpu_seconds"]),
        "compile": middle(lambda run: run["phases"]["compile"]),
        "min_ess": middle(lambda run: run["min_ess"]),
        "max_r_hat": max(run["max_r_hat"] for run in done),
        "cold": middle(lambda run: run["seconds"] / run["min_ess"] * 1000),
        "cold_cpu": middle(lambda run: run["cpu_seconds"] / run["min_ess"] * 1000),
        "warmup_gradients": middle(lambda run: run["gradients"]["warmup"], counted),
        "sampling_gradients": middle(lambda run: run["gradients"]["sampling"], counted),
        "ess_per_gradient": middle(lambda run: run["min_ess"] / total(run), counted),
        "step": middle(lambda run: (run["seconds"] - run["phases"]["compile"]) / total(run) * 1e6, counted),
    }
    failure = f"R-hat {values['max_r_hat']:.2f}" if values["max_r_hat"] >= MAX_R_HAT else ""
    return Cell(model, engine, len(done), failure, values)


def report(runs: Sequence[Record]) -> str:
    """All tables, as Markdown."""
    models, engines = (list(dict.fromkeys(run[name] for run in runs)) for name in ("model", "engine"))
    cells = {(model, engine): cell(runs, model, engine) for model in models for engine in engines}
    figures = ("cold", "seconds", "cold_cpu", "cpu_seconds")
    titles = (
        "Seconds per 1000 effective draws, cold",
        "Seconds from call to draws, cold",
        "CPU seconds per 1000 effective draws, cold",
        "CPU seconds from call to draws, cold",
    )
    parts = [
        _matrix(title, cells, models, engines, name) for title, name in zip(titles, figures, strict=True)
    ]
    return "\n\n".join([*parts, _speed_ups(cells, models, engines), _details(cells.values())])


def _matrix(
    title: str, cells: dict[tuple[str, str], Cell], models: Sequence[str], engines: Sequence[str], name: str
) -> str:
    """One figure of every cell, with its ratio to accord's in brackets."""
    rows = []
    for model in models:
        base = cells.get((model, "accord"))
        row = [model]
        for engine in engines:
            each = cells[model, engine]
            text = each.failure
            if not text:
                text = f"{each.values[name]:.3g}"
                if base is not None and not base.failure and engine != "accord":
                    text += f" ({each.values[name] / base.values[name]:.2g}x)"
            row.append(text)
        rows.append(row)
    return f"### {title}\n\n" + _table(["model", *engines], rows)


def _speed_ups(cells: dict[tuple[str, str], Cell], models: Sequence[str], engines: Sequence[str]) -> str:
    """Geometric means, over the models that both did, of the ratio of NumPyro's figure to the engine's."""
    rows = []
    for engine in engines:
        both = [
            (cells[model, REFERENCE].values, cells[model, engine].values)
            for model in models
            if (model, REFERENCE) in cells
            and not cells[model, REFERENCE].failure
            and not cells[model, engine].failure
        ]
        if not both:
            rows.append([engine, "", "", "", "", "0"])
            continue
        ratios = [
            geometric_mean(reference[name] / mine[name] for reference, mine in both)
            for name in ("cold", "cold_cpu", "seconds")
        ]
        known = [pair for pair in both if all(np.isfinite(values["ess_per_gradient"]) for values in pair)]
        gradients = (
            geometric_mean(m["ess_per_gradient"] / r["ess_per_gradient"] for r, m in known)
            if known
            else np.nan
        )
        rows.append([engine, *(f"{ratio:.2f}" for ratio in (*ratios, gradients)), str(len(both))])
    header = [
        "engine",
        "effective draws a second",
        "the same by CPU",
        "cold start to draws",
        "ESS per gradient",
        "models",
    ]
    return f"### Times better than {REFERENCE}, geometric means\n\n" + _table(header, rows)


def _details(cells: Iterable[Cell]) -> str:
    header = [
        "model",
        "engine",
        "runs",
        "seconds",
        "of which compiling",
        "min ESS",
        "max R-hat",
        "warm-up gradients",
        "sampling gradients",
        "ESS per 1000 gradients",
        "µs per gradient",
    ]
    rows = []
    for each in cells:
        if not each.values:
            rows.append([each.model, each.engine, "0", each.failure, *[""] * 7])
            continue
        v = each.values
        rows.append(
            [
                each.model,
                each.engine + (" **failed**" if each.failure else ""),
                str(each.num_runs),
                f"{v['seconds']:.2f}",
                f"{v['compile']:.2f}",
                f"{v['min_ess']:.0f}",
                f"{v['max_r_hat']:.3f}",
                *(f"{v[name]:.0f}" for name in ("warmup_gradients", "sampling_gradients")),
                f"{v['ess_per_gradient'] * 1000:.3g}",
                f"{v['step']:.3g}",
            ]
        )
    return "### Every cell, medians\n\n" + _table(header, rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
