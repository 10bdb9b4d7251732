"""Find where a traced model indexes by integers of the data: by which numbers, which axis, and at which line.

What is compared are the numbers that the user wrote, before JAX turns negative ones into places from the end.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax.core import Tracer
from jax.extend import core

from ...core.versions import parts_of_scan
from ..flat import Atom, Flat, Frame, Step, aval_of, flatten
from ..lines import calls_of
from .axes import Axes
from .carried import carried_by
from .nodes import Counter, Given, Held, Node, Turn, Unknown
from .results import called, followed, hidden, outputs, results
from .uses import Condition, Use, of_step

# What users call to index, and to transform functions that do.
_INDEXES = re.compile(
    r"$|.*getitem|_forward_|_?take$|take_along_axis|_?IndexUpdateRef|gather|scatter|dynamic_|segment_|_scatter|"
    r"index_|vmap|_?map$|scan$|fori_loop|while_loop|cond$|switch|jit"
)
_KEPT = (  # operations with an entry for each entry, so that the axes of a result are those of an argument
    "add", "sub", "mul", "div", "neg", "exp", "log", "tanh", "logistic", "integer_pow", "pow", "sqrt", "max", "min",
    "select_n", "convert_element_type", "copy", "copy_p", "sign", "abs", "square", "log1p", "expm1", "pvary",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Asked:
    """The model to look through: its trace, the names of its data, its sites.

    **Fields**
    - `flat`: its inputs are a number that stands for all unknowns, and the data in the order of `names`; its first
      outputs are the values of sites, whose axes are `axes`.
    - `own_file`: of the model's code.
    - `constants`: integer arguments whose values the trace holds. `closed_over`: finds others that it may hold.
    """

    flat: Flat
    names: Sequence[str]
    axes: Sequence[Axes]
    own_file: str
    constants: Mapping[str, np.ndarray]
    closed_over: Callable[[], Mapping[str, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Uses:
    """The places where a model indexes by data. A copy in another process holds none: its data have been judged.

    **Fields**: `is_known`: whether `all` holds them, as in every instance that has not travelled.
    """

    all: tuple[Use, ...] = ()
    is_known: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return Uses, ((), False)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Uses":
        return self  # a copy in this process may be given other data, which are to be judged


def find(asked: Asked) -> Uses:
    """Look through the traced model, with its loops and branches, in the order of its statements."""
    finder = _Finder(asked)
    flat = asked.flat
    for place, axes in zip(flat.outputs, asked.axes, strict=False):
        if not isinstance(place, core.Literal):
            finder.labels.setdefault(place, axes)
    inputs = [Unknown(is_latent=True), *(Given(name) for name in asked.names)]
    finder.walk(flat, inputs, [None, *(Axes(name, (), is_data=True) for name in asked.names)], (), ())
    return Uses(tuple(finder.uses))


class _Finder:
    """Walk through a program and collect what indexes."""

    def __init__(self, asked: Asked) -> None:
        self.uses: list[Use] = []
        self.labels: dict[int, Axes] = {}
        self._whole = asked.flat
        self._own_file = asked.own_file
        self._constants = asked.constants
        self._closed_over = asked.closed_over
        self._outside: Mapping[str, np.ndarray] | None = None
        self._num_loops = 0
        self._over_all_rows: set[int] = set()  # loops that stand for turns whose number is not known

    def walk(
        self,
        flat: Flat,
        inputs: Sequence[Node],
        axes: Sequence[Axes | None],
        around: tuple[Frame, ...],
        conditions: tuple[Condition, ...],
    ) -> list[Node]:
        """Go through one program with nodes for its inputs; return the nodes of its results."""
        known: dict[int, Node] = {place: self._held(value) for place, value in flat.constants.items()}
        known.update(zip(flat.inputs, inputs, strict=True))
        of: dict[int, Axes] = {p: each for p, each in zip(flat.inputs, axes, strict=True) if each is not None}

        def node(atom: Atom) -> Node:
            return Held(atom.val) if isinstance(atom, core.Literal) else known[atom]

        for step in flat.steps:
            given = self._all_rows(step, tuple(node(atom) for atom in step.inputs))
            named = [None if isinstance(atom, core.Literal) else of.get(atom) for atom in step.inputs]
            found = [
                replace(use, conditions=self._that_count(use))
                for use in of_step(step, given, named, conditions, self._resolved)
            ]
            if found and self._is_users(step):
                self.uses += found
            self._look_inside(step, given, named, conditions)
            for number, place in enumerate(step.outputs):
                label = self.labels.get(place) if flat is self._whole else None
                label = label or _kept_axes(step, named, number)
                if label is not None:
                    of[place] = label
            known.update(zip(step.outputs, results(step, given), strict=True))
        return [node(atom) for atom in flat.outputs]

    def _all_rows(self, step: Step, given: tuple[Node, ...]) -> tuple[Node, ...]:
        """Replace a row of data whose number only the program knows by all rows.

        So a loop of unknown length and a device go through rows. A number that comes from a site is left as it is.
        """
        if step.name != "dynamic_slice" or isinstance(given[0], Unknown) or not given[0].names:
            return given
        shape, lengths = aval_of(step.eqn.invars[0]).shape, step.eqn.params["slice_sizes"]
        found = [*given]
        for axis, start in enumerate(given[1:]):
            if isinstance(start, Unknown) and not start.is_latent:
                self._num_loops += 1
                self._over_all_rows.add(self._num_loops)
                length = max(lengths[axis], 1)
                count = -(-shape[axis] // length)
                found[1 + axis] = Counter(Held(np.int64(0)), self._num_loops, count, stride=length)
        return tuple(found)

    def _look_inside(
        self,
        step: Step,
        given: Sequence[Node],
        axes: Sequence[Axes | None],
        conditions: tuple[Condition, ...],
    ) -> None:
        """Go through the body of a loop, the sides of a branch, or a function that an operation calls."""
        params, frames = step.eqn.params, step.frames
        if step.name == "scan":
            num_consts, num_carry = parts_of_scan(params)
            body = flatten(params["jaxpr"], frames, is_bounded=False)
            inner = self._turns(step, body, given, num_consts, num_carry)
            self.walk(body, inner, _first(axes, num_consts, len(inner)), frames, conditions)
        elif step.name == "while":
            num_tests, num_consts = params["cond_nconsts"], params["body_nconsts"]
            carry = [hidden(node) for node in outputs(step, given)]
            test = flatten(params["cond_jaxpr"], frames, is_bounded=False)
            tests, consts = given[:num_tests], given[num_tests : num_tests + num_consts]
            labels = _first(axes, num_tests, len(tests) + len(carry))
            (goes_on,) = self.walk(test, [*tests, *carry], labels, frames, conditions)
            (begins,) = followed(test, [*tests, *given[num_tests + num_consts :]])
            inside = (*conditions, Condition(begins, 1, 2))
            if goes_on.names:  # of a test of numbers that the code has, all rows are taken to be gone through
                inside += (Condition(goes_on, 1, 2, is_of_rows=True),)
            body = flatten(params["body_jaxpr"], frames, is_bounded=False)
            labels = _first(axes[num_tests:], num_consts, len(consts) + len(carry))
            self.walk(body, [*consts, *carry], labels, frames, inside)
        elif step.name == "cond":
            which, *operands = given
            for number, branch in enumerate(params["branches"]):
                inside = (*conditions, Condition(which, number, len(params["branches"])))
                self.walk(flatten(branch, frames, is_bounded=False), operands, axes[1:], frames, inside)
        else:
            inner = called(step)
            if inner is not None:
                self.walk(flatten(inner, frames, is_bounded=False), given, axes, frames, conditions)

    def _turns(
        self, step: Step, body: Flat, given: Sequence[Node], num_consts: int, num_carry: int
    ) -> list[Node]:
        """List what the body of a scan is given: constants, what is carried, and rows."""
        self._num_loops += 1
        loop, params = self._num_loops, step.eqn.params
        end = num_consts + num_carry
        carried: list[Node] = []
        for number, after in enumerate(outputs(step, given)[:num_carry]):
            start = given[num_consts + number]
            is_counter = not isinstance(start, Unknown) and _adds_one(
                body, body.inputs[num_consts + number], number
            )
            if is_counter and not isinstance(start, Unknown):
                carried.append(Counter(start, loop, params["length"], params["reverse"]))
            else:
                carried.append(carried_by(step, body, given, number, loop) or hidden(after))
        rows = [node if isinstance(node, Unknown) else Turn(node, loop) for node in given[end:]]
        return [*given[:num_consts], *carried, *rows]

    def _that_count(self, use: Use) -> tuple[Condition, ...]:
        """Leave out what is said of the turns of a loop by which an index does not change."""
        has_rows = not isinstance(use.index, Unknown) and not self._over_all_rows.isdisjoint(use.index.loops)
        return tuple(each for each in use.conditions if has_rows or not each.is_of_rows)

    def _is_users(self, step: Step) -> bool:
        """Return whether the user indexes there, and not a function of a library, which may rely on JAX's rule."""
        return all(_INDEXES.match(name) for name in calls_of(step, self._own_file))

    def _held(self, value: Any) -> Node:
        """Make a node of an array of the trace, with the name of the variable that held it before the model ran."""
        if isinstance(value, Tracer):  # of a transformation around the model: as little known as an unknown
            return Unknown(is_latent=True)
        shape, dtype = np.shape(value), getattr(value, "dtype", None)
        if (
            not shape
            or np.dtype("O" if dtype is None or not isinstance(dtype, np.dtype) else dtype).kind not in "iu"
        ):
            return Held(value)
        return self._resolved(Held(value), None)

    def _resolved(self, node: Held, size: int | None) -> Held:
        """Find the outside array that a traced one equals, as it is or with negative numbers counted from the end."""
        numbers = np.asarray(node.value).ravel()
        for name, array in self._arrays().items():
            if array.size == numbers.size and numbers.size:
                flat = array.ravel()
                if np.array_equal(flat, numbers):
                    return Held(node.value, name)
                if size is not None and np.array_equal(np.where(flat < 0, flat + size, flat), numbers):
                    return Held(array, name)
        return node

    def _arrays(self) -> Mapping[str, np.ndarray]:
        if self._outside is None:
            self._outside = {**self._constants, **self._closed_over()}
        return self._outside


def _adds_one(body: Flat, place: int, number: int) -> bool:
    """Return whether a loop carries a number on by adding one to it."""
    after = body.outputs[number]
    if isinstance(after, core.Literal) or after not in body.producers:
        return False
    step = body.steps[body.producers[after]]
    ones = [
        atom
        for atom in step.inputs
        if isinstance(atom, core.Literal) and np.ndim(atom.val) == 0 and atom.val == 1
    ]
    return (
        step.name == "add"
        and place in [a for a in step.inputs if not isinstance(a, core.Literal)]
        and len(ones) == 1
    )


def _first(axes: Sequence[Axes | None], count: int, length: int) -> list[Axes | None]:
    return [*axes[:count], *[None] * (length - count)]


def _kept_axes(step: Step, named: Sequence[Axes | None], number: int) -> Axes | None:
    """Return the axes of a result that has an entry for each entry of an argument."""
    if step.name not in _KEPT:
        return None
    shape = aval_of(step.eqn.outvars[number]).shape
    pairs = zip(step.eqn.invars, named, strict=True)
    found = [axes for variable, axes in pairs if axes is not None and aval_of(variable).shape == shape]
    return next((axes for axes in found if not axes.is_data), None)
