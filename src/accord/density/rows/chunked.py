"""Evaluate a model with a plate whose entries are computed in chunks, to bound the memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ...core import precision as precision_scope
from ...core.notice import Notice
from ...core.precision import Precision
from ..layout import Layout
from ..program import AbstractProgram, ModelProgram, Recorded
from .blocks import devices_in_use, mesh_of
from .cutting import Cut
from .named_rows import num_rows_of, rows_of_plate
from .sharded_program import ShardedProgram


def in_chunks(program: ModelProgram) -> AbstractProgram:
    """Return a program that keeps to the chunk of a plate, where one has any."""
    if program.layout.chunked is None:
        return program
    plate, chunk = program.layout.chunked
    return ChunkedProgram(
        base=program,
        name=program.name,
        layout=program.layout,
        precision=program.precision,
        plate=plate,
        chunk=chunk,
        constants=program.constants,
    )


@dataclass(frozen=True, eq=False)
class ChunkedProgram(AbstractProgram):
    """A model over blocks of its rows on one device; its data is that of the whole model.

    **Fields**: `base`, the whole model; `plate`, over the rows; `chunk`, how many rows at most are evaluated at a time.
    """

    base: ModelProgram
    name: str
    layout: Layout
    precision: Precision
    plate: str
    chunk: int
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)

    def log_density(self, position: jax.Array, data: Mapping[str, Any]) -> jax.Array:
        """The sum over blocks of rows."""
        parts = self._parts(data)
        return parts.log_density(position, parts.blocks_of(data))

    def terms(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Each site's term, with rows summed over blocks."""
        parts = self._parts(data)
        return parts.summed_terms(position, parts.blocks_of(data))

    def values(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites: what a draw holds is in memory anyway."""
        return self.base.values(position, data)

    def recorded(self, position: jax.Array, data: Mapping[str, Any]) -> Recorded:
        """Evaluate the whole model: of prior and Jacobian, only what a draw holds has an entry for each row."""
        return self.base.recorded(position, data)

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Unconstrained pieces of the whole model's latent sites."""
        return self.base.positions(values, data)

    def non_finite(self, position: jax.Array, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count as the whole model does."""
        return self.base.non_finite(position, data)

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Check as the whole model does."""
        return self.base.check(data)

    def rebuilt(self, data: Mapping[str, Any]) -> tuple[AbstractProgram, dict[str, Any], tuple[Notice, ...]]:
        """Trace the whole model again; it may have other plates."""
        program, arrays, notices = ModelProgram.from_model(self.base.template.marked(data), self.precision)
        return in_chunks(program), arrays, notices

    @property
    def whole(self) -> ModelProgram:
        """The whole model."""
        return self.base

    def _parts(self, data: Mapping[str, Any]) -> ShardedProgram:
        shard = rows_of_plate(self.base, data, self.plate)
        cut = Cut.of(num_rows_of(self.base, data, shard), self.chunk)
        with precision_scope.scope(self.precision):
            return ShardedProgram.of(self.base, data, mesh_of(devices_in_use()[:1]), shard, cut)
