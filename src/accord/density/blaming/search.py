"""Search the program of a model's terms and their derivatives for the first number that is not finite.

Each term is differentiated alone, and a group of them together where there are many. One vector-Jacobian product for
each row would not do: where a derivative is infinite, zero times it is NaN, and all rows would look bad.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.extend import core

from ..flat import MAX_STEPS, TooLongError
from ..quick import quickly
from .operation import CONSTANT, operation_of, written_names
from .origin import origin_of
from .result import OWN, Operation
from .whole import Whole

_AT_ONCE = 8  # groups of terms, each with a gradient of its own in one program

Found = tuple[Operation | None, tuple[str, ...]]
"""An operation, and remarks on what was cut off."""

Written = Mapping[str, tuple[str, str]]
"""The line of each site, and the name of its distribution."""


@dataclass(frozen=True)
class Search:
    """The terms of a model, traced once, at one position.

    **Fields**
    - `closed`: from `arguments` to the terms of the sites `sites`. `names`: of the arguments.
    """

    closed: core.ClosedJaxpr
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    sites: tuple[str, ...]

    @staticmethod
    def of(whole: Whole, position: np.ndarray) -> "Search":
        """Trace the terms of a whole model."""
        sites: list[str] = []

        def terms(position: Any, data: Any) -> list[Any]:
            numbers = whole.program.terms(whole.at(position), data)
            sites.extend(numbers)
            return list(numbers.values())

        closed = jax.make_jaxpr(terms)(position, whole.data)
        leaves, _ = jax.tree.flatten_with_path(whole.data)
        names = ["the position", *(str(path[0].key) for path, _ in leaves)]
        return Search(closed, (position, *(leaf for _, leaf in leaves)), tuple(names), tuple(sites))

    def of_term(self, site: str, written: Written) -> Found:
        """Find where the term of a site stops being finite."""
        return self._found(self._only(site), site, written, {})

    def bad_rows(self) -> dict[str, np.ndarray]:
        """Return, by site, the derivative of its term by the position, where that is not finite."""
        rows = _bad_rows(self.closed, self.arguments)
        return {self.sites[number]: row for number, row in rows.items()}

    def of_derivative(self, site: str, written: Written) -> Found:
        """Find where the derivative of a site's term stops being finite."""
        program = self._only(site)
        gradient = jax.make_jaxpr(jax.grad(lambda *given: core.jaxpr_as_fun(program)(*given)[0]))
        return self._found(gradient(*self.arguments), site, written, written_names(program))

    def _only(self, site: str) -> core.ClosedJaxpr:
        return _only(self.closed, [self.sites.index(site)])

    def _found(self, closed: core.ClosedJaxpr, site: str, written: Written, names: dict[Any, str]) -> Found:
        try:
            origin = origin_of(closed, self.arguments, [0], names)
        except TooLongError:
            return None, (
                f"The model has more than {MAX_STEPS} operations: they were not looked at one by one.",
            )
        except Exception as error:
            # JAX does not promise that an operation can be done outside of its program, and this is an explanation of
            # a failure: it must not become another one.
            return None, (
                f"Operations could not be looked at one by one: {type(error).__name__}: {error}"[:200],
            )
        if origin is None:
            return None, ()
        operation = operation_of(origin, self.names, names)
        if operation is not None and not operation.where:
            operation = _of_site(operation, site, written)
        return operation, (origin.remark,) if origin.remark else ()


def _of_site(operation: Operation, site: str, written: Written) -> Operation | None:
    """Describe an operation that accord does for a site, at the line of the site.

    That a value is outside of the support, or on its edge, accord says by a constant, which a user need not see.
    """
    if operation.primitive == CONSTANT:
        return None
    where, distribution = written.get(site, ("", ""))
    return replace(operation, where=where, owner=f"{OWN} {distribution}" if distribution else operation.owner)


def _bad_rows(closed: core.ClosedJaxpr, arguments: Sequence[Any]) -> dict[int, np.ndarray]:
    """Return the derivatives by the first argument that are not finite, by the number of the result."""
    found: dict[int, np.ndarray] = {}
    groups = _parts(range(len(closed.jaxpr.outvars)))
    while groups:
        now, groups = groups[:_AT_ONCE], groups[_AT_ONCE:]
        run = quickly(_gradients([_only(closed, group) for group in now]))
        for group, gradient in zip(now, map(np.asarray, run(*arguments)), strict=True):
            if np.all(np.isfinite(gradient)):
                continue
            if len(group) == 1:
                found[group[0]] = gradient
            else:
                groups += _parts(group)
    return dict(sorted(found.items()))


def _only(closed: core.ClosedJaxpr, outputs: Sequence[int]) -> core.ClosedJaxpr:
    """Keep the program of some results, without what only the others need."""
    jaxpr = closed.jaxpr
    results = [jaxpr.outvars[number] for number in outputs]
    needed = {each for each in results if not isinstance(each, core.Literal)}
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        if needed.isdisjoint(eqn.outvars) and not eqn.effects:
            continue
        eqns.append(eqn)
        needed.update(each for each in eqn.invars if not isinstance(each, core.Literal))
    shorter = core.Jaxpr(jaxpr.constvars, jaxpr.invars, results, eqns[::-1], jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(shorter, closed.consts)


def _parts(numbers: Sequence[int]) -> list[list[int]]:
    parts = np.array_split(np.asarray(numbers), min(len(numbers), _AT_ONCE))
    return [[int(number) for number in part] for part in parts]


def _gradients(programs: Sequence[core.ClosedJaxpr]) -> Callable[..., list[Any]]:
    """Build a function that takes the gradient of the sum of each program's results."""

    def total(position: Any, program: core.ClosedJaxpr, rest: Sequence[Any]) -> Any:
        first, *others = core.jaxpr_as_fun(program)(position, *rest)
        return sum(others, start=first)

    return lambda position, *rest: [jax.grad(total)(position, program, rest) for program in programs]
