"""Evaluate a model with a plate whose entries are computed in chunks, to bound the memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from ...core import precision as precision_scope
from ..layout import Layout
from ..program import AbstractProgram
from ..stage import AbstractStage, AbstractStaged
from ..unknowns import Unknowns
from ..weights import Parts, Weights
from .blocks import devices_in_use, mesh_of
from .cutting import Cut
from .named_rows import num_rows_of, rows_of_plate
from .sharded_program import ShardedProgram


@dataclass(frozen=True)
class Chunk(AbstractStage):
    """Evaluate the rows of a plate a few at a time."""

    def is_wanted(self, layout: Layout) -> bool:
        """Return whether a plate has a chunk."""
        return layout.chunked is not None

    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
        """Keep to the chunk of the plate.

        **Raises** `SiteError` where sites are integrated or summed out, and more rows than a chunk are needed for that.
        """
        if program.layout.chunked is None:
            return program
        plate, chunk = program.layout.chunked
        made = ChunkedProgram(program, plate, chunk)
        if program.layout.collapsed:
            made.by_rows(data)
        return made


@dataclass(frozen=True, eq=False)
class ChunkedProgram(AbstractStaged):
    """A program over blocks of rows on one device; its data is that of the whole model.

    What a draw holds, with prior and Jacobian, has all rows in memory anyway, and is the base's.

    **Fields**: `plate`, over the rows; `chunk`, how many of them at most are evaluated at a time.
    """

    plate: str
    chunk: int

    def log_density(self, position: Unknowns, data: Mapping[str, Any]) -> jax.Array:
        """Sum over blocks of rows."""
        rows = self.by_rows(data)
        return rows.log_density(position, rows.blocks_of(data))

    def terms(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate each site's term, with rows summed over blocks."""
        rows = self.by_rows(data)
        return rows.summed_terms(position, rows.blocks_of(data))

    def parts(self, position: Unknowns, data: Mapping[str, Any]) -> Parts:
        """Evaluate the parts, with rows summed over blocks."""
        rows = self.by_rows(data)
        return rows.parts(position, rows.blocks_of(data))

    def weighted(self, position: Unknowns, data: Mapping[str, Any], weights: Weights) -> jax.Array:
        """Sum the weighted parts, with rows summed over blocks."""
        rows = self.by_rows(data)
        return rows.weighted(position, rows.blocks_of(data), weights)

    def by_rows(self, data: Mapping[str, Any]) -> ShardedProgram:
        """Cut the rows for these data, which tell their number."""
        shard = rows_of_plate(self.base, data, self.plate)
        cut = Cut.of(num_rows_of(self.base, data, shard), self.chunk)
        words = f"the plate {self.plate!r} has chunk={self.chunk}"
        with precision_scope.scope(self.precision):
            return ShardedProgram.of(self.base, data, mesh_of(devices_in_use()[:1]), shard, cut, words)
