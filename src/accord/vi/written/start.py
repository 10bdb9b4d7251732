"""Explain why a guide that is written as a model has no finite bound where it begins."""

from typing import Any

import jax
import numpy as np

from ...core import keys
from ...core.errors import AccordError, InitializationError
from ...density import LogDensity
from ...mcmc.start.explained import explain_start
from ...mcmc.start.search import StartFailedError
from ...optimise.surface import AT_ONCE, heights
from ...runs.units import UnitFailedError
from .guide import Written


class NoBoundError(UnitFailedError):
    """Error of a restart whose bound was finite at no step. **Fields**: `number` of the restart."""

    def __init__(self, number: int):
        super().__init__(f"restart {number}: the bound or its gradient was not finite at any step")
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return NoBoundError, (self.number,)


def explain_bound(density: LogDensity, guide: Written, failure: NoBoundError) -> AccordError:
    """Make the error: at a draw of the guide with its first parameters, where the log density is not finite.

    In the scope of the density's precision.
    """
    start = guide.start(np.zeros(2, np.uint32), 0, np.dtype(density.program.precision))
    params = {name: np.asarray(value) for name, value in guide.shown(start).items()}
    positions, _ = guide.positions(density, params, keys.chain_key(0, failure.number), AT_ONCE)
    values = heights(density, lambda density, position: density(position))(positions)
    is_bad = ~np.isfinite(values)
    if not is_bad.any():
        return InitializationError(
            f"{failure}. The log density of the model {density.program.name!r} is finite at draws of the guide "
            f"{guide.label!r}: its own density, or a gradient, is not. Begin with scales that are neither zero nor "
            "very large, and look for square roots and divisions by zero in it.",
            {},
            None,
        )
    origin = f"drawn by the guide {guide.label!r} with its first parameters"
    bad = jax.tree.map(lambda rows: rows[is_bad][0], positions)
    if not density.dim:  # whole numbers alone, of which none has a derivative to look at
        terms = {name: float(each) for name, each in density.site_terms(bad).items()}
        found = ", ".join(f"{name!r} {each:.4g}" for name, each in terms.items() if not np.isfinite(each))
        return InitializationError(
            f"{failure}. The log density of the model {density.program.name!r} is not finite at draws of the guide "
            f"{guide.label!r}, by site: {found}. Let the guide draw values that the model allows.",
            terms,
            None,
        )
    return explain_start(density, StartFailedError(failure.number, bad, AT_ONCE, origin, "restart"))
