"""Find components that change places between chains or draws, and agree once they are matched."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..components import Axes, axes_along, axes_without_name, joined, match, reorder, size_of
from ..evidence import READ, Evidence

AGREES = 1.05  # R-hat of matched components, up to which their labels are all that chains disagree on
_DRAWS = 250  # of each chain that are looked at
_DOUBT = 0.1  # mean chance that another order is right, from which on components are not told apart
_MOST = 50  # components that are matched


class Matched(NamedTuple):
    """Components that agree once they are matched.

    **Fields**: `along`, where they lie, as it is given to `infer.relabel`, and empty if there are none; `r_hat`, the
    largest of their sites once they are matched.
    """

    along: str
    r_hat: float


def matched(run: Evidence, names: Sequence[str]) -> Matched:
    """Return components among the unknowns `names`, on some of which chains disagree, that agree once matched."""
    if "lp" not in run.stats:
        return Matched("", np.nan)
    thinned = slice(None, None, max(1, run.num_draws // _DRAWS))
    height = np.asarray(run.stats["lp"])[:, thinned]
    for along, axes in _possible(run, frozenset(names)):
        if sum(run.sites.width(name) for name in axes) * height.size > READ:
            continue
        draws = {name: np.asarray(run.sites[name])[:, thinned] for name in axes}
        if not all(np.all(np.isfinite(each)) for each in draws.values()):
            continue
        with np.errstate(all="ignore"):
            found = match(draws, axes, height)
            agreed = max(_worst(run, reorder(each, axes[name], found.order)) for name, each in draws.items())
        # Of units that overlap, such as the groups of a hierarchy, any order can be made to agree.
        if agreed < AGREES and found.doubt < _DOUBT:
            return Matched(along, agreed)
    return Matched("", np.nan)


def _possible(run: Evidence, bad: frozenset[str]) -> Iterator[tuple[str, Axes]]:
    """Yield axes along which components may lie: those of a dimension, else those without a name, by length."""
    shapes = {name: run.sites.shape(name) for name in run.sites if name in run.latents - run.discrete}
    named = [dim for name in shapes for dim in run.dims.get(name, ()) if not dim.startswith(f"{name}_dim_")]
    for dim in dict.fromkeys(named):
        own, unnamed = axes_along(dim, run.dims, shapes)
        for axes in (joined(own, unnamed), own) if unnamed else (own,):
            if _is_of_use(axes, shapes, bad):
                yield repr(dim), axes
    lengths = {
        shapes[name][2 + axis]: dim  # the last of that length, whose name stands for all of them
        for name in shapes
        for axis, dim in enumerate(run.dims.get(name, ()))
        if dim == f"{name}_dim_{axis}"
    }
    for length, dim in lengths.items():
        axes = axes_without_name(length, run.dims, shapes)
        if _is_of_use(axes, shapes, bad):
            yield repr(dim), axes


def _is_of_use(axes: Axes, shapes: dict[str, tuple[int, ...]], bad: frozenset[str]) -> bool:
    """Return whether chains disagree on one of the sites, and there is a site that tells components apart."""
    return (
        not bad.isdisjoint(axes)
        and 2 <= size_of(axes, shapes) <= _MOST
        and any(len(some) == 1 for some in axes.values())
    )


def _worst(run: Evidence, draws: np.ndarray) -> float:
    """Return the largest R-hat of what moves."""
    found = run.r_hat(draws.reshape(*draws.shape[:2], -1))
    return float(np.nanmax(found, initial=1.0))


def relabelling(along: str) -> str:
    """Say how to match components after the run."""
    return (
        f"If nothing but their labels differs, `infer.relabel(draws, {along})` gives them the same labels in all "
        "draws; it checks first that the model cannot tell them apart."
    )
