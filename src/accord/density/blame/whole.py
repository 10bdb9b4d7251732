"""Take the whole model, with all of its data in memory, out of a density, however that is evaluated."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..logdensity import LogDensity
from ..program import AbstractProgram
from ..rows.cutting import Cut
from ..rows.file_blocks import FileBlocks
from ..rows.row_files import in_memory
from ..rows.sharded_program import ShardedProgram


@dataclass(frozen=True)
class Whole:
    """A program that evaluates all rows at once, and its data by name."""

    program: AbstractProgram
    data: dict[str, Any]

    @staticmethod
    def of(density: LogDensity) -> "Whole":
        """Take out the whole model of a density, or its function."""
        program = density.program
        if isinstance(program, ShardedProgram):
            own = {name: density.data[name] for name in density.data if name not in program.cut_data}
            cut = {
                name: _joined(density.data[name], program.cut, axis) for name, axis in program.shard.items()
            }
            return Whole(program.base, {**own, **cut})
        return Whole(program.whole or program, in_memory(density.data))


def _joined(blocks: Any, cut: Cut, axis: int) -> np.ndarray:
    if isinstance(blocks, FileBlocks):
        return np.asarray(blocks.rows)
    return np.asarray(cut.joined(np.asarray(blocks), axis))
