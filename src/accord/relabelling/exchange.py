"""Check that a model cannot tell components apart: its density is the same where they have changed places."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..core.errors import ModelError
from ..core.series import InMemory
from ..predictive.over_draws import over_draws
from ..predictive.source import Source
from ..report.components import Axes, in_words, reorder, size_of

_NUM_DRAWS = 5  # at which it is checked
_CLOSE = {"float64": 1e-7, "float32": 1e-4}  # of the log density, and in nats


def exchangeable(source: Source, candidates: Sequence[Axes], what: str) -> Axes:
    """Return the first candidate along which the components of a model may change places.

    Two permutations make all others: the exchange of the first two components, and moving each one on by a place. So a
    density that either leaves as it is, at any place, depends on no order.

    **Raises** `ModelError` if there is none.
    """
    unknowns = [name for name in source.series if name in (source.unknowns or source.series)]
    chosen = {name: _some(source.series[name]) for name in unknowns}
    rows = [chosen]
    rows += [
        {name: reorder(draws, axes[name], order) if name in axes else draws for name, draws in chosen.items()}
        for axes in candidates
        for order in _generators(size_of(axes, {name: draws.shape for name, draws in chosen.items()}))
    ]
    together = {name: np.concatenate([row[name] for row in rows], axis=1) for name in unknowns}
    heights = _heights(source, together).reshape(len(rows), -1)
    scale = _CLOSE[source.precision] * (1 + np.abs(heights[0]))
    with np.errstate(invalid="ignore"):  # outside of the support
        gaps = np.abs(heights[1:] - heights[0]).reshape(len(candidates), 2, -1)
    for axes, gap in zip(candidates, gaps, strict=True):
        if np.all(gap <= scale):
            return axes
    worst = float(np.max(np.nan_to_num(gaps[0], nan=np.inf, posinf=np.inf)))
    change = f"changes by {worst:.3g}" if np.isfinite(worst) else "is not finite"
    raise ModelError(
        f"infer.relabel: the model tells {what or 'these components'} apart, so that they must keep their places: its "
        f"log density {change} where components change places along {in_words(candidates[0])}. Either their priors or "
        "an order differ, which is then what names them; or a site is missing that belongs to them. Give the axes of "
        "all sites that do, as in infer.relabel(draws, {'mu': 0, 'weights': 0}); of a matrix of transitions, (0, 1)."
    )


def _some(draws: np.ndarray) -> np.ndarray:
    """Return a few draws, evenly from all, as if of one chain."""
    flat = draws.reshape(-1, *draws.shape[2:])
    return flat[np.linspace(0, len(flat) - 1, _NUM_DRAWS).astype(int)][None]


def _generators(size: int) -> list[np.ndarray]:
    orders = np.r_[1, 0, 2:size], np.roll(np.arange(size), 1)
    return [np.broadcast_to(order, (1, _NUM_DRAWS, size)) for order in orders]


def _heights(source: Source, draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the log joint density at the draws of one chain, shape `(draw,)`."""
    target = source.trace("relabel", draws_others=False)
    few = replace(source, series=InMemory(draws), chains=(0,))
    found = over_draws("relabel", target, few, lambda target, values, key: target.log_joint(values))
    return np.asarray(found, np.float64)[0]
