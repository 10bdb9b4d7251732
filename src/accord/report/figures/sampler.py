"""Show what a sampler did: step sizes, tree depths, and the time of each phase."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..words import count_of
from .chains import has_lines, legend
from .marks import INK, Axis, Bars, Line, Mark, Panel, Rule
from .ticks import number


def step_size(warmup: np.ndarray, sampled: np.ndarray, chains: Sequence[int]) -> Panel:
    """Draw step sizes by draw, through warm-up and after it; shape `(chain, draw)` each, > 0.

    Of more than six chains, the quantiles.
    """
    values = np.concatenate([warmup, sampled], axis=1).astype(np.float64)
    values = np.where(values > 0, values, np.nan)
    at = np.arange(values.shape[1]) - warmup.shape[1]
    known = values[np.isfinite(values)]
    rows = values
    if not has_lines(len(values)) and known.size:
        rows = np.nanquantile(values, (0.05, 0.5, 0.95), axis=0)
    lines = (
        [Line(at, row, colour, 0.9, is_thin=True) for colour, row in enumerate(rows)] if known.size else []
    )
    marks: list[Mark] = [*lines, Rule(0.0, is_vertical=True)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.5, 2.0)
    last = values[:, -1] if values.shape[1] else np.zeros(0)
    last = last[np.isfinite(last)]
    words = (
        f"from {number(float(last.min()))} to {number(float(last.max()))} at the end"
        if last.size
        else "unknown"
    )
    return Panel(
        "Step size",
        tuple(marks),
        Axis(
            "draw after warm-up",
            float(at[0]) if len(at) else 0.0,
            max(float(at[-1]) if len(at) else 1.0, 1.0),
        ),
        Axis("step size", low / 1.5, high * 1.5, is_log=True),
        f"Step sizes of {count_of(len(values), 'chain')} through warm-up, left of the dashed line, and after it: "
        f"{words}.",
        legend(chains) if has_lines(len(values)) else ((0, "5%"), (1, "50%"), (2, "95%")),
    )


def tree_depth(depths: np.ndarray, most: int | None) -> Panel:
    """Draw how many draws had trees of each depth, shape `(chain, draw)`; `most`, the largest depth allowed."""
    counts = np.bincount(np.asarray(depths, int).ravel(), minlength=1)
    at = np.arange(len(counts))
    share = counts / max(counts.sum(), 1)
    full = float(share[most]) if most is not None and most < len(share) else 0.0
    limit = "" if most is None else f" {full:.1%} reached the limit of {most}."
    mean = f"mean {number(float(share @ at))}" if counts.sum() else "no draws"
    return Panel(
        "Tree depth",
        (
            Bars(at - 0.4, at + 0.4, np.zeros(len(at)), share, 0, 0.6),
            *(() if most is None else (Rule(most + 0.5, is_vertical=True),)),
        ),
        Axis("depth", -0.6, max(len(counts), 3 if most is None else most + 1) + 0.1),
        Axis("share of draws", 0, 1.1 * (float(share.max()) or 1.0)),
        f"Depths of the trees of trajectories, {mean}.{limit} A tree of depth n takes 2^n - 1 gradients.",
    )


def seconds(timings: Mapping[str, float]) -> Panel:
    """Draw how long each phase took; `timings` has seconds by name."""
    names = [name for name, value in timings.items() if np.isfinite(value)]
    values = np.array([timings[name] for name in names], float)
    rows = np.arange(len(names), dtype=float)[::-1]
    listed = ", ".join(f"{name} {number(value)}" for name, value in zip(names, values, strict=True))
    return Panel(
        "Time",
        (_rows(values, rows),),
        Axis("seconds", 0, 1.1 * (float(values.max(initial=0)) or 1.0)),
        Axis("", -0.7, max(len(names) - 0.3, 0.7), tuple(zip(rows.tolist(), names, strict=True))),
        f"Seconds by phase: {listed or 'unknown'}.",
    )


def divergences(counts: np.ndarray, chains: Sequence[int]) -> Panel:
    """Draw how many draws diverged in each chain after warm-up, shape `(chain,)`."""
    at = np.arange(len(counts))
    by = max(1, len(chains) // 8)
    ticks = tuple((float(place), str(chains[place])) for place in range(0, len(chains), by))
    return Panel(
        "Divergences",
        (Bars(at - 0.4, at + 0.4, np.zeros(len(at)), np.asarray(counts, float), 1, 0.7),),
        Axis("chain", -0.6, max(len(counts) - 0.4, 0.6), ticks),
        Axis("divergent draws", 0, 1.1 * max(float(np.max(counts, initial=0)), 4.0)),
        f"Divergent draws after warm-up: {count_of(int(np.sum(counts)), 'draw')} in "
        f"{int(np.sum(np.asarray(counts) > 0))} of {count_of(len(counts), 'chain')}.",
    )


def losses(values: np.ndarray, label: str) -> Panel:
    """Draw what a fit minimised by step, shape `(step,)`; the axis leaves out the highest tenth, of the beginning."""
    known = np.asarray(values, np.float64)
    finite = known[np.isfinite(known)]
    low, high = (float(finite.min()), float(np.quantile(finite, 0.9))) if finite.size else (0.0, 1.0)
    aside = 0.08 * (high - low) or 1.0
    words = f"from {number(float(finite[0]))} to {number(float(finite[-1]))}" if finite.size else "no steps"
    return Panel(
        f"Loss of {label}",
        (Line(np.arange(known.size), known, 0, 1.0, is_thin=True),),
        Axis("step", 0, max(known.size - 1, 1)),
        Axis("loss", low - aside, high + 3 * aside),
        f"Loss of {label} by step: {words} in {count_of(known.size, 'step')}.",
    )


def _rows(values: np.ndarray, rows: np.ndarray) -> Bars:
    return Bars(np.zeros(len(values)), values, rows - 0.3, rows + 0.3, INK, 0.5)
