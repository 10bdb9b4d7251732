"""Draw a small picture of a distribution, to be seen on a white or a dark page: curves, bars, points or paths."""

from pathlib import Path
from typing import Any

import jax
import matplotlib as mpl
import numpy as np

import accord.distributions as dist

mpl.use("Agg")
from matplotlib.figure import Figure

# Of middle lightness, so that they stand out on white and on black.
COLOURS = ("#3f88c5", "#e4793a", "#43a47c")
GREY = "#8a8a8a"
WIDTH, HEIGHT, DPI = 1.6, 0.9, 200  # shown at half size, which is sharp on every screen


def draw(name: str, shown: list[dist.AbstractDistribution], path: Path) -> None:
    """Write the picture of these distributions."""
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI)
    axes = figure.add_axes((0.03, 0.06, 0.94, 0.88))
    axes.set_axis_off()
    first = shown[0]
    if 0 in shape_of(first):
        _base_line(axes, 0, 1)
    elif first.event_shape and first.event_shape[0] >= 20:
        _paths(axes, first)
    elif not shape_of(first) and first.is_discrete:
        _bars(axes, shown)
    elif not shape_of(first):
        _curves(axes, shown)
    elif first.is_discrete and first.event_dim == 0:
        _bars(axes, shown)
    else:
        _points(axes, name, first)
    figure.savefig(path, transparent=True, metadata={"Software": None})


def shape_of(distribution: dist.AbstractDistribution) -> tuple[int, ...]:
    """The whole shape of one draw."""
    return (*distribution.batch_shape, *distribution.event_shape)


def _draws(distribution: dist.AbstractDistribution, count: int) -> np.ndarray:
    """Draws, always the same."""
    return np.asarray(jax.jit(lambda key: distribution.sample(key, (count,)))(jax.random.key(3)))


def _density(distribution: dist.AbstractDistribution, x: np.ndarray) -> np.ndarray:
    """The density or probability."""
    return np.exp(np.asarray(jax.jit(distribution.log_prob)(x)))


def _curves(axes: Any, shown: list[dist.AbstractDistribution]) -> None:
    """Densities, filled lightly, over the range in which draws lie."""
    draws: list[np.ndarray] = []
    try:
        draws = [_draws(distribution, 4000) for distribution in shown]
        low, high = min(_range(each)[0] for each in draws), max(_range(each)[1] for each in draws)
    except Exception:  # improper: no draws
        low, high = -1.0, 4.0
    if np.ptp([low, high]) == 0:
        low, high = low - 1, high + 1
        axes.plot([0.5 * (low + high)] * 2, [0, 1], color=COLOURS[0], linewidth=1.8)
        _base_line(axes, low, high)
        return
    margin = 0.08 * (high - low)
    x = np.linspace(low - margin, high + margin, 401)
    curves = [_density(distribution, x) for distribution in shown]
    tops = [np.quantile(curve[np.isfinite(curve)], 0.985) * 1.25 for curve in curves]
    top = max(min(curve[np.isfinite(curve)].max(), limit) for curve, limit in zip(curves, tops, strict=True))
    for curve, colour in zip(curves, COLOURS, strict=False):
        shown_curve = np.minimum(np.nan_to_num(curve, posinf=2 * top), 2 * top)
        axes.fill_between(x, shown_curve, color=colour, alpha=0.22, linewidth=0)
        axes.plot(x, shown_curve, color=colour, linewidth=1.3)
    for each, colour in zip(draws, COLOURS, strict=False):
        # Values that many draws share have a probability of their own.
        values, counts = np.unique(each, return_counts=True)
        atoms = counts > 0.02 * each.size
        axes.vlines(values[atoms], 0, top * counts[atoms] / counts.max(), color=colour, linewidth=1.8)
    axes.set_ylim(-0.03 * top, 1.06 * top)
    _base_line(axes, x[0], x[-1])


def _range(draws: np.ndarray) -> tuple[float, float]:
    """The range of nearly all draws; less where the tails are heavy, so that the body stays wide enough to see."""
    low, first, middle, third, high = np.quantile(draws, (0.01, 0.25, 0.5, 0.75, 0.985))
    spread = third - first
    return max(low, first - 2.5 * spread), min(high, third + 2.5 * spread, middle + 6 * (middle - low))


def _bars(axes: Any, shown: list[dist.AbstractDistribution]) -> None:
    """Probabilities as bars, side by side."""
    draws = [_draws(distribution, 4000) for distribution in shown]
    low = int(min(np.quantile(each, 0.002) for each in draws))
    high = int(max(max(np.quantile(each, 0.98), _range(each)[1]) for each in draws))
    k = np.arange(low, high + 1)
    width = 0.84 / len(shown)
    for number, (distribution, colour) in enumerate(zip(shown, COLOURS, strict=False)):
        offset = (number - 0.5 * (len(shown) - 1)) * width
        axes.bar(k + offset, _density(distribution, k), width=0.92 * width, color=colour, linewidth=0)
    _base_line(axes, low - 0.7, high + 0.7)
    axes.set_xlim(low - 0.8, high + 0.8)


def _points(axes: Any, name: str, shown: dist.AbstractDistribution) -> None:
    """Draws of the first two free elements, as points."""
    draws = _draws(shown, 700).reshape(700, -1)
    if shown.event_dim == 1 and draws.shape[1] == 3:
        # On a plane such as that of a simplex, seen from in front.
        draws = draws @ np.array([[-1.0, -0.58], [1.0, -0.58], [0.0, 1.15]])
    varying = np.flatnonzero(draws.std(axis=0) > 1e-6)
    pair = draws[:, [varying[0], varying[min(1, varying.size - 1)]]]
    if np.allclose(pair[:, 0], pair[:, 1]):
        axes.hist(pair[:, 0], bins=24, color=COLOURS[0])
        return
    spread = np.diff(np.quantile(pair, (0.2, 0.8), axis=0), axis=0)
    inside = (np.abs(pair - np.median(pair, axis=0)) <= 4 * spread).all(axis=1)
    axes.scatter(*pair[inside].T, s=2.2, color=COLOURS[0], alpha=0.55, linewidth=0)
    if name in ("ProjectedNormal", "VonMisesFisher", "LKJCholesky"):
        axes.set_aspect("equal")


def _paths(axes: Any, shown: dist.AbstractDistribution) -> None:
    """Three draws against time."""
    draws = _draws(shown, 3)
    for path, colour in zip(draws.reshape(3, draws.shape[1], -1)[..., 0], COLOURS, strict=True):
        axes.plot(path, color=colour, linewidth=1.3)
    _base_line(axes, 0, draws.shape[1] - 1)


def _base_line(axes: Any, low: float, high: float) -> None:
    """The axis on which the values lie."""
    axes.plot([low, high], [0, 0], color=GREY, linewidth=0.7, zorder=0)
