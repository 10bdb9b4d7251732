"""Place the arrays of a run on devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..density.rows.blocks import AXIS, mesh_of
from ..density.rows.file_blocks import FileBlocks
from ..density.rows.row_files import FileRows


@dataclass(frozen=True)
class Placement:
    """Devices of a program.

    **Fields**: `devices`, over which its data are split; empty for JAX's default device.
    """

    devices: tuple[Any, ...] = ()

    @property
    def everywhere(self) -> NamedSharding | None:
        """Return the sharding of arrays that every device has."""
        return self._spread(PartitionSpec())

    def shapes(self, tree: Any) -> Any:
        """Return shape, dtype and sharding of arrays that every device has."""
        return jax.tree.map(lambda leaf: _abstract(leaf, self.everywhere), tree)

    def put(self, tree: Any) -> Any:
        """Put arrays on every device."""
        return jax.tree.map(lambda leaf: _placed(leaf, self.everywhere), tree)

    def shapes_of_data(self, data: Mapping[str, Any], cut: Sequence[str]) -> list[Any]:
        """Return shape, dtype and sharding of data in the order of names; arguments in `cut` are split in shards."""
        return [_abstract(data[name], self._of(name, cut)) for name in sorted(data)]

    def put_data(self, data: Mapping[str, Any], cut: Sequence[str]) -> list[Any]:
        """Put data on devices, in the order of names; arguments in `cut` are split in shards."""
        return [_placed(data[name], self._of(name, cut)) for name in sorted(data)]

    def _of(self, name: str, cut: Sequence[str]) -> NamedSharding | None:
        return self._spread(PartitionSpec(AXIS)) if name in cut else self.everywhere

    def _spread(self, spec: PartitionSpec) -> NamedSharding | None:
        return NamedSharding(mesh_of(self.devices), spec) if self.devices else None


def _placed(leaf: Any, sharding: NamedSharding | None) -> Any:
    if sharding is not None and isinstance(leaf, FileBlocks):
        return jax.make_array_from_callback(leaf.shape, sharding, lambda index: leaf.read(index or ()))
    if isinstance(leaf, FileRows):
        leaf = np.asarray(leaf)
    if sharding is None or sharding.is_fully_addressable:
        return jax.device_put(leaf, sharding)
    # Each process puts what it has on its own devices. `device_put` would first send all to all, to compare them.
    return jax.make_array_from_callback(np.shape(leaf), sharding, lambda index: np.asarray(leaf)[index])


def _abstract(leaf: Any, sharding: NamedSharding | None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype, sharding=sharding)
