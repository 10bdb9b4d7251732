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
COMMAND = "python benchmarks/series.py"
COLD_TITLE = "seconds per 1000 effective draws, cold"


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
        _introduction(runs, models, large),
        "## Runs",
        sections.coverage(runs),
        "## Aims",
        table(["figure", "aim", "measured", ""], [each.row for each in aims]),
        NOTES.read_text().strip(),
        "## Cold: seconds per 1000 effective draws",
        sections.cold(small, models),
        f"![Cold seconds per 1000 effective draws]({pictures.name}/performance_cold.png)",
        matrix(cells, models, engines, "cold"),
        "Geometric mean ratios to NumPyro, over the models that both completed; above 1, the engine is better:",
        speed_ups(small, models, engines),
        "## Effective draws per gradient",
        f"![Effective draws per gradient]({pictures.name}/performance_gradients.png)",
        sections.gradients(small, models),
        "## Warm: seconds from the call to the draws",
        "A new process that finds the programs that an earlier process compiled and stored, in the way of its library.",
        matrix(warm, warmed, engines, "seconds") if warmed else sections.NOT_RUN,
        "## Run time without compilation, compared with Stan",
        sections.beside_stan(small, models),
        f"![Stan's run time over accord's]({pictures.name}/performance_stan.png)",
        "## Cost of a NUTS step relative to its gradient",
        sections.steps(folder),
        "## Compilation time",
        sections.compiling(folder),
        "## Chains lost on arma11",
        sections.lost(folder),
        "## Large models",
        *_large(cells, large, engines, pictures),
        "## Failures",
        sections.failures(cells),
        "## Settings and versions",
        sections.settings(runs, engines),
        "## All cells",
        details(cells.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(runs: Sequence[Record], models: Sequence[str], large: Sequence[str]) -> str:
    dates = sorted({run["date"] for run in runs})
    machines = sorted({f"{run['machine']}, {run['cores']} cores" for run in runs})
    revisions = sorted({run["versions"]["accord"] for run in runs if run["engine"].startswith("accord")})
    load = sum(run["load"] for run in runs) / len(runs)
    return (
        f"{len(runs)} runs on {len(models)} of the {len(MODELS)} posteriors of `examples/` and {len(large)} of "
        f"{len(LARGE_MODELS)} large ones, with accord {' and '.join(revisions)}, "
        f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, on {' and '.join(machines)}; mean load before a run "
        f"{load:.1f}. Every run is a separate process with 4 chains in float64, and engines take turns. Effective "
        "draws are the smallest bulk ESS over all parameters of a model, computed by `accord.report` for every engine. "
        "A cell has failed if R-hat is 1.05 or more, if it took too long, or if it ended in an error; it is then in no "
        "mean. [How it is measured](../benchmarks/README.md). [Cost of likelihoods](likelihoods.md)."
    )


def _large(cells: Cells, models: Sequence[str], engines: Sequence[str], pictures: Path) -> list[str]:
    """Tables, and a picture if any engine got through any of the models."""
    if not models:
        return [sections.NOT_RUN]
    parts, figures = [], _figures(cells, models, engines, "cold")
    if any(figures.values()):
        charts.dots(pictures / "performance_large.png", COLD_TITLE, models, figures)
        parts.append(f"![Cold seconds per 1000 effective draws]({pictures.name}/performance_large.png)")
    parts += ["Seconds per 1000 effective draws, cold:", matrix(cells, models, engines, "cold")]
    return [*parts, "Seconds from call to draws, cold:", matrix(cells, models, engines, "seconds")]


def _figures(
    cells: Cells, models: Sequence[str], engines: Sequence[str], name: str
) -> dict[str, dict[str, float]]:
    """One figure by engine and model, where it did not fail."""
    found = {
        engine: {model: cells[model, engine] for model in models if not cells[model, engine].failure}
        for engine in engines
    }
    return {
        engine: {model: each.values[name] for model, each in row.items()} for engine, row in found.items()
    }


def _draw(cells: Cells, models: Sequence[str], engines: Sequence[str], pictures: Path) -> None:
    charts.dots(
        pictures / "performance_cold.png", COLD_TITLE, models, _figures(cells, models, engines, "cold")
    )
    per_gradient = {
        engine: {model: 1000 * value for model, value in values.items() if value == value}
        for engine, values in _figures(cells, models, engines, "ess_per_gradient").items()
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
