"""Start where the chains of an earlier run ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...core.errors import DataError, OptionError
from ...core.options import checks_options
from ...density import LogDensity
from ...density.matching import Held
from ...optimise.approximation import AbstractApproximation
from ...runs.stored.describe import labelled_in
from ..draws import Draws
from .given import AbstractGiven, Values, aligned, as_values, kept_labels

NUM_STARTS = 64
"""Draws from an approximation that are kept for chains to start at."""


@dataclass(frozen=True, eq=False)
class FromDraws(AbstractGiven):
    """Last draw of each chain of a run: `chains`, their numbers, and `of_chains`, latent sites by chain.

    `held`: labels of the entries of sites.
    """

    chains: tuple[int, ...]
    of_chains: tuple[Values, ...]
    held: Mapping[str, Held] = field(default_factory=dict)
    kind: ClassVar[str] = "from_draws"
    origin: ClassVar[str] = "where the run given by `init=` ended"

    def values_for(self, chain: int, density: LogDensity) -> tuple[Values, str]:
        """Return the values for a chain by number, or by turn; without sites that the model lacks."""
        number = chain if chain in self.chains else self.chains[chain % len(self.chains)]
        latents = density.layout.settable
        values = self.of_chains[self.chains.index(number)]
        # An auxiliary says the same as the site that follows from it, and comes after that.
        common = {latents[name]: name for name in values if name in latents}
        common = {name: values[name] for name in common.values()}
        where = f"init of chain {chain} ({self.described_draw(number)})"
        if not common:
            raise DataError(
                f"{where}: no latent site of this model is among its sites, {', '.join(map(repr, values))}. Give the "
                "draws of a model that has some sites in common."
            )
        return aligned(common, self.held, density, where), where

    def described_draw(self, number: int) -> str:
        """Say in words which draw it is."""
        return f"the last draw of chain {number} of the earlier run"

    def kept(self) -> dict[str, Any]:
        """All values; JSON holds every digit of them."""
        values = [{name: value.tolist() for name, value in each.items()} for each in self.of_chains]
        return {"chains": list(self.chains), "values": values, **kept_labels(self.held)}


@dataclass(frozen=True, eq=False)
class FromApproximation(FromDraws):
    """A draw from an approximation of the posterior for each chain."""

    kind: ClassVar[str] = "from_fit"
    origin: ClassVar[str] = "drawn from the fit given by `init=`"

    def described_draw(self, number: int) -> str:
        """Say in words which draw it is."""
        return f"draw {number} from the fit"


def from_approximation(found: AbstractApproximation) -> FromApproximation:
    """Start each chain at a draw of its own; beyond `NUM_STARTS` chains, they take these in turn."""
    chains = tuple(range(NUM_STARTS))
    values = tuple(as_values(each, "init") for each in found.starts(chains, 0))
    return FromApproximation(chains, values)


def check_shown(sites: Sequence[Mapping[str, Any]]) -> None:
    """Raise `OptionError` where draws do not show all of a position."""
    hidden = [site["name"] for site in sites if site["kind"] == "coordinate"]
    if hidden:
        raise OptionError(
            f"init: these draws show what `constrain=` made of {', '.join(map(repr, hidden))}, which does not say "
            "where a chain was. Give infer.from_values, or a density whose `constrain` names each leaf."
        )


@checks_options
def from_draws(draws: Draws) -> FromDraws:
    """Start each chain where the chain of its number ended in an earlier run; further chains take these in turn.

    **Raises** `OptionError` for a run without draws.
    """
    if not draws.num_draws:
        raise OptionError(
            "init: the earlier run has no draw to begin at. Give another, or `infer.from_values`."
        )
    sites = draws.manifest["layout"]["sites"]
    check_shown(sites)
    latents = [site["name"] for site in sites if site["kind"] in ("latent", "whole", "collapsed")]
    last = {name: np.asarray(draws[name][:, -1]) for name in latents}
    of_chains = tuple(
        as_values({name: array[row] for name, array in last.items()}, f"init: the last draw of chain {chain}")
        for row, chain in enumerate(draws.chains)
    )
    layout = draws.manifest["layout"]
    labels = {dim: layout["coords"][dim] for dim in labelled_in(layout)}
    held = {site["name"]: Held.of(site["shape"], site["dims"], labels) for site in sites}
    return FromDraws(draws.chains, of_chains, {name: each for name, each in held.items() if any(each.labels)})
