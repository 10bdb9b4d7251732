"""Take the whole model, with all of its data in memory, out of a density, however that is evaluated."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from ...core.position import Position
from ..logdensity import LogDensity
from ..program import AbstractProgram
from ..unknowns import Unknowns


@dataclass(frozen=True)
class Whole:
    """A program that evaluates all rows at once, and its data by name.

    **Fields**: also `numbers`, the whole numbers of the position that is looked at, or None where there are none.
    """

    program: AbstractProgram
    data: dict[str, Any]
    numbers: Any = None

    @staticmethod
    def of(density: LogDensity, numbers: Any = None) -> "Whole":
        """Take out the whole model of a density, or its function."""
        program = density.program
        return Whole(program.whole or program, program.whole_data(density.data), numbers)

    def at(self, free: Any) -> Unknowns:
        """Return the position with these free numbers."""
        return free if self.numbers is None else Position(free, jnp.asarray(self.numbers))
