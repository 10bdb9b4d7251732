"""Hold results of operations that were computed together as stacks, and take stacks of arguments out of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from ...density.flat import Atom
from .units import Part


@dataclass
class Values:
    """Arrays of a flat program by place, while it is traced again.

    **Fields**: `arrays`, those that are there by themselves; `parts`, of which arrays others are parts; `rows`, by
    place the number of a stack and the row of it, and `stacks`, these; `same`, by place the first place of those that
    hold one array.
    """

    arrays: dict[int, Any]
    parts: Mapping[int, Part]
    rows: dict[int, tuple[int, int]] = field(default_factory=dict)
    stacks: list[Any] = field(default_factory=list)
    same: dict[int, int] = field(default_factory=dict)

    def keep(self, places: Sequence[int], stack: Any) -> None:
        """Keep the rows of a stack, one for each place."""
        self.rows.update({place: (len(self.stacks), row) for row, place in enumerate(places)})
        self.stacks.append(stack)

    def keep_one(self, places: Sequence[int], array: Any) -> None:
        """Keep an array for several places."""
        self.same.update(dict.fromkeys(places, places[0]))
        self.arrays[places[0]] = array

    def are_one(self, atoms: Sequence[Atom]) -> bool:
        """Return whether some atoms are one array or number, by its bits: 0 is not -0, and NaN is NaN."""
        names = {
            np.asarray(atom.val).tobytes() if isinstance(atom, Literal) else self.same.get(atom, atom)
            for atom in atoms
        }
        return len(names) == 1

    def one(self, atom: Atom) -> Any:
        """Return a single array."""
        if isinstance(atom, Literal):
            return atom.val
        atom = self.same.get(atom, atom)
        if atom not in self.arrays:
            if atom in self.parts:
                part = self.parts[atom]
                flat = self._flat(part.whole)
                found = jax.lax.slice(flat, [part.start], [part.start + math.prod(part.shape)])
                self.arrays[atom] = _shaped(found, part.shape)
            else:
                number, row = self.rows[atom]
                self.arrays[atom] = jax.lax.index_in_dim(self.stacks[number], row, keepdims=False)
        return self.arrays[atom]

    def stacked(self, atoms: Sequence[Atom], shape: tuple[int, ...], dtype: Any) -> Any:
        """Return arrays of one shape as the rows of a stack."""
        wanted: dict[Any, list[Any]] = {}
        numbers: list[tuple[Any, int]] = []
        for atom in atoms:
            origin, row = self._origin(atom)
            rows = wanted.setdefault(origin, [])
            numbers.append((origin, len(rows)))
            rows.append(row)
        pieces = [self._rows_of(origin, rows, shape, dtype) for origin, rows in wanted.items()]
        if len(pieces) == 1:
            return pieces[0]
        firsts = dict(zip(wanted, np.cumsum([0, *map(len, wanted.values())]).tolist(), strict=False))
        return taken(jnp.concatenate(pieces), [firsts[origin] + number for origin, number in numbers])

    def _origin(self, atom: Atom) -> tuple[Any, Any]:
        """Return where an array lies, in a stack, in another array or by itself, and where there; or a constant."""
        if isinstance(atom, Literal):
            return ("constant", None), atom.val
        atom = self.same.get(atom, atom)
        if atom in self.rows:
            number, row = self.rows[atom]
            return ("stack", number), row
        if atom in self.parts:
            return ("part", self.parts[atom].whole), self.parts[atom].start
        return ("one", atom), 0

    def _rows_of(self, origin: Any, wanted: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """Return some rows of one origin."""
        kind, what = origin
        if kind == "constant":
            return np.asarray(wanted, dtype)
        if kind == "stack":
            return taken(self.stacks[what], wanted)
        if kind == "part":
            flat, size = self._flat(what), math.prod(shape)
            first = wanted[0]
            if wanted == list(range(first, first + size * len(wanted), size)):
                found = jax.lax.slice(flat, [first], [first + size * len(wanted)])
            else:
                found = flat[np.add.outer(wanted, np.arange(size)).ravel()]
            return _shaped(found, (len(wanted), *shape))
        return jnp.broadcast_to(self.one(what), (len(wanted), *shape))

    def _flat(self, place: int) -> Any:
        array = self.one(place)
        return array if array.ndim == 1 else array.reshape(-1)


def taken(stack: Any, rows: Sequence[int] | np.ndarray) -> Any:
    """Return some rows of a stack, without an operation if these are all in their order."""
    rows = np.asarray(rows).tolist()
    if rows == list(range(stack.shape[0])):
        return stack
    step = rows[1] - rows[0] if len(rows) > 1 else 1
    last = rows[0] + step * (len(rows) - 1)
    if step > 0 and rows == list(range(rows[0], last + 1, step)):
        return jax.lax.slice_in_dim(stack, rows[0], last + 1, step)
    return stack[np.asarray(rows)]


def _shaped(array: Any, shape: tuple[int, ...]) -> Any:
    return array if array.shape == shape else jax.lax.reshape(array, shape)
