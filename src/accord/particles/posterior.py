"""Draw the states of a log density, at a position of its other unknowns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..core.errors import OptionError
from ..core.position import Position
from ..core.tree import shapes
from ..density import LogDensity
from ..density.conditional import position_with
from ..density.latent import Choose, concrete
from ..density.program import ModelProgram, chosen_at
from ..density.support import first_value
from ..density.unknowns import free_of, like
from ..language import AbstractHandler, Site
from ..language.choice import AbstractChoice, Chosen
from .conditional_loop import ConditionalWay
from .fit import Fit, fit_of
from .look import Run
from .trajectory import next_trajectory


@dataclass(frozen=True, eq=False)
class TrajectoryDraw:
    """How to draw the states of a density by particles. **Fields**: `fit` of particles to its model; `way`."""

    fit: Fit
    way: ConditionalWay

    @staticmethod
    def of(density: LogDensity, names: Sequence[str], way: ConditionalWay) -> "TrajectoryDraw":
        """Find the series of which these unknowns are the states.

        **Raises** `OptionError` for a density that is not that of a model with all its rows and unknowns; `SiteError`
        for unknowns that are no series, and for what comes after the scan and depends on it, where the reference is to
        get another past.
        """
        run, pieces = runs_of(density, way.asked)
        fit = fit_of(run, names, way.asked, pieces, shapes(density.data))
        if fit.later and way.has_ancestor_sampling:
            raise OptionError(
                f"{way.asked}: site {fit.later[0]!r} comes after the scan and depends on it, so that a trajectory "
                "cannot be given another past at a step without it. Put it into the step; or take "
                "`has_ancestor_sampling=False`, with more particles."
            )
        return TrajectoryDraw(fit, way)

    def drawn(self, density: LogDensity, position: Position, words: jax.Array) -> Position:
        """Draw the states, by two words of a key; all other numbers of the position stay."""
        pieces = pieces_of(density, position)
        now = sites_of(density, pieces, density.data, ())
        values = next_trajectory(
            lambda handlers: sites_of(density, pieces, density.data, handlers),
            self.fit,
            self.way,
            {name: jnp.asarray(now[name].value) for name in self.fit.names},
            jax.random.wrap_key_data(words, impl="threefry2x32"),
        )
        return position_with(density, position, values, self.way.asked)


def runs_of(density: LogDensity, asked: str) -> tuple[Run, Any]:
    """Return `run(pieces, data, handlers)`, which runs the model of a density, and the shapes of its pieces.

    **Raises** `OptionError`, which begins with `asked`, for a density that is not that of a model with all its rows and
    unknowns.
    """
    if not isinstance(density.program, ModelProgram):
        raise OptionError(
            f"{asked}: {density.program.name!r} is not the log density of a model with all its unknowns, so that "
            "particles cannot go through it. Sample discrete unknowns that are summed out in a block of their own, and "
            "leave out `collapse` and `chunk=`."
        )

    def run(pieces: Any, data: Any, handlers: Sequence[AbstractHandler]) -> dict[str, Site]:
        return sites_of(density, pieces, data, handlers)

    return run, jax.eval_shape(density.program.pieces, like(density.layout, jnp.result_type(float)))


def pieces_of(density: LogDensity, position: Position) -> dict[str, jax.Array]:
    """Cut a position into the unconstrained arrays of the model."""
    return density.program.pieces(free_of(position) if position.whole is None else position)


def sites_of(
    density: LogDensity, pieces: Mapping[str, Any], data: Any, handlers: Sequence[AbstractHandler]
) -> dict[str, Site]:
    """Run the model at unconstrained values of its unknowns, of which handlers outside may choose others."""
    whole = density.program.whole
    assert whole is not None

    def choice_of(site: Site) -> AbstractChoice:
        return chosen_at(site, pieces[site.name]) if site.name in pieces else Chosen(first_value)

    with concrete(whole.constants):
        model = whole.model(density.program.whole_data(data), jnp.result_type(float))
        _, sites = model.run(Choose(choice_of), *handlers)
    return {name: site for name, site in sites.items() if not site.is_hidden and site.kind != "subsample"}
