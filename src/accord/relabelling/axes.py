"""Find the axes along which the components of a model lie."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import OptionError, SiteError, suggest
from ..core.series import AbstractSeries
from ..report.components import Axes, axes_along, in_words, size_of

_MOST_UNNAMED = 6  # sites with axes of which it is tried whether they are the components'


def candidates(
    wanted: Any, sites: AbstractSeries, dims: Mapping[str, tuple[str, ...]], unknowns: Sequence[str]
) -> tuple[str, list[Axes]]:
    """Return what the components are called, and the axes that they may lie along, the likeliest first.

    Where `wanted` is the name of a dimension, axes without a name that are as long may be the components' as well, as
    those of their weights: all subsets of these come, the fewest first, each also with a site that may be the share of
    the first of two. What need not move is left alone: it may be of other components.

    **Raises** `OptionError` for an unknown dimension, fewer than two components, axes of different lengths, a share
    of more than two, and where there are too many sites to try; `SiteError` for a site that is no unknown, or an axis
    that it lacks.
    """
    if isinstance(wanted, str):
        return wanted, list(_by_name(wanted, sites, dims, unknowns))
    if not isinstance(wanted, Mapping) or not wanted:
        raise OptionError(
            "infer.relabel: components must be the name of a dimension, such as that of a plate, or a mapping from "
            f"site to its axis, such as {{'mu': 0}}; got {wanted!r}."
        )
    axes = {name: _checked(name, asked, sites, unknowns) for name, asked in wanted.items()}
    sizes = {(name, axis): sites.shape(name)[2 + axis] for name, some in axes.items() for axis in some}
    if len(set(sizes.values())) > 1:
        raise OptionError(
            "infer.relabel: the axes of the components must be equally long, and they are: "
            + ", ".join(f"axis {axis} of {name!r} {size}" for (name, axis), size in sizes.items())
            + "."
        )
    if not sizes:
        raise OptionError(f"infer.relabel: no site in {dict(wanted)!r} has an axis of components.")
    size = next(iter(sizes.values()))
    _check_count(in_words(axes), size)
    if size != 2 and not all(axes.values()):
        raise OptionError(
            f"infer.relabel: a site without an axis, (), is the share of the first of two components; there are {size}."
        )
    return "", [axes]


def _by_name(
    dim: str, sites: AbstractSeries, dims: Mapping[str, tuple[str, ...]], unknowns: Sequence[str]
) -> Iterator[Axes]:
    shapes = {name: sites.shape(name) for name in unknowns}
    named, unnamed = axes_along(dim, dims, shapes)
    if not named:
        there = dict.fromkeys(each for name in unknowns for each in dims.get(name, ()))
        raise OptionError(
            f"infer.relabel: no unknown has a dimension {dim!r}.{suggest(dim, there)} There are: "
            f"{', '.join(there) or 'none'}. You can also give axes by site, such as {{'mu': 0}}."
        )
    size = size_of(named, shapes)
    _check_count(repr(dim), size)
    if len(unnamed) > _MOST_UNNAMED:
        listed = ", ".join(dict.fromkeys(name for name, _ in unnamed))
        raise OptionError(
            f"infer.relabel: sites have {len(unnamed)} axes without a name that are as long as {dim!r}: {listed}. Give "
            f"the axes of the components by site: infer.relabel(draws, {in_words(named)})."
        )
    shares = [name for name in unknowns if size == 2 and name not in named and _may_be_share(sites, name)]
    for count in range(len(unnamed) + 1):
        for some in itertools.combinations(unnamed, count):
            axes = {name: list(each) for name, each in named.items()}
            for name, axis in some:
                axes.setdefault(name, []).append(axis)
            found = {name: tuple(sorted(each)) for name, each in axes.items()}
            yield found
            yield from ({**found, name: ()} for name in shares if name not in found)


def _may_be_share(sites: AbstractSeries, name: str) -> bool:
    """Return whether a site holds numbers between 0 and 1."""
    draws = sites[name]
    return bool(draws.dtype.kind == "f" and np.all((draws >= 0) & (draws <= 1)))


def _checked(name: Any, asked: Any, sites: AbstractSeries, unknowns: Sequence[str]) -> tuple[int, ...]:
    """Return the axes of one site, from 0."""
    if name not in unknowns:
        raise SiteError(
            f"infer.relabel: {name!r} is no unknown of these draws.{suggest(str(name), unknowns)} There are: "
            f"{', '.join(unknowns)}. Sites that are computed from unknowns are computed again."
        )
    axes: tuple[Any, ...] = (
        tuple(asked) if isinstance(asked, Sequence) and type(asked) is not str else (asked,)
    )
    ndim = len(sites.shape(name)) - 2
    if not axes and _may_be_share(sites, name):
        return ()
    axes = tuple(int(axis) if isinstance(axis, np.integer) else axis for axis in axes)
    if not axes or not all(type(axis) is int and -ndim <= axis < ndim for axis in axes):
        raise SiteError(
            f"infer.relabel: site {name!r} has {ndim} axes, and was given {asked!r}. Give an axis from 0 to "
            f"{ndim - 1}, or several."
            if ndim
            else f"infer.relabel: site {name!r} is a single number, without an axis for components. If it is the share "
            f"of the first of two, give it as {{{name!r}: ()}}."
        )
    return tuple(sorted({axis % ndim for axis in axes}))


def _check_count(what: str, count: int) -> None:
    if count < 2:
        raise OptionError(f"infer.relabel: there is {count} component along {what}, and nothing to match.")
