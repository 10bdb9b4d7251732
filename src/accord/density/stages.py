"""Apply the stages of a program in their one order: sites are integrated out before rows are cut."""

from collections.abc import Mapping
from typing import Any

from ..core.errors import SiteError
from .eliminate.discrete.sum_out import SumOut
from .eliminate.integrate_out import Eliminate
from .layout import Layout
from .program import AbstractProgram
from .rows.chunked import Chunk
from .stage import AbstractStage

STAGES: tuple[AbstractStage, ...] = (SumOut(), Eliminate(), Chunk())
"""Stages that a model itself asks for; a run may add `Shard` after them."""


def staged(program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
    """Apply what the layout of a program asks for."""
    for stage in STAGES:
        if stage.is_wanted(program.layout):
            if program.layout.whole and not isinstance(stage, SumOut):
                raise _not_with_whole(program.layout)
            program = stage.applied(program, data)
    return program


def _not_with_whole(layout: Layout) -> SiteError:
    what = "sites are collapsed" if layout.to_collapse else "a plate has a chunk"
    return SiteError(
        f"site {layout.whole[0].name!r} is to be sampled as whole numbers, and {what}: the two do not go together yet. "
        "Leave `handlers.collapse` or `chunk=` out."
    )
