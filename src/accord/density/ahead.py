"""Split a traced function into what its data alone decide, which is computed once ahead of a loop, and the rest.

A loop takes value and gradient of a log density thousands of times, of the same data. XLA moves little out of it: terms
such as log(y!) would be computed in every step. What is worth keeping has a logarithm or the like in it, or must be an
array in memory, such as an operand of a matrix product. Cheap arithmetic is repeated instead, since reading its result
takes as long. Nothing that is kept is larger than what it is made of, beyond a few MiB in all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.extend import core

from ..core.traced import equations
from .flat import Atom, Step, aval_of, flatten

_CHEAP_NAMES = """
    abs add add_any and broadcast_in_dim ceil clamp convert_element_type copy copy_p div eq
    expand_dims floor ge gt integer_pow iota is_finite le lt max min mul ne neg nextafter not or
    real reshape round select_n shift_left shift_right_arithmetic shift_right_logical sign slice
    square squeeze stop_gradient sub xor
"""
_CHEAP = frozenset(_CHEAP_NAMES.split())
"""Operations that take as long as reading their results; XLA fuses them with what uses the results."""

_VIEWS_NAMES = """
    broadcast_in_dim copy copy_p expand_dims iota reshape slice squeeze stop_gradient
"""
_VIEWS = frozenset(_VIEWS_NAMES.split())
"""Operations that compute nothing."""

_FUSED_NAMES = """
    acos acosh asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt concatenate cos cosh digamma
    dynamic_slice erf erf_inv erfc exp exp2 expm1 gather lgamma log log1p logistic pad polygamma pow
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum rem rev rsqrt sin sinh sqrt
    tan tanh transpose
"""
_FUSED = _CHEAP | frozenset(_FUSED_NAMES.split())
"""Operations that read one number after the other; all others need arrays in memory."""

# What says that it is to be computed twice, and programs of several devices.
_LEFT = ("remat", "remat2", "checkpoint", "shard_map")
_FEW = 2**12  # elements, up to which a result may be larger than what it is made of
_MAX_BYTES, _MAX_RATIO = 2**22, 2  # of all that is kept, the ratio to the bytes of the data


@dataclass(frozen=True)
class Split:
    """A function of constants, data and other inputs in two parts; each is its steps, and the places of its results."""

    constants: tuple[int, ...]
    inputs: tuple[int, ...]
    num_data: int
    fixed: Mapping[int, Any]
    ahead: tuple[Step, ...]
    kept: tuple[int, ...]
    rest: tuple[Step, ...]
    outputs: tuple[Atom, ...]

    def bound(self, constants: Sequence[Any], data: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
        """Compute what is kept now, and return the function of the other inputs."""
        kept = self.ahead_of_loop(constants, data)
        return lambda *others: tuple(self.in_loop(constants, data, kept, *others))

    def ahead_of_loop(self, constants: Sequence[Any], data: Sequence[Any]) -> list[Any]:
        """Compute what is kept from constants and data."""
        known = self._known(constants, self.inputs[: self.num_data], data)
        return _evaluated(self.ahead, known, self.kept)

    def in_loop(
        self, constants: Sequence[Any], data: Sequence[Any], kept: Sequence[Any], *others: Any
    ) -> list[Any]:
        """Compute the results of the function from what was kept."""
        known = self._known(constants, self.inputs, [*data, *others])
        return _evaluated(self.rest, known | dict(zip(self.kept, kept, strict=True)), self.outputs)

    def _known(
        self, constants: Sequence[Any], places: Sequence[int], inputs: Sequence[Any]
    ) -> dict[int, Any]:
        known = dict(zip(self.constants, constants, strict=True))
        return {**self.fixed, **known, **dict(zip(places, inputs, strict=True))}


def split(closed: core.ClosedJaxpr, num_data: int) -> Split | None:
    """Split a traced function whose first inputs, `num_data` of them, are data; None where nothing is worth keeping.

    Functions with effects are not split, nor those that say what is to be computed twice.
    """
    if closed.effects or any(each.primitive.name in _LEFT for each in equations(closed.jaxpr)):
        return None
    flat = flatten(closed, is_bounded=False)
    given = [*flat.constants, *flat.inputs[:num_data]]
    num_bytes = sum(map(_bytes, (*closed.in_avals[:num_data], *map(jax.typeof, closed.consts))))
    known = _Known(given)
    rest = [step for step in flat.steps if not known.takes(step)]
    rest = [replace(step, inputs=known.same(step.inputs)) for step in rest]
    outputs = known.same(flat.outputs)
    kept = known.worth_keeping(rest, outputs, max(_MAX_BYTES, _MAX_RATIO * num_bytes))
    if not kept:
        return None
    steps = [*known.steps, *rest]
    constants = [*flat.constants][: len(closed.consts)]
    return Split(
        tuple(constants),
        flat.inputs,
        num_data,
        {place: value for place, value in flat.constants.items() if place not in constants},
        _needed(known.steps, kept, ()),
        tuple(kept),
        _needed(steps, outputs, kept),
        outputs,
    )


class _Known:
    """The steps that data alone decide, each once, and what is told of their results."""

    def __init__(self, given: Sequence[int]):
        self.steps: list[Step] = []
        self._producers: dict[int, Step] = {}
        self._is_costly = dict.fromkeys(given, False)
        self._is_view = dict.fromkeys(given, True)
        self._is_written = dict.fromkeys(given, False)  # made of numbers in the program alone
        self._same: dict[int, int] = {}
        self._places: dict[Any, tuple[int, ...]] = {}

    def same(self, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
        """Name results that were computed twice by the first place."""
        return tuple(self._same.get(atom, atom) if isinstance(atom, int) else atom for atom in atoms)

    def takes(self, step: Step) -> bool:
        """Add a step and return True, if all of its inputs are known."""
        inputs = self.same(step.inputs)
        places = [atom for atom in inputs if isinstance(atom, int)]
        if not all(place in self._is_costly for place in places):
            return False
        is_plain = step.name in _FUSED
        key = (
            (step.name, *map(_word, inputs), str(sorted(step.eqn.params.items())))
            if is_plain
            else step.outputs
        )
        first = self._places.setdefault(key, step.outputs)
        if first is not step.outputs:
            self._same.update(zip(step.outputs, first, strict=True))
            self._is_costly.update(dict.fromkeys(step.outputs, False))
            return True
        step = replace(step, inputs=inputs)
        self.steps.append(step)
        is_costly = step.name not in _CHEAP or any(self._is_costly[place] for place in places)
        is_view = step.name in _VIEWS and all(self._is_view[place] for place in places)
        for place in step.outputs:
            self._producers[place] = step
            self._is_costly[place], self._is_view[place] = is_costly, is_view
            self._is_written[place] = all(self._is_written[each] for each in places)
        return True

    def worth_keeping(self, users: Sequence[Step], outputs: Sequence[Atom], max_bytes: int) -> list[int]:
        """Choose the results to keep for the steps that use them, in order."""
        arrays = {a for step in users if step.name not in _FUSED for a in step.inputs if isinstance(a, int)}
        waiting = [atom for step in users for atom in step.inputs] + [*outputs]
        kept: set[int] = set()
        seen: set[Atom] = set()
        for atom in waiting:  # which grows
            if not isinstance(atom, int) or atom in seen or atom not in self._producers:
                continue
            seen.add(atom)
            step = self._producers[atom]
            wanted = self._is_costly[atom] or (atom in arrays and not self._is_view[atom])
            if self._is_written[atom] and all(math.prod(aval_of(v).shape) < _FEW for v in step.eqn.outvars):
                # XLA computes it itself, and then aborts the process if a loop in one piece was to be given it.
                wanted = False
            size = sum(_bytes(aval_of(v)) for v in step.eqn.outvars)
            if wanted and not _grows(step) and size <= max_bytes:
                kept.add(atom)
                max_bytes -= size
            else:
                waiting += step.inputs
        return self._without_cheap(kept, arrays)

    def _without_cheap(self, kept: set[int], arrays: set[Any]) -> list[int]:
        """Leave out what cheap operations make of other things that are kept, in order."""
        at_hand = {place for place, is_costly in self._is_costly.items() if not is_costly}
        for step in self.steps:
            is_made = step.name in _CHEAP and all(
                atom in at_hand for atom in step.inputs if isinstance(atom, int)
            )
            if is_made and arrays.isdisjoint(step.outputs):
                kept.difference_update(step.outputs)
            at_hand.update(place for place in step.outputs if is_made or place in kept)
        return sorted(kept)


def _grows(step: Step) -> bool:
    """Return whether a cheap operation makes a large array of a smaller one, which is kept in its place."""
    before = max((math.prod(aval_of(v).shape) for v in step.eqn.invars), default=0)
    after = max(math.prod(aval_of(v).shape) for v in step.eqn.outvars)
    return step.name in _CHEAP and after > max(before, _FEW)


def _needed(steps: Sequence[Step], outputs: Sequence[Atom], given: Sequence[int]) -> tuple[Step, ...]:
    """Return the steps that some numbers need, where others are given."""
    there = set(given)
    needed = {atom for atom in outputs if isinstance(atom, int)} - there
    found: list[Step] = []
    for step in reversed(steps):
        if not needed.isdisjoint(step.outputs):
            found.append(step)
            needed.update(atom for atom in step.inputs if isinstance(atom, int) and atom not in there)
    return tuple(reversed(found))


def _evaluated(steps: Sequence[Step], known: dict[int, Any], outputs: Sequence[Atom]) -> list[Any]:
    def value(atom: Atom) -> Any:
        return known[atom] if isinstance(atom, int) else atom.val

    for step in steps:
        eqn = step.eqn
        with eqn.ctx.manager:
            found = eqn.primitive.bind(*map(value, step.inputs), **eqn.params)
        results = found if eqn.primitive.multiple_results else [found]
        known.update(zip(step.outputs, results, strict=True))
    return [*map(value, outputs)]


def _bytes(aval: Any) -> int:
    return math.prod(aval.shape) * getattr(aval.dtype, "itemsize", 8)


def _word(atom: Atom) -> Any:
    return atom if isinstance(atom, int) else (str(atom.aval), np.asarray(atom.val).tobytes())
