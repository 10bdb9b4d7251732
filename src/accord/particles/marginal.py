"""Estimate the log density of parameters, with the states of a series integrated out by a particle filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from ..core.guided import Lookahead, Proposal
from ..core.position import Position
from ..core.tree import shapes
from ..density import LogDensity
from ..density.conditional import position_with
from ..resampling import Systematic
from .filter_loop import Way
from .filtered import filtered
from .fit import Fit, fit_of, particle_unknowns
from .posterior import pieces_of, runs_of, sites_of

_ESS = 0.5  # share of the particles that weights are worth, below which they are resampled


def series_of(density: LogDensity, asked: str) -> tuple[str, ...]:
    """Return the unknowns of a density that particles hold: states in the scan, and those where it begins.

    **Raises** `OptionError` for a density that is not that of a model with all its rows and unknowns; `SiteError` for a
    model without such a scan, or with several; errors begin with `asked`.
    """
    run, pieces = runs_of(density, asked)
    unknowns = [each.name for each in density.layout.unknowns]
    found = particle_unknowns(run, unknowns, asked, pieces, shapes(density.data))
    return tuple(name for name in unknowns if name in found)


@dataclass(frozen=True, eq=False)
class MarginalDraw:
    """How to estimate, and to draw states with it. **Fields**: `fit` of particles to the model; `way`."""

    fit: Fit
    way: Way

    @staticmethod
    def of(
        density: LogDensity,
        names: tuple[str, ...],
        particles: int,
        proposal: Proposal | None,
        lookahead: Lookahead | None,
        asked: str,
    ) -> "MarginalDraw":
        """Find the series of which these unknowns are the states. Raises as `series_of`."""
        run, pieces = runs_of(density, asked)
        fit = fit_of(run, names, asked, pieces, shapes(density.data), has_conditions=False)
        return MarginalDraw(fit, Way(particles, _ESS, Systematic(), proposal, lookahead, asked))

    def estimated(
        self, density: LogDensity, position: Position, words: jax.Array
    ) -> tuple[Position, jax.Array, jax.Array]:
        """Run a filter at the other numbers of a position, by two words of a key.

        **Returns** the position with a trajectory of the filter; the estimate, whose exponential is unbiased, of the
        log density of the other unknowns in unconstrained space; and the number of weights that were no numbers.
        """
        pieces = pieces_of(density, position)
        found = filtered(
            lambda handlers: sites_of(density, pieces, density.data, handlers),
            self.fit,
            self.way,
            self._given(density, pieces),
            jax.random.wrap_key_data(words, impl="threefry2x32"),
            1,
        )
        values = {name: found["trajectories"][name][0] for name in self.fit.names}
        drawn = position_with(density, position, values, self.way.asked)
        return drawn, found["log_likelihood"], found["bad"]

    def _given(self, density: LogDensity, pieces: Mapping[str, jax.Array]) -> dict[str, Any]:
        """Return the values of the other unknowns, for functions that look at them."""
        if self.way.proposal is None and self.way.lookahead is None:
            return {}
        sites = sites_of(density, pieces, density.data, ())
        return {name: sites[name].value for name in pieces if name not in self.fit.names}
