"""Write the sections of the page on performance, each from cells."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from cells import mean_of, ratios
from engines import ENGINES
from leftovers import lost_of, steps_of, table_of
from problems import LARGE_MODELS, MODELS
from results import ONCE_ABOVE, Record, is_tired
from tables import Cells, table
from targets import DIAGONAL_AIM, GRADIENT_AIMS, best_diagonal, best_peer, over_diagonal, over_stan

NOT_RUN = "Not run."


def coverage(runs: Sequence[Record]) -> str:
    """Count the models on which each engine was run, and the runs, with the time limit of a run."""
    kinds = ((MODELS, "cold"), (MODELS, "warm"), (LARGE_MODELS, "cold"))
    rows = []
    for name, engine in ENGINES.items():
        row = [name]
        for known, cache in kinds:
            asked = [model for model in known if model not in engine.without]
            counts = [
                sum((run["engine"], run["model"], run["cache"]) == (name, model, cache) for run in runs)
                for model in asked
                if cache == "cold" or not is_tired(runs, name, model, "cold")
            ]
            row.append(_how_many(counts) if counts and cache in engine.caches else "")
        limits = {run["limit"] for run in runs if run["engine"] == name}
        rows.append([*row, " or ".join(f"{limit:.0f}" for limit in sorted(limits))])
    header = [
        "engine",
        "examples, cold",
        "examples, warm",
        "large models, cold",
        "time limit of a run, seconds",
    ]
    text = (
        "The number of models on which each engine was run, of the requested models. A run that failed, or took more "
        f"than {ONCE_ABOVE:.0f} seconds, is not repeated and has no warm start. Warm starts use each library's best "
        "settings, and also NumPyro's defaults."
    )
    return f"{text}\n\n{table(header, rows)}"


def _how_many(counts: Sequence[int]) -> str:
    """Count models, and the runs of each if there is more than one; `counts`: runs by model."""
    text, some = f"{sum(map(bool, counts))} of {len(counts)}", [count for count in counts if count]
    if max(counts) < 2:
        return text
    return text + f", {' to '.join(dict.fromkeys(map(str, (min(some), max(some)))))} runs each"


def cold(cells: Cells, models: Sequence[str]) -> str:
    """Compare every peer with accord by cold seconds per 1000 effective draws."""
    rows = []
    for engine in dict.fromkeys(name for _, name in cells if name != "accord"):
        found = ratios(cells, models, engine, "accord", "cold")
        if not found:
            rows.append([engine, "", "", "", "0"])
            continue
        means = [mean_of({m: cells[m, name].values["cold"] for m in found}) for name in ("accord", engine)]
        rows.append([engine, *(f"{mean:.3g}" for mean in means), f"{mean_of(found):.2f}", str(len(found))])
    best, _ = best_peer(cells, models)
    said = f"The best peer is {best}. " if best else ""
    header = ["engine", "accord's mean on the same models", "the engine's mean", "ratio", "models"]
    return (
        f"{said}Geometric means over the models on which accord and the engine both converged:\n\n"
        + table(header, rows)
    )


def gradients(cells: Cells, models: Sequence[str]) -> str:
    """Compute ratios by model to the peers of the aims and to the best diagonal metric."""
    peers = [peer for group in GRADIENT_AIMS for peer in group]
    found = [ratios(cells, models, "accord", peer, "ess_per_gradient") for peer in peers]
    best = over_diagonal(cells, models)
    rows = []
    for model in models:
        mine, other = cells[model, "accord"], best_diagonal(cells, model)
        rows.append(
            [
                model,
                f"{mine.values['ess_per_gradient'] * 1000:.3g}" if mine.values else mine.failure,
                *(f"{each[model]:.2f}" if model in each else "" for each in found),
                f"{best[model]:.2f}{'' if best[model] >= DIAGONAL_AIM else ' **missed**'}"
                if model in best
                else "",
                other.engine if other else "",
            ]
        )
    rows.append(
        [
            "geometric mean of a column",
            "",
            *(f"{mean_of(each):.2f}" for each in (*found, _positive(best))),
            "",
        ]
    )
    header = [
        "model",
        "accord's ESS per 1000 gradients",
        *(f"over {peer}'s" for peer in peers),
        "over the best diagonal metric's",
        "which is",
    ]
    return table(header, rows)


def beside_stan(cells: Cells, models: Sequence[str]) -> str:
    """Compare the run times of accord and Stan per effective draw, without compilation."""
    text = (
        "Seconds of warm-up and sampling per 1000 effective draws. Stan's own clock is the sum of the times that its "
        "chains report, divided by the cores, without JSON and idle cores. The aim uses the smaller of the two figures."
    )
    found, rows = over_stan(cells, models), []
    for model in found:
        accord, stan = cells[model, "accord"].values, cells[model, "pystan"].values
        verdict = "" if found[model] >= 1 else " **missed**"
        figures = [f"{value:.3g}" for value in (accord["run"], stan["run"], stan["own_clock"])]
        rows.append([model, *figures, f"{found[model]:.2f}{verdict}"])
    header = ["model", "accord", "Stan through PyStan", "Stan's own clock", "the smaller over accord's"]
    return text + "\n\n" + (table(header, rows) if rows else NOT_RUN)


def steps(folder: Path) -> str:
    """Tabulate the cost of a NUTS step, if `overhead.py` has measured it."""
    rows = [
        [
            each.model,
            f"{each.gradient:.2f}",
            f"{each.step:.2f}",
            f"{each.step - each.gradient:.2f}",
            f"{each.step / each.gradient:.2f}",
            "met" if each.is_met else "**missed**",
        ]
        for each in steps_of(folder / "overhead.md")
    ]
    if not rows:
        return NOT_RUN
    return "Microseconds on one core, measured by `benchmarks/overhead.py`.\n\n" + table(
        ["model", "gradient", "step", "extra", "ratio", "aim"], rows
    )


def compiling(folder: Path) -> str:
    """Tabulate the cost of compiling a run, if `compiling.py` has measured it."""
    header, rows = table_of(folder / "compiling.md")
    if not rows:
        return NOT_RUN
    whole, bare = header.index("compile advance"), header.index("gradient: compile")
    more = {model: float(row[whole]) - float(row[bare]) for model, row in rows.items()}
    least, most = min(more, key=lambda model: more[model]), max(more, key=lambda model: more[model])
    text = (
        "Seconds of CPU for each model once, with nothing cached, by `benchmarks/compiling.py`. Python traces and "
        "lowers both programs of a run. XLA compiles the program that draws (advance) and the program that turns "
        "positions into sites. The table also has the log density with its gradient alone. NUTS, random numbers, "
        f"step size and starting points take {median(more.values()):.2f} s of XLA's time more than the gradient that "
        f"they surround, in the median; {more[least]:.2f} on `{least}`, {more[most]:.2f} on `{most}`. The difference "
        "may be negative, because a run has XLA skip passes that take longer than they save, and the bare gradient "
        "here does not. In a run the two programs are compiled side by side. The second run of a model, in this "
        "process or another, compiles nothing."
    )
    return f"{text}\n\n{table(header, rows.values())}"


def lost(folder: Path) -> str:
    """Report the chains lost on arma11, if `lost_chains.py` has counted them."""
    found = lost_of(folder / "lost_chains.txt")
    if not found:
        return NOT_RUN
    return f"{sum(found.values())} of {4 * len(found)} chains, in {len(found)} seeds, by `benchmarks/lost_chains.py`."


def failures(cells: Cells) -> str:
    """List the cells that failed, and why."""
    rows = [
        [each.model, each.engine, each.failure.replace("|", "/")]
        for each in cells.values()
        if each.failure and each.failure != "not run"
    ]
    return table(["model", "engine", "why"], rows) if rows else "Nothing."


def settings(runs: Sequence[Record], engines: Sequence[str]) -> str:
    """List the settings of every engine, and the models left out."""
    rows = []
    for engine in engines:
        mine = [run for run in runs if run["engine"] == engine]
        names = dict.fromkeys(("accord", "jax") if engine == "accord" else (*ENGINES[engine].packages, "jax"))
        versions = [
            f"{name} {' and '.join(sorted({run['versions'].get(name, '') for run in mine}))}"
            for name in names
        ]
        chosen = ENGINES[engine]
        left_out = [f"{', '.join(models)}: {why}" for why, models in chosen.left_out.items()]
        rows.append([engine, mine[-1]["settings"], ", ".join(versions), "; ".join(left_out)])
    return table(["engine", "settings", "versions", "left out"], rows)


def _positive(found: dict[str, float]) -> dict[str, float]:
    return {model: ratio for model, ratio in found.items() if ratio > 0}
