"""Follow numbers that are not finite back through the steps of a flat program."""

from collections.abc import Sequence

from jax.extend import core

from ..flat import Flat
from .record import Record

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
