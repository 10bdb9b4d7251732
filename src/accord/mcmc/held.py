"""Leave on the device what one block returns and the next takes, and copy it to the host only when it is read there.

Kernel states, metrics and keys of a thousand chains are hundreds of megabytes, and the host reads none of them between
most blocks. They are not donated to the next call: a task may be repeated, so its input must outlive it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..adaptation.base import Fitted
from ..core.tree import to_numpy
from .block import ChainState


@dataclass(frozen=True, eq=False)
class Sent:
    """Arguments that are equal from block to block, for all lanes.

    **Fields**: `given`, `key` and `places`, as the program takes them; `fitted` and `keys`, the objects of the host
    that they were made from; `is_put`, whether they are on the device already.
    """

    given: Any
    key: Any
    places: Any
    fitted: tuple[Fitted, ...]
    keys: tuple[np.ndarray, ...]
    is_put: bool = False

    def is_of(self, fitted: Sequence[Fitted], keys: Sequence[np.ndarray]) -> bool:
        """Return whether these were made from the same objects."""
        if len(self.fitted) != len(fitted) or len(self.keys) != len(keys):
            return False
        pairs = (*zip(self.fitted, fitted, strict=True), *zip(self.keys, keys, strict=True))
        return all(mine is other for mine, other in pairs)

    def put(self, place: Callable[[Any], Any]) -> "Sent":
        """Return these on the device, where `place` puts them."""
        if self.is_put:
            return self
        given, key, places = place((self.given, self.key, self.places))
        return replace(self, given=given, key=key, places=places, is_put=True)


class Returned:
    """Arrays that a program has returned, on its device; copied to the host at most once.

    **Fields**: `tree` of the arrays; `program` that returned them; `sent`, with which it was called.
    """

    def __init__(self, tree: Any, program: Any, sent: Sent):
        self.tree, self.program, self.sent = tree, program, sent
        self._copy: Any = None

    def on_host(self) -> Any:
        """Return the tree in NumPy arrays."""
        if self._copy is None:
            self._copy = to_numpy(self.tree)
        return self._copy


@dataclass(frozen=True, eq=False)
class Lane:
    """One lane's part of what a program has returned.

    **Fields**: `returned`, the arrays of all lanes; `number` of the lane; `axis` of the lanes, None without one.
    """

    returned: Returned
    number: int = 0
    axis: int | None = 0

    def on_host(self) -> Any:
        """Return the part in NumPy arrays."""
        copy = self.returned.on_host()
        if self.axis is None:
            return copy
        index = (slice(None),) * self.axis + (self.number,)
        return jax.tree.map(lambda leaf: leaf[index], copy)

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        """Pickle the arrays: a worker in another process has its own device."""
        return _itself, (self.on_host(),)


def _itself(arrays: Any) -> Any:
    return arrays


def on_host(part: Any) -> Any:
    """Return the arrays of a part, which may be on the device."""
    return part.on_host() if isinstance(part, Lane) else part


def state_on_host(state: ChainState) -> ChainState:
    """Return a state whose kernel's state is on the host."""
    return replace(state, kernel=on_host(state.kernel)) if isinstance(state.kernel, Lane) else state
