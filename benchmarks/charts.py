"""Draw what was measured, to be seen on a white or a dark page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib.figure import Figure

COLOURS = ("#3f88c5", "#e4793a", "#43a47c", "#b05fbf", "#c5a13f", "#7f7f7f")
GREY = "#8a8a8a"
WIDTH, ROW, DPI = 8.0, 0.26, 110  # inches, and dots in each


def dots(path: Path, title: str, models: Sequence[str], series: Mapping[str, Mapping[str, float]]) -> None:
    """One row for each model, one colour for each engine, on a logarithmic axis; accord's dots are the large ones."""
    figure, axes = _axes(len(models), title)
    for index, (engine, values) in enumerate(series.items()):
        rows = [row for row, model in enumerate(models) if model in values]
        if not rows:  # it would have a name and no dot; the others keep their colours
            continue
        axes.scatter(
            [values[models[row]] for row in rows],
            rows,
            s=70 if engine == "accord" else 22,
            color=COLOURS[index % len(COLOURS)],
            marker="osD^vP"[index // len(COLOURS) % 6],
            label=engine,
            zorder=3,
        )
    _finish(figure, axes, models, path, legend=True)


def bars(path: Path, title: str, values: Mapping[str, float], aim: float) -> None:
    """A ratio on each model, from 1 on a logarithmic axis, and a line where the aim is."""
    models = list(values)
    figure, axes = _axes(len(models), title)
    heights = np.array([max(values[model], 1e-3) for model in models])
    colours = [COLOURS[0] if height >= aim else COLOURS[1] for height in heights]
    axes.barh(range(len(models)), heights - 1, left=1, height=0.62, color=colours, zorder=3)
    axes.axvline(aim, color=GREY, linewidth=1.2, linestyle="--")
    _finish(figure, axes, models, path, legend=False)


def _axes(num_rows: int, title: str):
    figure = Figure(figsize=(WIDTH, 1.1 + ROW * num_rows), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_title(title, fontsize=10, color=GREY)
    return figure, axes


def _finish(figure: Figure, axes, models: Sequence[str], path: Path, *, legend: bool) -> None:
    axes.set_yticks(range(len(models)), models, fontsize=8)
    axes.set_ylim(len(models) - 0.4, -0.6)  # the first model on top
    axes.grid(axis="both", color=GREY, alpha=0.25, linewidth=0.6)
    axes.tick_params(which="both", colors=GREY)
    axes.tick_params(axis="x", which="both", labelsize=8)  # of a short axis, the small ticks have labels too
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    if legend:
        axes.legend(fontsize=7, labelcolor=GREY, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, transparent=True, metadata={"Software": None})
