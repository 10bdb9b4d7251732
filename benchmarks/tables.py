"""Print cells as Markdown tables."""

from collections.abc import Iterable, Sequence

from cells import Cell, cell, mean_of, ratios
from results import Record

REFERENCE = "numpyro"

Cells = dict[tuple[str, str], Cell]


def report(runs: Sequence[Record]) -> str:
    """All tables."""
    models, engines = order(runs)
    cells = cells_of(runs, "cold")
    figures = ("cold", "seconds", "cold_cpu", "cpu_seconds")
    titles = (
        "Seconds per 1000 effective draws, cold",
        "Seconds from call to draws, cold",
        "CPU seconds per 1000 effective draws, cold",
        "CPU seconds from call to draws, cold",
    )
    parts = [
        f"### {title}\n\n" + matrix(cells, models, engines, name)
        for title, name in zip(titles, figures, strict=True)
    ]
    parts.append(
        "### Seconds from call to draws, warm\n\n"
        + matrix(cells_of(runs, "warm"), models, engines, "seconds")
    )
    parts.append(
        f"### Times better than {REFERENCE}, geometric means\n\n" + speed_ups(cells, models, engines)
    )
    return "\n\n".join([*parts, "### Every cell, medians\n\n" + details(cells.values())])


def order(runs: Sequence[Record]) -> tuple[list[str], list[str]]:
    """The models and the engines of the tables, as they were met; accord's first draw is no way to sample."""
    models, engines = (list(dict.fromkeys(run[name] for run in runs)) for name in ("model", "engine"))
    return models, [engine for engine in engines if not engine.endswith("first_draw")]


def cells_of(runs: Sequence[Record], cache: str) -> Cells:
    """The cells of all models and engines."""
    models, engines = order(runs)
    return {(model, engine): cell(runs, model, engine, cache) for model in models for engine in engines}


def matrix(cells: Cells, models: Sequence[str], engines: Sequence[str], name: str) -> str:
    """One figure of every cell, with its ratio to accord's in brackets."""
    rows = []
    for model in models:
        base = cells.get((model, "accord"))
        row = [model]
        for engine in engines:
            each = cells[model, engine]
            text = each.failure and short(each.failure)
            if not text:
                text = f"{each.values[name]:.3g}"
                if base is not None and not base.failure and engine != "accord":
                    text += f" ({each.values[name] / base.values[name]:.2g}x)"
            row.append(text)
        rows.append(row)
    return table(["model", *engines], rows)


def short(failure: str) -> str:
    """A failure in a word or two, for a narrow column."""
    return (
        failure
        if len(failure) <= 12
        else "not sampled"
        if failure.startswith("other sites")
        else "**failed**"
    )


def speed_ups(cells: Cells, models: Sequence[str], engines: Sequence[str]) -> str:
    """Geometric means, over the models that both did, of how much better than NumPyro's an engine's figures are."""
    figures = ("cold", "cold_cpu", "seconds", "run")
    rows = []
    for engine in engines:
        found = [ratios(cells, models, REFERENCE, engine, name) for name in figures]
        gradients = ratios(cells, models, engine, REFERENCE, "ess_per_gradient")
        means = [mean_of(each) for each in (*found, gradients)]
        rows.append([engine, *(f"{mean:.2f}" for mean in means), str(len(found[0]))])
    header = [
        "engine",
        "effective draws a second, cold",
        "the same by CPU",
        "cold start to draws",
        "effective draws a second of sampling",
        "ESS per gradient",
        "models",
    ]
    return table(header, rows)


def details(cells: Iterable[Cell]) -> str:
    """All that is known of every cell."""
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
    return table(header, rows)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
