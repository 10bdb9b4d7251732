"""Join the segments of several chains into one array per name, on demand."""

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..core.errors import StorageError
from ..core.series import AbstractSeries, selection
from .base import Phase, Segment
from .members import kinds_of

KEPT_BYTES = 2**28  # of draws on disk, in memory too


class Joined(AbstractSeries):
    """Draws of a run as arrays, all chains cut to the shortest; what was read last is kept, up to 256 MiB.

    **Arguments**
    - `chains`: the segments of each chain, in order.
    - `phase`: whose draws.
    - `names`: by name, what it is called in a segment, with the shape of one draw, and its dtype should there be none.

    **Raises** `StorageError` if a segment does not hold one of them, or holds it in another shape.
    """

    def __init__(
        self,
        chains: Sequence[Sequence[Segment]],
        phase: Phase,
        names: Mapping[str, tuple[str, tuple[int, ...], str]],
    ):
        self._chains = [[each for each in chain if each.phase == phase and each.arrays] for chain in chains]
        dtypes: dict[str, np.dtype] = {}
        for segment in (each for chain in self._chains for each in chain):
            _check(segment, names, dtypes)
        self._phase: Phase = phase
        self._names = dict(names)
        self._num_draws = min((sum(map(len, chain)) for chain in self._chains), default=0)
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, about."""
        return sum(math.prod(self.shape(name)) * np.dtype(self._names[name][2]).itemsize for name in self)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Joined, (self._chains, self._phase, self._names)

    def __getitem__(self, name: str) -> np.ndarray:
        with self._lock:
            if name not in self._kept:
                self._kept[name] = self.whole(name)
                self._kept[name].flags.writeable = False
            self._kept.move_to_end(name)
            found = self._kept[name]
            while len(self._kept) > 1 and sum(each.nbytes for each in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def shape(self, name: str) -> tuple[int, ...]:
        return (len(self._chains), self._num_draws, *self._names[name][1])

    def whole(self, name: str) -> np.ndarray:
        """Return an array, which is not kept."""
        shape = self.shape(name)
        # Without draws nothing vouches for the width that a manifest claims.
        width = self.width(name) if self._num_draws else 0
        return self.columns(name, np.arange(width)).reshape(shape)

    def columns(self, name: str, scalars: np.ndarray) -> np.ndarray:
        dtype = next((piece.dtype for piece in self.pieces(name)), np.dtype(self._names[name][2]))
        found = np.empty((len(self._chains), self._num_draws, len(scalars)), dtype)
        width = self.width(name)
        taken = selection(scalars, width)
        for row, chain in enumerate(self._chains):
            place = 0
            for piece in self._pieces(name, chain):
                found[row, place : place + len(piece)] = piece.reshape(len(piece), width)[:, taken]
                place += len(piece)
        return found

    def pieces(self, name: str) -> Iterator[np.ndarray]:
        for chain in self._chains:
            yield from self._pieces(name, chain)

    def _pieces(self, name: str, chain: Sequence[Segment]) -> Iterator[np.ndarray]:
        stored, left = self._names[name][0], self._num_draws
        for segment in chain:
            if left <= 0:
                return
            yield segment.arrays[stored][:left]
            left -= len(segment)


def _check(
    segment: Segment, names: Mapping[str, tuple[str, tuple[int, ...], str]], dtypes: dict[str, np.dtype]
) -> None:
    """Raise `StorageError` unless a segment has the arrays of these names, like segments before it in `dtypes`."""
    found = kinds_of(segment.arrays)
    where = f"chain {segment.chain}: the {segment.phase} draws {segment.start} to {segment.stop} hold"
    for stored, shape, _ in names.values():
        if stored not in found:
            raise StorageError(f"{where} no {stored!r}. They come from another model; use a new store.")
        dtype, whole = found[stored]
        known = dtypes.setdefault(stored, dtype)
        if whole[1:] != shape or dtype != known:
            raise StorageError(
                f"{where} {stored!r} of shape {whole[1:]} and dtype {dtype}, and the run has it of shape {shape} and "
                f"dtype {known}. They come from another model; use a new store."
            )
