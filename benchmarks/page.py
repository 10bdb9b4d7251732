"""Write the page on performance from the runs that were kept."""

from collections.abc import Sequence
from pathlib import Path

import charts
import sections
from engines import ENGINES
from problems import LARGE_MODELS, MODELS
from results import Record
from tables import Cells, cells_of, details, matrix, order, speed_ups, table
from targets import over_stan, verdicts

NOTES = Path(__file__).resolve().parent / "performance_notes.md"
COMMAND = "python benchmarks/peers.py --page docs/performance.md"


def write(path: Path, runs: Sequence[Record], folder: Path) -> None:
    """Write the page and its pictures, from whole runs and from what other commands left in `folder`."""
    whole = [run for run in runs if run["draws"] is None]
    if not whole:
        raise SystemExit("There are no whole runs to write about: run peers.py without --page first.")
    path.write_text(page(whole, folder, path.parent / "pictures"))


def page(runs: Sequence[Record], folder: Path, pictures: Path) -> str:
    """The Markdown of the page; draws its pictures."""
    found, engines = order(runs)
    models, large = ([model for model in known if model in found] for known in (MODELS, LARGE_MODELS))
    engines = [name for name in ENGINES if name in engines]
    cells, warm = cells_of(runs, "cold"), cells_of(runs, "warm")
    small = {key: each for key, each in cells.items() if key[0] in models}
    aims = verdicts(small, models, runs, folder)
    warmed = [
        model for model in models if any((run["model"], run["cache"]) == (model, "warm") for run in runs)
    ]
    _draw(small, models, engines, pictures)
    parts = [
        "# Performance",
        f"<!-- Written by {COMMAND}: run it again instead of changing this page. -->",
        _introduction(runs, models),
        "## What accord aims at",
        table(["figure", "aim", "measured", ""], [each.row for each in aims]),
        NOTES.read_text().strip(),
        "## Cold: seconds per 1000 effective draws",
        sections.cold(small, models),
        f"![Cold seconds per 1000 effective draws]({pictures.name}/performance_cold.png)",
        matrix(cells, models, engines, "cold"),
        "Geometric means over the models that both did, against NumPyro; above 1, the engine is better:",
        speed_ups(small, models, engines),
        "## Effective draws per gradient",
        f"![Effective draws per gradient]({pictures.name}/performance_gradients.png)",
        sections.gradients(small, models),
        "## Warm: seconds from the call to the draws",
        "A process that finds what an earlier one has compiled, and kept as its library keeps it.",
        matrix(warm, warmed, engines, "seconds"),
        "## Running, without compiling, beside Stan",
        sections.beside_stan(small, models),
        f"![Stan's run time over accord's]({pictures.name}/performance_stan.png)",
        "## A step of NUTS over its gradient",
        sections.steps(folder),
        "## Chains lost on arma11",
        sections.lost(folder),
    ]
    if large:
        parts += ["## Large models", matrix(cells, large, engines, "cold"), "Seconds from call to draws:"]
        parts += [matrix(cells, large, engines, "seconds")]
    parts += [
        "## What failed",
        sections.failures(cells),
        "## Settings and versions",
        sections.settings(runs, engines),
    ]
    parts += ["## Every cell", details(cells.values())]
    return "\n\n".join(parts) + "\n"


def _introduction(runs: Sequence[Record], models: Sequence[str]) -> str:
    dates = sorted({run["date"] for run in runs})
    machines = sorted({f"{run['machine']}, {run['cores']} cores" for run in runs})
    load = sum(run["load"] for run in runs) / len(runs)
    return (
        f"{len(runs)} runs, on {len(models)} of the {len(MODELS)} posteriors of `examples/`, "
        f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, on {' and '.join(machines)}; mean load before a run "
        f"{load:.1f}. Every run is a process of its own with 4 chains in float64; engines take turns; effective draws "
        "are the smallest bulk ESS over all scalars of a model, computed by `accord.report` for all. A cell with "
        "R-hat of 1.05 or more, over its time, or ended by an error has failed, and is in no mean. "
        "[How it is measured](../benchmarks/README.md)."
    )


def _draw(cells: Cells, models: Sequence[str], engines: Sequence[str], pictures: Path) -> None:
    def figures(name: str) -> dict[str, dict[str, float]]:
        return {
            engine: {
                model: cells[model, engine].values[name]
                for model in models
                if not cells[model, engine].failure
            }
            for engine in engines
        }

    charts.dots(
        pictures / "performance_cold.png", "seconds per 1000 effective draws, cold", models, figures("cold")
    )
    per_gradient = {
        engine: {model: 1000 * value for model, value in values.items() if value == value}
        for engine, values in figures("ess_per_gradient").items()
    }
    charts.dots(
        pictures / "performance_gradients.png", "effective draws per 1000 gradients", models, per_gradient
    )
    charts.bars(
        pictures / "performance_stan.png",
        "Stan's run time per effective draw over accord's",
        over_stan(cells, models),
        aim=1.0,
    )
