"""Define access to named draws, in memory or stored: whole arrays, some parameters, or piece by piece."""

import abc
import math
from collections.abc import Iterator, Mapping

import numpy as np


class AbstractSeries(Mapping[str, np.ndarray]):
    """Abstract base class of named arrays of draws, each of shape `(chain, draw, *event)`."""

    @abc.abstractmethod
    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array, without reading the array."""

    @abc.abstractmethod
    def columns(self, name: str, scalars: np.ndarray) -> np.ndarray:
        """Return some parameters of an array, by row-major number: shape `(chain, draw, len(scalars))`."""

    @abc.abstractmethod
    def pieces(self, name: str) -> Iterator[np.ndarray]:
        """Yield an array in pieces of any size, each some draws of one chain: shape `(draws, *event)`."""

    def width(self, name: str) -> int:
        """Return the number of parameters in an array."""
        return math.prod(self.shape(name)[2:])


class InMemory(AbstractSeries):
    """Named arrays of draws in memory, read-only, since summaries of them are kept."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self._arrays = {name: np.asarray(array).view() for name, array in arrays.items()}
        for array in self._arrays.values():
            array.flags.writeable = False

    def __reduce__(self) -> "tuple[type[InMemory], tuple[dict[str, np.ndarray]]]":
        return InMemory, (self._arrays,)  # a pickle does not say that arrays are read-only

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._arrays[name].shape

    def columns(self, name: str, scalars: np.ndarray) -> np.ndarray:
        array = self._arrays[name]
        table = array.reshape(*array.shape[:2], self.width(name))
        return table[:, :, selection(scalars, table.shape[2])]

    def pieces(self, name: str) -> Iterator[np.ndarray]:
        yield from self._arrays[name]


def as_series(arrays: Mapping[str, np.ndarray]) -> AbstractSeries:
    """Return a series unchanged, and any other mapping as a series in memory."""
    return arrays if isinstance(arrays, AbstractSeries) else InMemory(arrays)


def selection(scalars: np.ndarray, width: int) -> np.ndarray | slice:
    """Return an index of these parameters among `width`; a slice, which copies nothing, if it is all of them."""
    is_all = len(scalars) == width and np.array_equal(scalars, np.arange(width))
    return slice(None) if is_all else scalars
