"""Write a jaxpr as a flat list of steps, with the functions that it calls in their place.

Loops and branches stay one step each: they are looked into when they are found to be where it begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jax.extend import core

MAX_STEPS = 20_000
"""The most steps of a program that is compiled to record them: more would take a minute."""

# Operations that only call a function, with the name under which they hold it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}

Atom = int | core.Literal
"""A number's place among those of a flat program, or a constant that is written in it."""


class TooLongError(Exception):
    """A program has more than `MAX_STEPS` steps."""


@dataclass(frozen=True)
class Frame:
    """An operation, and the function in which it stands."""

    eqn: core.JaxprEqn
    debug_info: core.DebugInfo


@dataclass(frozen=True)
class Step:
    """Hold one operation of a flat program; `frames` are the calls around it, outermost first, and itself."""

    inputs: tuple[Atom, ...]
    outputs: tuple[int, ...]
    frames: tuple[Frame, ...]

    @property
    def eqn(self) -> core.JaxprEqn:
        """The operation itself."""
        return self.frames[-1].eqn

    @property
    def name(self) -> str:
        """JAX's name of the operation."""
        return self.eqn.primitive.name

    @property
    def tracebacks(self) -> tuple[Any, ...]:
        """The lines of the calls around it and of itself; those of its derivatives are written there too."""
        return tuple(frame.eqn.source_info.traceback for frame in self.frames)

    @property
    def is_transposed(self) -> bool:
        """Return whether it carries derivatives back, rather than values forward."""
        return any("transpose" in str(frame.eqn.source_info.name_stack) for frame in self.frames)


def aval_of(variable: Any) -> Any:
    """Return shape and dtype of an input or result of an operation."""
    return variable.aval


@dataclass(frozen=True)
class Flat:
    """Steps in the order of evaluation, over numbers that are named by their places.

    **Fields**
    - `inputs`, `outputs`: places; `constants`: by place, arrays that the program holds.
    - `producers`: by place, the number of the step that makes it.
    """

    inputs: tuple[int, ...]
    outputs: tuple[Atom, ...]
    constants: Mapping[int, Any]
    steps: tuple[Step, ...]
    producers: Mapping[int, int]


def flatten(closed: core.ClosedJaxpr, around: tuple[Frame, ...] = (), *, is_bounded: bool = True) -> Flat:
    """Write a jaxpr as a flat program, with the calls and loops that are `around` it.

    **Raises** `TooLongError` for one of more than `MAX_STEPS`, if `is_bounded`.
    """
    builder = _Builder([], {}, 0, MAX_STEPS if is_bounded else None)
    inputs = [builder.place() for _ in closed.jaxpr.invars]
    outputs = builder.call(closed, inputs, around)
    producers = {place: number for number, step in enumerate(builder.steps) for place in step.outputs}
    return Flat(tuple(inputs), tuple(outputs), builder.constants, tuple(builder.steps), producers)


def sliced(flat: Flat, outputs: Sequence[Atom]) -> Flat:
    """Keep the steps and constants of a flat program that some of its numbers need, and make these its outputs."""
    needed = {atom for atom in outputs if isinstance(atom, int)}
    kept: list[Step] = []
    for step in reversed(flat.steps):
        if not needed.isdisjoint(step.outputs):
            needed.update(atom for atom in step.inputs if isinstance(atom, int))
            kept.append(step)
    kept.reverse()
    constants = {place: value for place, value in flat.constants.items() if place in needed}
    producers = {place: number for number, step in enumerate(kept) for place in step.outputs}
    return Flat(flat.inputs, tuple(outputs), constants, tuple(kept), producers)


@dataclass
class _Builder:
    steps: list[Step]
    constants: dict[int, Any]
    count: int
    max_steps: int | None

    def place(self) -> int:
        self.count += 1
        return self.count

    def call(self, closed: core.ClosedJaxpr, inputs: Sequence[Atom], around: tuple[Frame, ...]) -> list[Atom]:
        jaxpr = closed.jaxpr
        places: dict[core.Var, Atom] = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, value in zip(jaxpr.constvars, closed.consts, strict=True):
            places[variable] = self.place()
            self.constants[self.count] = value

        def atom(variable: Any) -> Atom:
            return variable if isinstance(variable, core.Literal) else places[variable]

        for eqn in jaxpr.eqns:
            frames = (*around, Frame(eqn, jaxpr.debug_info))
            given = [atom(variable) for variable in eqn.invars]
            called = eqn.params.get(CALLS.get(eqn.primitive.name, ""))
            if called is not None:
                inner = called if isinstance(called, core.ClosedJaxpr) else core.ClosedJaxpr(called, ())
                places.update(zip(eqn.outvars, self.call(inner, given, frames), strict=True))
                continue
            outputs = tuple(self.place() for _ in eqn.outvars)
            places.update(zip(eqn.outvars, outputs, strict=True))
            self.steps.append(Step(tuple(given), outputs, frames))
            if self.max_steps is not None and len(self.steps) > self.max_steps:
                raise TooLongError
        return [atom(variable) for variable in jaxpr.outvars]
