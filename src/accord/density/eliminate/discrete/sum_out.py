"""Sum the discrete unknowns of a model out of its log density."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jax.core import Tracer

from ....core.errors import ModelError, SiteError
from ...layout import Layout
from ...program import AbstractProgram, ModelProgram
from ...rows.conditions import listed
from ...rows.row_files import in_memory
from ...stage import AbstractStage
from ...support import sampled
from ..at_once import at_once


@dataclass(frozen=True)
class SumOut(AbstractStage):
    """Sum out the discrete unknowns."""

    def is_wanted(self, layout: Layout) -> bool:
        """Return whether there are any."""
        return bool(layout.collapsed)

    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
        """Build the program of the other sites.

        **Raises** `SiteError` where the sum is not that of the model, or is too much; `ModelError` where no other
        unknown is left, and for data that JAX is tracing.
        """
        whole = program.whole
        if whole is None:
            return program
        names = whole.layout.collapsed
        are = "are" if len(names) > 1 else "is"
        if whole.layout.to_collapse:
            by = whole.layout.by
            why = (
                "that has a mixture of normal distributions given the others, and not one"
                if by is None
                else f"beside discrete unknowns no site is integrated out yet, exactly or by {by}"
            )
            raise SiteError(
                f"{listed(names)} {are} discrete and summed out, and {listed(whole.layout.to_collapse)} would be "
                f"integrated out beside (handlers.collapse): {why}. Leave out `handlers.collapse`."
            )
        if any(isinstance(value, Tracer) for value in data.values()):
            raise ModelError(
                f"{listed(names)} {are} discrete, and how many values there are is seen from the model's data, which a "
                "transformation of JAX around it (jit, vmap, grad or the like) is tracing. Make the log density "
                "outside, and give it the traced data by `density.with_data({...})`."
            )
        try:
            return self._made(whole, names, data, in_doubt=False)
        except SiteError:
            try:
                return self._made(whole, names, data, in_doubt=True)
            except SiteError as error:
                raise SiteError(f"{error} Or sample {listed(names)}: {sampled(names)}.") from None

    def _made(
        self, whole: ModelProgram, names: tuple[str, ...], data: Mapping[str, Any], *, in_doubt: bool
    ) -> AbstractProgram:
        from .plan import plan_of  # loads what only models with discrete unknowns need
        from .summed import SummedProgram

        plan = at_once(plan_of, whole, names, in_memory(data), in_doubt)
        made = SummedProgram.of(whole, plan)
        made.check_exact(data)
        return made
