"""Follow numbers that are not finite back through the steps of a flat program.

Also find a `where` on the way that leaves out what is not finite, so that a derivative multiplies it by zero.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from jax.extend import core

from ..flat import Flat
from .record import Record, fetch

_WITH_INSIDE = ("cond", "scan", "while")


def way_back(flat: Flat, seen: Record, bad: Sequence[int]) -> tuple[set[int], list[int]]:
    """List the steps through which numbers that are not finite come, and the arguments and constants they begin at."""
    way: set[int] = set()
    given: list[int] = []
    front = list(bad)
    while front:
        place = front.pop()
        number = flat.producers.get(place)
        if number is None:
            given.append(place)
        elif number not in way:
            way.add(number)
            front += origins_of(flat, seen, number)
    return way, given


def origins_of(flat: Flat, seen: Record, number: int) -> list[int]:
    """List the inputs that make a step's outputs not finite, without constants of the code."""
    step = flat.steps[number]
    bad = [
        atom
        for atom, does_reach in zip(step.inputs, seen.reach[number], strict=True)
        if does_reach and not isinstance(atom, core.Literal)
    ]
    if seen.nan.isdisjoint(step.outputs):
        return bad
    with_nan = [atom for atom in bad if atom in seen.nan]
    # What goes on in a loop or branch is looked at before what it was given.
    return with_nan if with_nan or step.name in _WITH_INSIDE else bad


def meets_a_discarded_zero(
    flat: Flat, arguments: Sequence[Any], seen: Record, way: Collection[int], root: int
) -> bool:
    """Return whether a product on the way has a zero that a `where` chose in place of a derivative."""
    met: list[tuple[int, int]] = []
    for number in sorted(each for each in way if each >= root):
        step = flat.steps[number]
        if step.name not in ("mul", "div"):
            continue
        bad = set(origins_of(flat, seen, number))
        zeros = [atom for atom in step.inputs if not isinstance(atom, core.Literal) and atom in seen.zero]
        chosen = [atom for atom in zeros if (number == root or atom not in bad)]
        met += [(atom, step.outputs[0]) for atom in chosen if _is_chosen_zero(flat, seen, atom)]
    values = fetch(flat, arguments, {place for pair in met for place in pair}) if met else {}
    # Of an array, some entries may be left out and others not: it must be the same ones.
    return any(np.any((values[zero] == 0) & ~np.isfinite(values[product])) for zero, product in met)


def _is_chosen_zero(flat: Flat, seen: Record, place: int) -> bool:
    """Return whether a zero goes back, through products and sums, to a `where` that chose it."""
    front, known = [place], set[int]()
    while front:
        number = flat.producers.get(front.pop())
        if number is None or number in known:
            continue
        known.add(number)
        step = flat.steps[number]
        if step.name == "select_n":
            return True
        if step.is_transposed:
            front += [
                atom for atom in step.inputs if not isinstance(atom, core.Literal) and atom in seen.zero
            ]
    return False
