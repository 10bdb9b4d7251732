"""Match exchangeable components between draws, such as those of a mixture, whose labels may change places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .labels import Dims

Axes = Mapping[str, tuple[int, ...]]
"""Axes of each site, from 0, along which the components lie: those of a transition matrix are two.

A single number without axes, `()`, is the share of the first of two components, which the exchange turns into the rest.
"""

_MOST_ROUNDS = 20
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

    @property
    def moved(self) -> np.ndarray:
        """For each chain, whether most of its draws have another order than the first chain's, shape `(chain,)`."""
        usual = np.median(self.order, axis=1)
        return np.any(usual != usual[:1], axis=1)


def match(draws: Mapping[str, np.ndarray], axes: Axes, height: np.ndarray) -> Matching:
    """Match the components of all draws.

    Each draw's components are put in the order in which they fit best to places that all draws have in common, which
    are normal, with independent coordinates. The places begin at the highest draw, and are learnt from the draws in
    the order found last until it does not change. In the end places are in increasing order of the first number that
    moves, so that they do not depend on the seed. Sites with several axes of components tell nothing.

    **Arguments**: `draws`, by site, shape `(chain, draw, *site)`; `axes`, of one site with one axis at least; `height`,
    the log density, shape `(chain, draw)`.

    **Source**: Stephens (2000), J. R. Stat. Soc. B 62(4), 795-809, section 3; the start at the highest draw is the
    pivot of Marin, Mengersen & Robert (2005), Handbook of Statistics 25, 459-507.
    """
    values = _features(draws, axes)
    shape, (num, k) = height.shape, values.shape[:2]
    places, widths = values[int(np.argmax(height))], np.ones_like(values[0])
    order = np.broadcast_to(np.arange(k), (num, k))
    for _ in range(_MOST_ROUNDS):
        costs = _costs(values, places, widths)
        found = _assigned(costs)
        ordered = np.take_along_axis(values, found[:, :, None], axis=1)
        places, widths = ordered.mean(0), np.maximum(ordered.std(0), _NARROWEST)
        if np.array_equal(found, order):
            break
        order = found
    doubt = float(np.mean(_doubts(_costs(values, places, widths), order)))
    return Matching(order[:, np.argsort(places[:, 0], kind="stable")].reshape(*shape, k), doubt)


def reorder(draws: np.ndarray, axes: tuple[int, ...], order: np.ndarray) -> np.ndarray:
    """Put the components of one site in order; `draws`, shape `(chain, draw, *site)`, `order` as in `Matching`."""
    if not axes:
        return np.where(order[:, :, 0] == 0, draws, 1 - draws)
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


def axes_along(dim: str, dims: Dims, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Axes, Axes]:
    """Return the axes that have the name `dim`, and those without a name that are as long, of the sites in `shapes`."""
    named = _axes_that(lambda name, axis, each: each == dim, dims, shapes)
    return named, axes_without_name(size_of(named, shapes), dims, shapes) if named else {}


def axes_without_name(length: int, dims: Dims, shapes: Mapping[str, tuple[int, ...]]) -> Axes:
    """Return the axes of a length that nobody has named, of the sites in `shapes`."""

    def is_wanted(name: str, axis: int, dim: str) -> bool:
        return dim == f"{name}_dim_{axis}" and shapes[name][2 + axis] == length

    return _axes_that(is_wanted, dims, shapes)


def joined(first: Axes, second: Axes) -> Axes:
    """Return the axes of both, in increasing order."""
    return {
        name: tuple(sorted({*first.get(name, ()), *second.get(name, ())}))
        for name in dict.fromkeys((*first, *second))
    }


def in_words(axes: Axes) -> str:
    """Write axes as they are given to `infer.relabel`."""
    parts = (f"{name!r}: {some[0] if len(some) == 1 else some}" for name, some in axes.items())
    return "{" + ", ".join(parts) + "}"


def _axes_that(
    is_wanted: Callable[[str, int, str], bool],
    dims: Dims,
    shapes: Mapping[str, tuple[int, ...]],
) -> Axes:
    found = {
        name: tuple(axis for axis, dim in enumerate(dims.get(name, ())) if is_wanted(name, axis, dim))
        for name in shapes
    }
    return {name: axes for name, axes in found.items() if axes}


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


def _costs(values: np.ndarray, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return -2 log likelihoods of components in places, up to a constant, shape `(draw, component, place)`."""
    precision = widths**-2.0
    constant = np.sum(places**2 * precision + 2 * np.log(widths), axis=1)
    return values**2 @ precision.T - 2 * values @ (places * precision).T + constant


def _assigned(costs: np.ndarray) -> np.ndarray:
    """Return the component that takes each place, shape `(draw, place)`, so that the costs of a draw are least."""
    from scipy.optimize import linear_sum_assignment  # takes a tenth of a second, and few runs need it

    return np.stack([linear_sum_assignment(each.T)[1] for each in costs])


def _doubts(costs: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the chance that an exchange of two components is right instead, for each draw."""
    matched = np.take_along_axis(costs, order[:, :, None], axis=1)  # (draw, place of the component, place)
    stays = np.diagonal(matched, axis1=1, axis2=2)
    extra = matched + np.swapaxes(matched, 1, 2) - stays[:, :, None] - stays[:, None, :]
    rows, columns = np.triu_indices(order.shape[1], 1)
    return 1 / (1 + np.exp(np.clip(extra[:, rows, columns].min(1), 0, 700) / 2))
