"""Take the whole model, with all of its data in memory, out of a density, however that is evaluated."""

from dataclasses import dataclass
from typing import Any

from ..logdensity import LogDensity
from ..program import AbstractProgram


@dataclass(frozen=True)
class Whole:
    """A program that evaluates all rows at once, and its data by name."""

    program: AbstractProgram
    data: dict[str, Any]

    @staticmethod
    def of(density: LogDensity) -> "Whole":
        """Take out the whole model of a density, or its function."""
        program = density.program
        return Whole(program.whole or program, program.whole_data(density.data))
