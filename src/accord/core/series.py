"""State what draws by name are, wherever they lie: all of one array, some of its scalars, or piece by piece."""

import abc
import math
from collections.abc import Iterator, Mapping

import numpy as np


class AbstractSeries(Mapping[str, np.ndarray]):
    """Arrays of draws by name, each of shape `(chain, draw, *event)`."""

    @abc.abstractmethod
    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, which is not read for it."""

    @abc.abstractmethod
    def columns(self, name: str, scalars: np.ndarray) -> np.ndarray:
        """Some scalars of an array, by their numbers in row-major order: shape `(chain, draw, len(scalars))`."""

    @abc.abstractmethod
    def pieces(self, name: str) -> Iterator[np.ndarray]:
        """An array in pieces of any size, each some draws of one chain: shape `(draws, *event)`."""

    def width(self, name: str) -> int:
        """How many scalars an array has."""
        return math.prod(self.shape(name)[2:])


class InMemory(AbstractSeries):
    """Arrays that are at hand."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self._arrays = {name: np.asarray(array) for name, array in arrays.items()}

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
    """What is a series already as it is, other mappings as one in memory."""
    return arrays if isinstance(arrays, AbstractSeries) else InMemory(arrays)


def selection(scalars: np.ndarray, width: int) -> np.ndarray | slice:
    """An index of these of `width` scalars, which copies nothing where it is of all."""
    return slice(None) if np.array_equal(scalars, np.arange(width)) else scalars
