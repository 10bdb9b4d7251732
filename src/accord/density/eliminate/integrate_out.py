"""Integrate continuous unknowns of a model out of its log density."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jax.core import Tracer

from ...core.errors import ModelError
from ..layout import Layout
from ..program import AbstractProgram
from ..rows.conditions import listed
from ..stage import AbstractStage


@dataclass(frozen=True)
class Eliminate(AbstractStage):
    """Integrate out the sites that are to be collapsed."""

    def is_wanted(self, layout: Layout) -> bool:
        """Return whether there are any."""
        return bool(layout.to_collapse)

    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
        """Build the program of the other sites.

        **Raises** `SiteError` where that is not exact, or not possible by the approximation that is asked for, or is
        too much; `ModelError` where no other unknown is left, and for data that JAX is tracing.
        """
        whole = program.whole
        if whole is None:
            return program
        which, by = listed(whole.layout.to_collapse), whole.layout.by
        if not whole.layout.marginal.entries:
            known = "their posterior is a normal distribution, and known. " if by is None else ""
            raise ModelError(
                f"handlers.collapse: {which} are all the unknowns of the model {whole.name!r}, so that nothing is left "
                f"to sample: {known}Leave one of them out."
            )
        if any(isinstance(value, Tracer) for value in data.values()):
            raise ModelError(
                f"handlers.collapse: whether {which} can be integrated out is seen from the model's data, which a "
                "transformation of JAX around it (jit, vmap, grad or the like) is tracing. Make the log density "
                "outside, and give it the traced data by `density.with_data({...})`."
            )
        from .without import without_collapsed  # loads what only models with such sites need

        return without_collapsed(whole, by, data)
