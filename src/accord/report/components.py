"""Match exchangeable components between draws, such as those of a mixture, whose labels may change places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .labels import Dims

Axes = Mapping[str, tuple[int, ...]]
"""Axes of each site, from 0, along which the components lie: those of a transition matrix are two.

A site without such axes, `()`, is the share of the first of two components, which the exchange turns into the rest.
"""

_MOST_ROUNDS = 20
_AT_ONCE = 2**20  # costs
_BOUND, _MOST_BOUNDED = 0.03, 50  # standard deviations of all draws; features
_NARROWEST = 1e-3  # standard deviations of all draws; a component is never taken to be narrower


@dataclass(frozen=True)
class Matching:
    """Places of the components of each draw.

    **Fields**
    - `order`, shape `(chain, draw, k)`: which component of the draw takes each place.
    - `doubt`, in [0, 0.5]: mean over draws of the chance that another order fits, of the best one and the one that is
      nearest to it by exchanging two components, if components are normal.
    """

    order: np.ndarray
    doubt: float

    @property
    def share(self) -> float:
        """Share of draws whose components changed places."""
        return float(np.mean(np.any(self.order != np.arange(self.order.shape[2]), axis=2)))


def match(draws: Mapping[str, np.ndarray], axes: Axes, height: np.ndarray) -> Matching:
    """Match the components of all draws.

    Each draw's components are put in the order in which they fit best to places that all draws have in common, which
    are normal, with independent coordinates. The places begin at the highest draw, and are learnt from the draws in
    the order found last until it does not change: twice, from orders by squares and by logarithms of distances, of
    which the better one is kept. In the end places are in increasing order of the first number that moves, so that they
    do not depend on the seed. Sites with several axes of components tell nothing.

    **Arguments**: `draws`, by site, shape `(chain, draw, *site)`; `axes`, of one site with one axis at least; `height`,
    the log density, shape `(chain, draw)`.

    **Source**: Stephens (2000), J. R. Stat. Soc. B 62(4), 795-809, section 3; the start at the highest draw is the
    pivot of Marin, Mengersen & Robert (2005), Handbook of Statistics 25, 459-507.
    """
    values = _features(draws, axes)
    pivot = values[int(np.argmax(height))]
    starts = (_assigned(values, costs_of, pivot) for costs_of in (_squares, _logarithms))
    places, widths, order, _ = min((_settled(values, start) for start in starts), key=lambda found: found[3])
    doubts = [
        _doubts(_costs(values[rows], places, widths), order[rows]) for rows in _parts(*values.shape[:2])
    ]
    in_order = order[:, np.argsort(places[:, 0], kind="stable")]
    return Matching(in_order.reshape(*height.shape, values.shape[1]), float(np.mean(np.concatenate(doubts))))


def reorder(draws: np.ndarray, axes: tuple[int, ...], order: np.ndarray) -> np.ndarray:
    """Put the components of one site in order; `draws`, shape `(chain, draw, *site)`, `order` as in `Matching`."""
    if not axes:
        stays = (order[:, :, 0] == 0).reshape(*order.shape[:2], *(1 for _ in range(draws.ndim - 2)))
        # What is left of a share next to nothing is less than one, though it is rounded to it.
        rest = np.clip(1 - draws, np.finfo(draws.dtype).tiny, 1 - np.finfo(draws.dtype).epsneg)
        return np.where(stays, draws, rest)
    for axis in axes:
        at = axis + 2
        index = order.reshape(
            *order.shape[:2], *(order.shape[2] if n == at else 1 for n in range(2, draws.ndim))
        )
        draws = np.take_along_axis(draws, index, axis=at)
    return draws


def size_of(axes: Axes, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Return the number of components, given the shape of each site, `(chain, draw, *site)`."""
    return next(shapes[name][2 + some[0]] for name, some in axes.items() if some)


def axes_along(
    dim: str, dims: Dims, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[Axes, list[tuple[str, int]]]:
    """Return the axes that have the name `dim`, and site and axis of others that are as long and that nobody named."""
    axes = [(name, axis, each) for name in shapes for axis, each in enumerate(dims.get(name, ()))]
    named: dict[str, tuple[int, ...]] = {}
    for name, axis, each in axes:
        if each == dim:
            named[name] = (*named.get(name, ()), axis)
    if not named:
        return {}, []
    size = size_of(named, shapes)
    return named, [
        (name, axis)
        for name, axis, each in axes
        if each == f"{name}_dim_{axis}" != dim and shapes[name][2 + axis] == size
    ]


def in_words(axes: Axes) -> str:
    """Write axes as they are given to `infer.relabel`."""
    parts = (f"{name!r}: {some[0] if len(some) == 1 else some}" for name, some in axes.items())
    return "{" + ", ".join(parts) + "}"


def _features(draws: Mapping[str, np.ndarray], axes: Axes) -> np.ndarray:
    """Return what tells components apart, shape `(draws of all chains, k, feature)`, in units of its deviation."""
    columns = []
    for name, some in axes.items():
        if len(some) == 1:
            moved = np.moveaxis(np.asarray(draws[name], np.float64), some[0] + 2, 2)
            columns.append(moved.reshape(moved.shape[0] * moved.shape[1], moved.shape[2], -1))
    values = np.concatenate(columns, axis=2)
    values = values - values.mean((0, 1))
    widths = values.std((0, 1))
    return values[:, :, widths > 0] / widths[widths > 0]


def _settled(values: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Learn places from an order and find the order anew, until it stays; return them, widths, order and cost."""
    for _ in range(_MOST_ROUNDS):
        former, order = order, _assigned(values, _costs, *_places(values, order))
        if np.array_equal(former, order):
            break
    places, widths = _places(values, order)
    ordered = np.take_along_axis(values, order[:, :, None], axis=1)
    cost = np.sum(np.mean(((ordered - places) / widths) ** 2, axis=0) + 2 * np.log(widths))
    return places, widths, order, float(cost)


def _places(values: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of the components in an order, each `(k, feature)`."""
    ordered = np.take_along_axis(values, order[:, :, None], axis=1)
    return ordered.mean(0), np.maximum(ordered.std(0), _NARROWEST)


def _costs(values: np.ndarray, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return -2 log likelihoods of components in places, up to a constant, shape `(draw, component, place)`."""
    precision = widths**-2.0
    constant = np.sum(places**2 * precision + 2 * np.log(widths), axis=1)
    return values**2 @ precision.T - 2 * values @ (places * precision).T + constant


def _squares(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return costs of places of which nothing is known, shape `(draw, component, place)`."""
    return _costs(values, places, np.ones_like(places))


def _logarithms(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return costs that a wide component does not dominate: by squares alone, it would take any place."""
    chosen = np.linspace(0, values.shape[2] - 1, min(values.shape[2], _MOST_BOUNDED)).astype(int)
    gaps = ((values[:, :, None, n] - places[:, n]) / _BOUND for n in chosen)
    return np.sum([np.log1p(gap**2) for gap in gaps], axis=0)


def _assigned(values: np.ndarray, costs_of: Callable[..., np.ndarray], *places: np.ndarray) -> np.ndarray:
    """Return the component that takes each place, shape `(draw, place)`, so that the costs of a draw are least.

    `costs_of` returns them for draws and `places`.
    """
    from scipy.optimize import linear_sum_assignment  # takes a tenth of a second, and few runs need it

    return np.stack(
        [
            linear_sum_assignment(each.T)[1]
            for rows in _parts(*values.shape[:2])
            for each in costs_of(values[rows], *places)
        ]
    )


def _parts(num: int, k: int) -> list[slice]:
    """Cut draws into parts whose costs fit into memory."""
    size = max(1, _AT_ONCE // k**2)
    return [slice(first, first + size) for first in range(0, num, size)]


def _doubts(costs: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the chance that an exchange of two components is right instead, for each draw."""
    matched = np.take_along_axis(costs, order[:, :, None], axis=1)  # (draw, place of the component, place)
    stays = np.diagonal(matched, axis1=1, axis2=2)
    extra = matched + np.swapaxes(matched, 1, 2) - stays[:, :, None] - stays[:, None, :]
    rows, columns = np.triu_indices(order.shape[1], 1)
    return 1 / (1 + np.exp(np.clip(extra[:, rows, columns].min(1), 0, 700) / 2))
