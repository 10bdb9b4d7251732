"""Check that a model cannot tell components apart: its density is the same where they have changed places."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import ModelError, OptionError
from ..density import LogDensity
from ..density.weights import MAP
from ..mcmc.draws import Draws
from ..predictive.source import float_values
from ..predictive.unconstrained import over_rows
from ..report.components import Axes, in_words, reorder, size_of

_NUM_DRAWS = 5  # at which it is checked
_CLOSE = {"float64": 1e-7, "float32": 1e-4}  # of the log density, and in nats

Values = Mapping[str, np.ndarray]


def density_of(draws: Draws) -> LogDensity:
    """Return the log density of a run. **Raises** `OptionError` for a run without its model, or without draws."""
    if draws.density is None:
        raise OptionError(
            "infer.relabel: these draws have no model, which is to say whether labels are arbitrary. Load them with "
            "it: infer.resume(path, model(...))."
        )
    if draws.num_draws == 0:
        raise OptionError("infer.relabel: there are no draws. See `draws.notices`.")
    return draws.density


def exchangeable(draws: Draws, candidates: Sequence[Axes], what: str) -> Axes:
    """Return the first candidate along which the components of a model may change places.

    Two permutations make all others: the exchange of the first two components, and moving each one on by a place. So a
    density that either leaves as it is, at any place, depends on no order.

    **Raises** `ModelError` if there is none.
    """
    density = density_of(draws)
    chosen = {entry.name: _some(draws[entry.name]) for entry in density.layout.unknowns}
    shapes = {name: values.shape for name, values in chosen.items()}
    rows = [chosen]
    rows += [
        {
            name: reorder(values, axes[name], order) if name in axes else values
            for name, values in chosen.items()
        }
        for axes in candidates
        for order in _generators(size_of(axes, shapes))
    ]
    together = {name: np.concatenate([row[name][0] for row in rows]) for name in chosen}
    heights = np.asarray(_evaluated(density, _height, together), np.float64).reshape(len(rows), -1)
    scale = _CLOSE[density.program.precision] * (1 + np.abs(heights[0]))
    with np.errstate(invalid="ignore"):  # outside of the support
        gaps = np.abs(heights[1:] - heights[0]).reshape(len(candidates), 2, -1)
    for axes, gap in zip(candidates, gaps, strict=True):
        if np.all(gap <= scale):
            return axes
    worst = float(np.max(np.nan_to_num(gaps[0], nan=np.inf, posinf=np.inf)))
    change = f"changes by {worst:.3g}" if np.isfinite(worst) else "is not finite"
    raise ModelError(
        f"infer.relabel: the model tells {what} apart, so that they must keep their places: its log density {change} "
        f"where they change places along {in_words(candidates[0])}. Either their priors or an order differ, which is "
        "then what names them; or a site is missing that belongs to them. Give the axes of all sites that do, as in "
        "infer.relabel(draws, {'mu': 0, 'weights': 0}); of a matrix of transitions, (0, 1)."
    )


def computed_again(density: LogDensity, values: Values, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Compute sites from the unknowns, shape `(chain, draw, *site)`; labels that are summed out are drawn anew."""
    if not names:
        return {}
    shape = next(iter(values.values())).shape[:2]
    rows = {name: each.reshape(-1, *each.shape[2:]) for name, each in values.items()}

    def compute(density: LogDensity, row: Any) -> Any:
        found = density.constrain(density.unconstrain(row))
        return {name: found[name] for name in names}

    found = _evaluated(density, compute, rows)
    return {name: found[name].reshape(*shape, *found[name].shape[1:]) for name in names}


def _height(density: LogDensity, row: Any) -> Any:
    """Return the log density in the model's space, where no Jacobian depends on the order."""
    return density.value(density.unconstrain(row), MAP)


def _evaluated(density: LogDensity, function: Any, rows: Values) -> Any:
    precision = density.program.precision
    rows = {name: float_values(values, precision) for name, values in rows.items()}
    return over_rows(density, precision, function, rows)(rows)


def _some(draws: np.ndarray) -> np.ndarray:
    """Return a few draws, evenly from all, as if of one chain."""
    flat = draws.reshape(-1, *draws.shape[2:])
    return flat[np.linspace(0, len(flat) - 1, _NUM_DRAWS).astype(int)][None]


def _generators(size: int) -> list[np.ndarray]:
    orders = np.r_[1, 0, 2:size], np.roll(np.arange(size), 1)
    return [np.broadcast_to(order, (1, _NUM_DRAWS, size)) for order in orders]
