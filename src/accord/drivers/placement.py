"""Say on which devices the arrays of a run lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..density.blocks import AXIS, mesh_of


@dataclass(frozen=True)
class Placement:
    """Where a program runs.

    **Fields**: `devices`, those that share out its data; none is JAX's default one, of which nothing is said.
    """

    devices: tuple[Any, ...] = ()

    @property
    def everywhere(self) -> NamedSharding | None:
        """Of arrays that every device has."""
        return self._spread(PartitionSpec())

    def shapes(self, tree: Any) -> Any:
        """Shape, dtype and place of arrays that every device has."""
        return jax.tree.map(lambda leaf: _abstract(leaf, self.everywhere), tree)

    def put(self, tree: Any) -> Any:
        """Put arrays on every device."""
        return jax.device_put(tree, self.everywhere)

    def shapes_of_data(self, data: Mapping[str, Any], cut: Sequence[str]) -> list[Any]:
        """Shape, dtype and place of data in the order of names, those in `cut` in blocks."""
        return [_abstract(data[name], self._of(name, cut)) for name in sorted(data)]

    def put_data(self, data: Mapping[str, Any], cut: Sequence[str]) -> list[Any]:
        """Put data on devices, in the order of names, those in `cut` in blocks."""
        return [jax.device_put(data[name], self._of(name, cut)) for name in sorted(data)]

    def _of(self, name: str, cut: Sequence[str]) -> NamedSharding | None:
        return self._spread(PartitionSpec(AXIS)) if name in cut else self.everywhere

    def _spread(self, spec: PartitionSpec) -> NamedSharding | None:
        return NamedSharding(mesh_of(self.devices), spec) if self.devices else None


def _abstract(leaf: Any, sharding: NamedSharding | None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype, sharding=sharding)
