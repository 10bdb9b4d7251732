"""Draw one kind of figure of a run, by its name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.errors import OptionError
from ..core.series import AbstractSeries
from .diagnostics import QUIETLY
from .document.draws_sections import draws_of, label_of, pairs
from .document.unknowns import table_of
from .figures.autocorrelation import autocorrelation
from .figures.by_draws import ess_by_draws, r_hat_by_draws
from .figures.density import density
from .figures.energy import energy
from .figures.forest import MOST_ROWS, intervals
from .figures.marks import Panel
from .figures.picture import Picture
from .figures.rank import rank, rank_difference
from .figures.sampler import step_size, tree_depth
from .figures.trace import trace
from .labels import Coords, Dims
from .pictures import MOST_PANELS, Kind, picture


@dataclass(frozen=True, eq=False)
class Plotted:
    """A run as plots need it: see `document.chains.ChainRun` for the fields.

    `only`: names of the sites to show.
    """

    sites: AbstractSeries
    stats: AbstractSeries
    warmup: AbstractSeries
    chains: tuple[int, ...]
    dims: Dims
    coords: Coords
    superchains: Sequence[int] | None
    max_tree_depth: int | None
    only: tuple[str, ...]

    def places(self, most: int) -> list[tuple[str, int]]:
        """Return site and number of the scalars to show, in the model's order; of more than `most`, the worst."""
        every = [
            (name, scalar) for name in self.only for scalar in range(min(self.sites.width(name), most + 1))
        ]
        if len(every) <= most:
            return every
        _, order = table_of(
            self.sites, dims=self.dims, coords=self.coords, superchains=self.superchains, only=self.only
        )
        return list(order[:most])

    def label(self, place: tuple[str, int]) -> str:
        """Return the label of a scalar."""
        return label_of(self.sites, place, self.dims, self.coords)


Draw = Callable[[Plotted, int], Sequence[Panel]]


def _of_chains(panel: Callable[..., Panel], *, flags: bool = False) -> Draw:
    """Return a plot with a panel for each scalar, from its draws, label and chains."""

    def draw(run: Plotted, most: int) -> list[Panel]:
        more = [run.stats["diverging"]] if flags and "diverging" in run.stats else []
        return [
            panel(draws_of(run.sites, place), run.label(place), run.chains, *more)
            for place in run.places(most)
        ]

    return draw


def _ess(run: Plotted, most: int) -> list[Panel]:
    return [ess_by_draws(draws_of(run.sites, place), run.label(place)) for place in run.places(most)]


def _r_hat(run: Plotted, most: int) -> list[Panel]:
    return [
        r_hat_by_draws(draws_of(run.sites, place), run.label(place), run.superchains)
        for place in run.places(most)
    ]


def _of_sampler(name: str, panel: Callable[[Plotted], Panel]) -> Draw:
    """Return a plot of a statistic of the sampler, which some samplers lack."""

    def draw(run: Plotted, most: int) -> list[Panel]:
        del most
        if name not in run.stats:
            raise OptionError(
                f"plot: these draws have no statistic {name!r}; their sampler does not tell it. They have: "
                f"{', '.join(run.stats)}."
            )
        return [panel(run)]

    return draw


def _forest(run: Plotted, most: int) -> list[Panel]:
    places = run.places(most)
    return [intervals([draws_of(run.sites, place) for place in places], [*map(run.label, places)])]


def _pairs(run: Plotted, most: int) -> Sequence[Panel]:
    section = pairs(run.sites, run.stats, run.places(max(most, 12)), run.dims, run.coords)
    if section is None:
        raise OptionError("plot: 'pair' needs two unknowns that vary and are finite.")
    return section.figures[0].panels[:most]


def _step_size(run: Plotted) -> Panel:
    before = run.warmup["step_size"] if "step_size" in run.warmup else np.zeros((len(run.chains), 0))
    return step_size(before, run.stats["step_size"], run.chains)


KINDS: Mapping[str, Draw] = MappingProxyType(
    {
        "trace": _of_chains(trace, flags=True),
        "rank": _of_chains(rank),
        "rank_ecdf": _of_chains(rank_difference),
        "density": _of_chains(density),
        "autocorrelation": _of_chains(autocorrelation),
        "ess": _ess,
        "r_hat": _r_hat,
        "pair": _pairs,
        "forest": _forest,
        "energy": _of_sampler("energy", lambda run: energy(run.stats["energy"])),
        "step_size": _of_sampler("step_size", _step_size),
        "tree_depth": _of_sampler(
            "tree_depth", lambda run: tree_depth(run.stats["tree_depth"], run.max_tree_depth)
        ),
    }
)

OF_SAMPLER = ("energy", "step_size", "tree_depth")
"""Kinds that show the sampler, and no sites."""


def plot(run: Plotted, kind: Any, sites: Any, most: Any) -> Picture:
    """See `Draws.plot`."""

    def kind_of(name: str) -> Kind:
        def draw(only: tuple[str, ...], count: int) -> Sequence[Panel]:
            if not all(run.stats.shape(each)[1] for each in run.stats):
                raise OptionError("plot: there are no draws to plot. See `draws.notices`.")
            with np.errstate(**QUIETLY):
                return KINDS[name](replace(run, only=only), count)

        return Kind(
            draw, MOST_ROWS if name == "forest" else MOST_PANELS, "the sampler" if name in OF_SAMPLER else ""
        )

    return picture({name: kind_of(name) for name in KINDS}, run.sites, kind, sites, most)
