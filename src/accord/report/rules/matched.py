"""Find components that change places between chains or draws, and agree once they are matched."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..components import Axes, axes_along, match, reorder, size_of
from ..evidence import BUDGET, READ, Evidence

AGREES = 1.05  # R-hat of matched components, up to which their labels are all that chains disagree on
_DRAWS = 800  # of all chains, that are looked at
_DOUBT = 0.1  # mean chance that another order is right, from which on components are not told apart
_MOST = 20  # components: to match 800 draws takes a tenth of a second
_MOST_TRIED = 4  # dimensions


class Matched(NamedTuple):
    """Components that agree once they are matched.

    **Fields**: `along`, where they lie, as it is given to `infer.relabel`, and empty if there are none; `r_hat`, the
    largest of their sites once they are matched.
    """

    along: str
    r_hat: float


def matched(run: Evidence, names: Sequence[str]) -> Matched:
    """Return components among the unknowns `names`, on some of which chains disagree, that agree once matched."""
    nothing = Matched("", np.nan)
    # Labels that are drawn as whole numbers would have to change with the components.
    if "lp" not in run.stats or run.discrete:
        return nothing
    thinned = slice(None, None, max(1, run.num_draws * len(run.chains) // _DRAWS))
    height = np.asarray(run.stats["lp"])[:, thinned]
    for along, axes in itertools.islice(_possible(run, frozenset(names)), _MOST_TRIED):
        draws = {name: _thinned(run, name, thinned) for name in axes}
        if not all(np.all(np.isfinite(each)) for each in draws.values()):
            continue
        with np.errstate(all="ignore"):
            found = match(draws, axes, height)
            agreed = max(_worst(run, reorder(each, axes[name], found.order)) for name, each in draws.items())
        # Of units that overlap, such as the groups of a hierarchy, any order can be made to agree.
        if agreed < AGREES and found.doubt < _DOUBT:
            return Matched(along, agreed)
    return nothing


def _possible(run: Evidence, bad: frozenset[str]) -> Iterator[tuple[str, Axes]]:
    """Yield the axes along each dimension of a site on which chains disagree."""
    shapes = {name: run.sites.shape(name) for name in run.sites if name in run.latents - run.discrete}
    dims = {dim: name for name in shapes if name in bad for dim in run.dims.get(name, ())}
    # Names that somebody gave come first: sites that have them belong together.
    for dim in sorted(dims, key=lambda dim: dim.startswith(f"{dims[dim]}_dim_")):
        axes, _ = axes_along(dim, run.dims, shapes)
        numbers = sum(run.sites.width(name) for name in axes) * len(run.chains) * run.num_draws
        tells = any(len(some) == 1 for some in axes.values())
        if tells and 2 <= size_of(axes, shapes) <= _MOST and numbers <= BUDGET:
            yield repr(dim), axes


def _thinned(run: Evidence, name: str, thinned: slice) -> np.ndarray:
    """Read some draws of a site, in parts."""
    width, shape = run.sites.width(name), run.sites.shape(name)
    most = max(1, READ // (len(run.chains) * run.num_draws))
    parts = [
        run.sites.columns(name, np.arange(first, min(first + most, width)))[:, thinned]
        for first in range(0, width, most)
    ]
    draws = np.concatenate(parts, axis=2)
    return draws.reshape(*draws.shape[:2], *shape[2:])


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
