"""Reduce the runs of one engine on one posterior to what the page says of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

import numpy as np

from results import Record

MAX_R_HAT = 1.01
MAX_DISAGREEMENT = 6.0  # standard errors; chance alone stays below 5 among ten thousand means


@dataclass(frozen=True)
class Standing:
    """The runs of one engine on one posterior; `runs` with any seed."""

    runs: Sequence[Record]

    @property
    def converged(self) -> list[Record]:
        """The runs that converged."""
        return [run for run in self.runs if has_converged(run)]

    @property
    def is_sound(self) -> bool:
        """Whether there are runs, and all of them converged."""
        return bool(self.runs) and len(self.converged) == len(self.runs)

    @property
    def count(self) -> str:
        """How many converged, of how many."""
        return f"{len(self.converged)} of {len(self.runs)}" if self.runs else "not run"

    @property
    def worst(self) -> str:
        """The largest R-hat, or what stopped a run."""
        errors = [short(run["error"]) for run in self.runs if run["error"]]
        rhats = [run["max_r_hat"] for run in self.runs if "max_r_hat" in run and not run["error"]]
        return "; ".join([*([_of_r_hat(max(rhats))] if rhats else []), *dict.fromkeys(errors)])

    def per_thousand(self, figure: str, least: float = 0.0) -> float | None:
        """Median of a figure in seconds per 1000 effective draws, over the runs that converged; None without any.

        Runs in which the figure is below `least`, or 0, as where compiling cannot be told from the run, do not count.
        """
        counted = [run for run in self.converged if run[figure] >= least and run[figure] > 0]
        values = [1000 * run[figure] / run["min_ess_bulk"] for run in counted]
        return median(values) if values else None


def standings(runs: Iterable[Record]) -> dict[tuple[str, str], Standing]:
    """All standings, by posterior and engine."""
    found: dict[tuple[str, str], list[Record]] = {}
    for run in runs:
        found.setdefault((run["posterior"], run["engine"]), []).append(run)
    return {key: Standing(sorted(some, key=lambda run: run["seed"])) for key, some in found.items()}


def has_converged(run: Record) -> bool:
    """Whether a run ended, with R-hat at most 1.01 and without a notice of severity error."""
    return (
        not run["error"]
        and run["max_r_hat"] <= MAX_R_HAT
        and run["min_ess_bulk"] > 0
        and not any(notice["severity"] == "error" for notice in run.get("notices", ()))
    )


def ratios(
    found: dict[tuple[str, str], Standing],
    posteriors: Sequence[str],
    above: str,
    below: str,
    figure: str,
    least: float = 0.0,
) -> dict[str, float]:
    """Return, by posterior, a figure of one engine over that of another, where both converged with every seed.

    There is none where the figure of the engine `above` is less than `least` seconds.
    """
    ratio = {}
    for posterior in posteriors:
        pair = [found.get((posterior, engine)) for engine in (above, below)]
        values = [
            each.per_thousand(figure, bound) if each and each.is_sound else None
            for each, bound in zip(pair, (least, 0.0), strict=True)
        ]
        if values[0] is not None and values[1] is not None:
            ratio[posterior] = values[0] / values[1]
    return ratio


def mean(values: Iterable[float]) -> str:
    """Their geometric mean, in words of a table."""
    known = [value for value in values if value > 0]
    return f"{geometric_mean(known):.3g}" if known else ""


def disagreements(
    found: dict[tuple[str, str], Standing], posteriors: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Runs that converged to means other than the reference draws, as posterior, engine and standard errors."""
    return [
        (posterior, engine, run["reference_z"])
        for (posterior, engine), standing in found.items()
        if posterior in posteriors
        for run in standing.converged
        if (run.get("reference_z") or 0.0) > MAX_DISAGREEMENT
    ]


def apart(one: Standing, other: Standing) -> float:
    """The largest difference of means between the first runs of two engines that converged, in standard errors."""
    if not one.converged or not other.converged:
        return 0.0
    first, second = one.converged[0], other.converged[0]
    gaps = np.abs(np.subtract(first["means"], second["means"]))
    errors = np.hypot(first["errors"], second["errors"])
    return float(np.max(np.divide(gaps, errors, out=np.zeros_like(gaps), where=errors > 0)))


def short(error: str) -> str:
    """An error, so that it fits into a cell."""
    text = " ".join(error.split()).replace("|", "/")
    return text if len(text) <= 90 else text[:87] + "..."


def _of_r_hat(value: float) -> str:
    return "a chain did not move" if value >= 900 else f"{value:.3f}"
