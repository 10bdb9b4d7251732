"""Find the operations of a flat program that can be computed together: those that are alike, and long sums.

A model that names its sites in a loop has the same operations once for each of them. XLA compiles every operation on
its own, at about 10 ms for the operations of a site, so a model of thousands of sites took minutes.

Two operations are alike if they do the same with results of operations that are alike in turn, and as far from the
beginning. So all operations that are alike can be computed once those nearer to the beginning are.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import Literal

from ...density.flat import Atom, Flat, Step, aval_of

MOST_NUMBERS = 1024
"""The most entries of an array among those that are stacked."""

LEAST_ALIKE = 8
"""Operations that are alike, from which on they are computed together."""

LEAST_ADDED = 16
"""Terms of a sum, from which on they are stacked and added up at once."""

# Operations on arrays of any shape, of which several are one operation on a stack of their arguments.
_NAMES = """
    abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e broadcast_in_dim cbrt ceil clamp
    convert_element_type copy cos cosh cumsum digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igammac
    integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or polygamma pow
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum regularized_incomplete_beta rem reshape round
    rsqrt select_n sign sin sinh sqrt square squeeze sub tan tanh transpose xor zeta
"""
_STACKABLE = frozenset(_NAMES.split())
_ADDING = ("add", "add_any")


@dataclass(frozen=True)
class Part:
    """Entries of an array that lie side by side in it, in row-major order, from entry `start` on."""

    whole: int
    start: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Alike:
    """Operations that are computed together, in the order of the program."""

    steps: Sequence[Step]


@dataclass(frozen=True)
class Sum:
    """The sum of many numbers or arrays of one shape."""

    terms: Sequence[Atom]
    step: Step

    @property
    def output(self) -> int:
        """Place of the sum."""
        return self.step.outputs[0]

    @property
    def aval(self) -> Any:
        """Shape and dtype of the sum, and of each term."""
        return aval_of(self.step.eqn.outvars[0])


Unit = Alike | Sum | Step
"""What is computed at once."""


def units_of(flat: Flat) -> tuple[list[Unit], Mapping[int, Part]]:
    """Return the units of a flat program in an order in which they can be computed, and the parts of arrays in it."""
    finder = _Finder(flat)
    finder.find()
    return finder.units(), finder.parts


class _Finder:
    """Search through a flat program, in its order."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.parts: dict[int, Part] = {}
        self._level: dict[int, int] = {}
        self._kind: dict[int, Hashable] = {}
        self._found: list[tuple[int, Hashable, Step | Sum]] = []
        self._numbers: dict[Hashable, int] = {}

    def find(self) -> None:
        """Find the level and kind of every operation."""
        sums, inside = _sums(self.flat)
        for number, step in enumerate(self.flat.steps):
            if number in inside:
                continue
            unit = sums.get(number, step)
            inputs = unit.terms if isinstance(unit, Sum) else unit.inputs
            level = 1 + max((self._level.get(atom, 0) for atom in inputs if isinstance(atom, int)), default=0)
            for place in step.outputs:
                self._level[place] = level
            if isinstance(unit, Step) and (parts := _parts(unit)):
                self.parts.update(parts)
                continue
            kind = None if isinstance(unit, Sum) else self._kind_of(unit, level)
            if kind is not None:
                self._kind[step.outputs[0]] = kind
            self._found.append((level, kind, unit))

    def units(self) -> list[Unit]:
        """Return the units, nearest to the beginning first."""
        groups: dict[Hashable, list[Step]] = {}
        for _, kind, unit in self._found:
            if kind is not None and isinstance(unit, Step):
                groups.setdefault(kind, []).append(unit)
        found: list[tuple[int, Unit]] = []
        for level, kind, unit in self._found:
            group = [] if kind is None else groups[kind]
            if len(group) < LEAST_ALIKE:
                found.append((level, unit))
            elif unit is group[0]:
                found.append((level, Alike(group)))
        return [unit for _, unit in sorted(found, key=lambda each: each[0])]

    def _kind_of(self, step: Step, level: int) -> Hashable | None:
        """Return what operations that are alike have in common; None for one that is computed alone."""
        eqn = step.eqn
        if step.name not in _STACKABLE or len(step.outputs) != 1 or not step.inputs:
            return None
        if any(_size(aval_of(variable)) > MOST_NUMBERS for variable in (*eqn.invars, *eqn.outvars)):
            return None
        kinds = tuple(
            self._kind_of_input(atom, aval_of(variable))
            for atom, variable in zip(step.inputs, eqn.invars, strict=True)
        )
        kind = (eqn.primitive, tuple(sorted(eqn.params.items())), eqn.ctx, level, kinds)
        try:
            hash(kind)
        except TypeError:  # of a parameter
            return None
        return kind

    def _kind_of_input(self, atom: Atom, aval: Any) -> Hashable:
        shape = aval.shape, str(aval.dtype)
        if isinstance(atom, Literal):
            return "constant", shape
        known = self._kind.get(atom)
        if known is not None:
            # By its number, since kinds of kinds of kinds would be long to compare.
            return self._numbers.setdefault(known, len(self._numbers)), shape
        part = self.parts.get(atom)
        return ("part", part.whole, shape) if part else ("value", shape)


def _parts(step: Step) -> dict[int, Part]:
    """Return the results of a step that are parts of an array, by place."""
    (whole, *_), eqn = step.inputs or (None,), step.eqn
    if not isinstance(whole, int) or step.name not in ("split", "slice"):
        return {}
    shape = aval_of(eqn.invars[0]).shape
    row = math.prod(shape[1:])
    if step.name == "split":
        if eqn.params["axis"] != 0:
            return {}
        sizes = eqn.params["sizes"]
        starts = np.cumsum([0, *sizes[:-1]]) * row
        return {
            place: Part(whole, int(start), (size, *shape[1:]))
            for place, start, size in zip(step.outputs, starts, sizes, strict=True)
        }
    starts, limits, strides = (eqn.params[name] for name in ("start_indices", "limit_indices", "strides"))
    size = tuple(limit - start for start, limit in zip(starts, limits, strict=True))
    is_one_run = all(length == 1 for length in size[:-1]) or size[1:] == shape[1:]
    if not is_one_run or any(stride != 1 for stride in strides or ()):
        return {}
    start = sum(n * math.prod(shape[axis + 1 :]) for axis, n in enumerate(starts))
    return {step.outputs[0]: Part(whole, int(start), size)}


def _sums(flat: Flat) -> tuple[dict[int, Sum], set[int]]:
    """Find long sums, by the number of their last step, and the numbers of the steps inside of them."""
    uses = Counter(atom for step in flat.steps for atom in step.inputs if isinstance(atom, int))
    uses.update(atom for atom in flat.outputs if isinstance(atom, int))
    adding = {step.outputs[0]: number for number, step in enumerate(flat.steps) if _adds(step)}
    sums: dict[int, Sum] = {}
    inside: set[int] = set()
    for number in reversed(adding.values()):
        if number in inside:
            continue
        terms: list[Atom] = []
        within: set[int] = set()
        waiting: list[Atom] = [*reversed(flat.steps[number].inputs)]
        while waiting:
            atom = waiting.pop()
            if isinstance(atom, int) and atom in adding and uses[atom] == 1:
                within.add(adding[atom])
                waiting += reversed(flat.steps[adding[atom]].inputs)
            else:
                terms.append(atom)
        if len(terms) >= LEAST_ADDED:
            sums[number] = Sum(terms, flat.steps[number])
            inside |= within
    return sums, inside


def _adds(step: Step) -> bool:
    if step.name not in _ADDING:
        return False
    first, second = (aval_of(variable) for variable in step.eqn.invars)
    result = aval_of(step.eqn.outvars[0])
    is_one = first.shape == second.shape == result.shape and first.dtype == second.dtype == result.dtype
    return is_one and np.issubdtype(result.dtype, np.floating) and _size(result) <= MOST_NUMBERS


def _size(aval: Any) -> int:
    return math.prod(aval.shape)
