"""Describe how an integer array follows from the data: a small expression over what a trace was given.

An array inside of a loop has the loop's turns for leading axes, one for each loop by which it changes.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..flat import Flat, Step


@dataclass(frozen=True, eq=False)
class Given:
    """An argument of the model, by name."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        """Its own name."""
        return frozenset({self.name})

    @property
    def is_exact(self) -> bool:
        """Data are what they are."""
        return True

    @property
    def loops(self) -> tuple[int, ...]:
        """No loops."""
        return ()


@dataclass(frozen=True, eq=False)
class Held:
    """An array or a number that the trace holds; `name` is that of a variable which held it before the model ran."""

    value: Any
    name: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Its own name, if it is data."""
        return frozenset({self.name} if self.name else ())

    @property
    def is_exact(self) -> bool:
        """Data are what they are."""
        return True

    @property
    def loops(self) -> tuple[int, ...]:
        """No loops."""
        return ()


@dataclass(frozen=True, eq=False)
class Made:
    """Result number `output` of an operation on other nodes.

    **Fields**: `is_exact`: whether NumPy gets the same bits as the program.
    """

    step: Step
    inputs: "tuple[Known, ...]"
    output: int
    names: frozenset[str]
    loops: tuple[int, ...]
    is_exact: bool


@dataclass(frozen=True, eq=False)
class Turn:
    """Row t of another node, in turn t of a loop."""

    of: "Known"
    loop: int

    @property
    def names(self) -> frozenset[str]:
        """The names of the array."""
        return self.of.names

    @property
    def is_exact(self) -> bool:
        """As the array."""
        return self.of.is_exact

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops of the array, and the one over its rows."""
        return (*self.of.loops, self.loop)


@dataclass(frozen=True, eq=False)
class Counter:
    """A number that goes up by the same `stride` in each turn of a loop."""

    start: "Known"
    loop: int
    length: int
    is_reversed: bool = False
    stride: int = 1

    @property
    def names(self) -> frozenset[str]:
        """The names of its start."""
        return self.start.names

    @property
    def is_exact(self) -> bool:
        """As its start."""
        return self.start.is_exact

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops of its start, and its own."""
        return (*self.start.loops, self.loop)


@dataclass(frozen=True, eq=False)
class Carried:
    """What a scan carries, as it is at the beginning of each of its turns.

    **Fields**
    - `body`: of the scan, as far as this needs it: from constants, what is carried and a row to what is carried.
    - `consts`, `carry`, `rows`: nodes for them; None for those that are not needed. `number`: which is carried.
    """

    body: Flat
    consts: "tuple[Known | None, ...]"
    carry: "tuple[Known | None, ...]"
    rows: "tuple[Known | None, ...]"
    number: int
    loop: int
    length: int
    is_reversed: bool
    is_exact: bool

    @property
    def needed(self) -> "list[Known]":
        """The nodes that it follows from."""
        return [each for each in (*self.consts, *self.carry, *self.rows) if each is not None]

    @property
    def names(self) -> frozenset[str]:
        """All names of what it follows from."""
        return frozenset[str]().union(*(each.names for each in self.needed))

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops around the scan, and its own."""
        return (*sorted({loop for each in self.needed for loop in each.loops}), self.loop)


@dataclass(frozen=True, eq=False)
class Column:
    """Select one of the numbers along the last axis of an array."""

    of: "Known"
    number: int

    @property
    def names(self) -> frozenset[str]:
        """The names of the array."""
        return self.of.names

    @property
    def is_exact(self) -> bool:
        """As the array."""
        return self.of.is_exact

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops of the array."""
        return self.of.loops


@dataclass(frozen=True, eq=False)
class Unknown:
    """An array that cannot be computed from data on the host.

    **Fields**
    - `is_latent`: whether it depends on an unknown of the model.
    - `names`: of the data that it depends on.
    - `by`: the operation on data that has no rule in NumPy.
    - `parts`: what it is put together from, where it is a concatenation.
    """

    is_latent: bool
    names: frozenset[str] = frozenset()
    by: str = ""
    parts: "tuple[Node, ...]" = field(default=())

    @property
    def is_of_sites(self) -> bool:
        """Return whether it depends on unknowns of the model and on no data."""
        return self.is_latent and not self.names


Known = Given | Held | Made | Turn | Counter | Carried | Column
Node = Known | Unknown


def made_of(step: Step, inputs: tuple[Node, ...], output: int, *, is_exact: bool) -> Made:
    """Make the node of an operation whose inputs are all known; `is_exact` says it of the operation."""
    known = tuple(node for node in inputs if not isinstance(node, Unknown))
    names = frozenset[str]().union(*(node.names for node in known))
    loops = tuple(sorted({loop for node in known for loop in node.loops}))
    return Made(step, known, output, names, loops, is_exact and all(node.is_exact for node in known))


def leaves(node: Known) -> list[Given | Held]:
    """List the data that a node is computed from, each once."""
    found: list[Given | Held] = []
    front, seen = [node], set[int]()
    while front:
        each = front.pop()
        if id(each) in seen or not each.names:
            continue
        seen.add(id(each))
        match each:
            case Given() | Held():
                found.append(each)
            case Made():
                front.extend(reversed(each.inputs))
            case Counter():
                front.append(each.start)
            case Carried():
                front.extend(reversed(each.needed))
            case _:
                front.append(each.of)
    return list({each.name: each for each in found}.values())


def is_equal(node: Node, number: int) -> bool:
    """Return whether a node is this one number."""
    if isinstance(node, Made) and node.step.name in ("convert_element_type", "broadcast_in_dim"):
        return is_equal(node.inputs[0], number)
    return (
        isinstance(node, Held) and np.size(node.value) == 1 and bool(np.all(np.asarray(node.value) == number))
    )
