"""Apply the stages of a program in their one order: sites are integrated out before rows are cut."""

from collections.abc import Mapping
from typing import Any

from .eliminate.collapsed import Eliminate
from .program import AbstractProgram
from .rows.chunked import Chunk
from .stage import AbstractStage

STAGES: tuple[AbstractStage, ...] = (Eliminate(), Chunk())
"""Stages that a model itself asks for; a run may add `Shard` after them."""


def staged(program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
    """Apply what the layout of a program asks for."""
    for stage in STAGES:
        if stage.is_wanted(program.layout):
            program = stage.applied(program, data)
    return program
