"""Move the results of operations by as much as the program may round them otherwise than NumPy does.

What comes out the same however they are moved, such as the whole part of a number that is not near an integer, is the
same in the program.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# In units of the last digit of the number. XLA's functions were at most 4 off on a CPU; a sum of n numbers is off by
# some sqrt(n) units of the sum of their absolute values.
_UNITS = 32
_UNITS_OF_SUM = 8
_SUMS = ("reduce_sum", "cumsum", "dot_general", "scatter-add")
_CROSS_ZERO = ("sin", "cos", "tan", "lgamma", "digamma")  # where no number is near to zero: off by units of 1


@dataclass(frozen=True)
class Rounding:
    """One of the ways in which a program may round: `number` 0 is all up, 1 all down, others by a digit of the entry.

    So equal numbers stay equal, and different ones may go either way.
    """

    number: int

    def moved(
        self,
        name: str,
        apply: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]],
        values: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """Return other results that the program may get for an operation.

        **Arguments**: `apply`: the operation by its rule, from its arguments `values` to its `results`.
        """
        largest = [np.abs(result) for result in results]
        if name in _SUMS:  # whose terms may cancel
            largest = apply([np.abs(value) if value.dtype.kind == "f" else value for value in values])
        return [
            self._moved(name, values, result, size) for result, size in zip(results, largest, strict=True)
        ]

    def _moved(
        self, name: str, values: Sequence[np.ndarray], result: np.ndarray, size: np.ndarray
    ) -> np.ndarray:
        if result.dtype.kind != "f":
            return result
        if name in _SUMS:
            units = _UNITS_OF_SUM * math.sqrt(max(value.size for value in values)) * size
        else:
            units = _UNITS * (size + (name in _CROSS_ZERO))
        with np.errstate(all="ignore"):
            other = result + self._signs(result) * units * np.finfo(result.dtype).eps
        return np.where(np.isfinite(other), other, result).astype(result.dtype)

    def _signs(self, result: np.ndarray) -> Any:
        if self.number < 2:
            return 1 - 2 * self.number
        digits = np.ascontiguousarray(result).view(f"i{result.itemsize}").reshape(result.shape)
        return 1 - 2 * ((digits >> (self.number - 2)) & 1)


ROUNDINGS = tuple(map(Rounding, range(5)))
"""The ways that are tried."""
