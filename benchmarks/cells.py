"""Judge draws, and reduce runs to cells: one engine on one model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from accord.report import ess_bulk, mcse_mean, r_hat
from results import Record

MAX_R_HAT = 1.05
STUCK = 999.0  # in place of an R-hat that is none, of chains that do not move
MAX_MEANS = 500  # that a record keeps


def judge(draws: dict[str, np.ndarray]) -> dict[str, Any]:
    """Smallest bulk ESS and largest R-hat over all scalars, and which it is; means and their errors of up to 500.

    Sites are in alphabetical order. Of more scalars every so-manieth is kept.
    """
    names = sorted(draws)
    columns = np.concatenate([draws[name].reshape(*draws[name].shape[:2], -1) for name in names], axis=2)
    # A scalar without ESS, of a chain that did not move say, is worth nothing.
    ess = np.nan_to_num(ess_bulk(columns))
    rhat = np.nan_to_num(r_hat(columns), nan=STUCK, posinf=STUCK)
    kept = columns[:, :, :: -(-columns.shape[2] // MAX_MEANS)]
    return {
        "shapes": {name: list(draws[name].shape) for name in names},
        "min_ess": float(ess.min()),
        "max_r_hat": float(rhat.max()),
        "worst": _name_of(int(ess.argmin()), {name: draws[name].shape[2:] for name in names}),
        "means": [float(f"{mean:.9g}") for mean in kept.mean(axis=(0, 1))],
        "errors": [float(f"{error:.3g}") for error in np.nan_to_num(mcse_mean(kept))],
    }


def _name_of(column: int, shapes: dict[str, tuple[int, ...]]) -> str:
    """The scalar in a column, as `theta[2]`, counted from 0."""
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        if column < size:
            return name + "".join(f"[{i}]" for i in np.unravel_index(column, shape)) if shape else name
        column -= size
    raise IndexError(column)


def disagreement(one: Record, other: Record) -> float:
    """The largest difference of the posterior means of two runs, in standard errors of that difference."""
    means, errors = (np.asarray([run[name] for run in (one, other)], float) for name in ("means", "errors"))
    error = np.hypot(errors[0], errors[1])
    return float(
        np.max(np.divide(np.abs(means[0] - means[1]), error, out=np.zeros_like(error), where=error > 0))
    )


@dataclass(frozen=True)
class Cell:
    """Medians over the runs of one engine on one model; `failure` says why there are none, or why they do not count."""

    model: str
    engine: str
    num_runs: int
    failure: str
    values: dict[str, float]


def cell(runs: Sequence[Record], model: str, engine: str, cache: str = "cold") -> Cell:
    """The cell of an engine and a model among all `runs`, of those that began with a cold or a warm cache."""
    mine = [run for run in runs if (run["model"], run["engine"], run["cache"]) == (model, engine, cache)]
    done = [run for run in mine if not run["error"]]
    if not done:
        return Cell(model, engine, 0, mine[0]["error"] if mine else "not run", {})
    counted = [run for run in done if run["gradients"]["warmup"] is not None]

    def middle(figure: Callable[[Record], float], among: Iterable[Record] = done) -> float:
        values = [figure(run) for run in among]
        return median(values) if values else float("nan")

    def total(run: Record) -> int:
        return run["gradients"]["warmup"] + run["gradients"]["sampling"]

    def sampling(run: Record) -> float:
        return run["seconds"] - run["phases"]["compile"]

    values = {
        "seconds": middle(lambda run: run["seconds"]),
        "cpu_seconds": middle(cpu_seconds),
        "compile": middle(lambda run: run["phases"]["compile"]),
        "min_ess": middle(lambda run: run["min_ess"]),
        "max_r_hat": max(run["max_r_hat"] for run in done),
        "cold": middle(lambda run: _per_thousand(run["seconds"], run)),
        "cold_cpu": middle(lambda run: _per_thousand(cpu_seconds(run), run)),
        "run": middle(lambda run: _per_thousand(sampling(run), run)),
        "own_clock": middle(
            lambda run: _per_thousand(
                (run["phases"].get("own_clock") or float("nan")) / min(4, run["cores"]), run
            )
        ),
        "warmup_gradients": middle(lambda run: run["gradients"]["warmup"], counted),
        "sampling_gradients": middle(lambda run: run["gradients"]["sampling"], counted),
        "ess_per_gradient": middle(lambda run: run["min_ess"] / total(run), counted),
        "step": middle(lambda run: sampling(run) / total(run) * 1e6, counted),
    }
    failure = f"R-hat {values['max_r_hat']:.2f}" if values["max_r_hat"] >= MAX_R_HAT else ""
    failed = [run for run in mine if run["error"]]
    if failed:
        failure = f"{failed[0]['error']} in {len(failed)} of {len(mine)} runs"
    return Cell(model, engine, len(done), failure, values)


def cpu_seconds(run: Record) -> float:
    """Of a run; with what Stan's chains say of themselves, since their processes outlive it and are not counted."""
    return run["cpu_seconds"] + (run["phases"].get("own_clock") or 0.0)


def ratios(
    cells: dict[tuple[str, str], Cell], models: Iterable[str], above: str, below: str, figure: str
) -> dict[str, float]:
    """By model, one engine's figure over another's, where both converged and the figure is known."""
    found = {}
    for model in models:
        pair = [cells[model, engine] for engine in (above, below) if (model, engine) in cells]
        if len(pair) == 2 and not any(each.failure for each in pair):
            ratio = pair[0].values[figure] / pair[1].values[figure]
            if np.isfinite(ratio):
                found[model] = ratio
    return found


def mean_of(ratios: dict[str, float]) -> float:
    """Their geometric mean; NaN of none."""
    return geometric_mean(ratios.values()) if ratios else float("nan")


def _per_thousand(seconds: float, run: Record) -> float:
    """Of effective draws."""
    return seconds / run["min_ess"] * 1000 if run["min_ess"] else float("inf")
