"""Leave out of a traced function what no result needs, also of what its loops carry and its branches return.

XLA does so too, but only after it has settled which arguments a piece of machine code takes (see `programs.loop`), and
aborts the process over one that is then unused.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, DebugInfo, Jaxpr
from jax.extend.core import Literal as Constant


def variables(atoms: Iterable[Any]) -> set[Any]:
    """Return the variables among atoms, without the constants."""
    return {atom for atom in atoms if not isinstance(atom, Constant)}


def alive(jaxpr: Jaxpr) -> list[Any]:
    """Return the equations that results need, in order, each with no more than they need of it.

    A call counts as needing all its arguments.
    """
    return _without_dead(jaxpr, [True] * len(jaxpr.outvars))[0].eqns


def _without_dead(jaxpr: Jaxpr, is_wanted: Sequence[bool]) -> tuple[Jaxpr, list[bool]]:
    """Return the function with the wanted results alone, which takes all its arguments, and whether it needs each."""
    results = _chosen(jaxpr.outvars, is_wanted)
    wanted, kept = variables(results), []
    for equation in reversed(jaxpr.eqns):
        is_used = [variable in wanted for variable in equation.outvars]
        if equation.effects or any(is_used):
            smaller = _SMALLER.get(equation.primitive.name)
            kept.append(equation if smaller is None else smaller(equation, is_used))
            wanted |= variables(kept[-1].invars)
    return _made(jaxpr, jaxpr.invars, results, kept[::-1]), [variable in wanted for variable in jaxpr.invars]


def _smaller_while(equation: Any, is_used: list[bool]) -> Any:
    """Leave out what a `while` carries for itself alone."""
    condition, body = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    num_condition, num_body = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    condition_part, in_condition = _without_dead(condition.jaxpr, [True])
    is_carried = _either(is_used, in_condition[num_condition:])
    is_carried, body_part, in_body = _carried(body.jaxpr, num_body, is_carried, [])
    keeps_condition = [*in_condition[:num_condition], *is_carried]
    keeps_body = [*in_body[:num_body], *is_carried]
    keeps = [*in_condition[:num_condition], *keeps_body]
    return equation.replace(
        invars=_chosen(equation.invars, keeps),
        outvars=_chosen(equation.outvars, is_carried),
        params=equation.params
        | {
            "cond_jaxpr": _closed(condition_part, keeps_condition, condition),
            "body_jaxpr": _closed(body_part, keeps_body, body),
            "cond_nconsts": sum(in_condition[:num_condition]),
            "body_nconsts": sum(in_body[:num_body]),
        },
    )


def _smaller_scan(equation: Any, is_used: list[bool]) -> Any:
    """Leave out what a `scan` carries for itself alone, and the outputs of its steps that nobody uses."""
    body, params = equation.params["jaxpr"], equation.params
    num_constants, num_carried = params["num_consts"], params["num_carry"]
    is_carried, part, in_body = _carried(
        body.jaxpr, num_constants, is_used[:num_carried], is_used[num_carried:]
    )
    keeps = [*in_body[:num_constants], *is_carried, *in_body[num_constants + num_carried :]]
    return equation.replace(
        invars=_chosen(equation.invars, keeps),
        outvars=_chosen(equation.outvars, [*is_carried, *is_used[num_carried:]]),
        params=params
        | {
            "jaxpr": _closed(part, keeps, body),
            "num_consts": sum(in_body[:num_constants]),
            "num_carry": sum(is_carried),
        },
    )


def _carried(
    body: Jaxpr, num_constants: int, is_carried: list[bool], is_output: list[bool]
) -> tuple[list[bool], Jaxpr, list[bool]]:
    """Find what a loop must carry for what is used of it; return that, its body, and what this needs."""
    while True:
        part, in_body = _without_dead(body, [*is_carried, *is_output])
        grown = _either(is_carried, in_body[num_constants : num_constants + len(is_carried)])
        if grown == is_carried:
            return is_carried, part, in_body
        is_carried = grown


def _smaller_cond(equation: Any, is_used: list[bool]) -> Any:
    """Leave out results of branches that nobody uses."""
    branches = equation.params["branches"]
    parts, in_each = zip(*(_without_dead(each.jaxpr, is_used) for each in branches), strict=True)
    keeps = [any(of_one) for of_one in zip(*in_each, strict=True)]
    closed = tuple(_closed(part, keeps, each) for part, each in zip(parts, branches, strict=True))
    return equation.replace(
        invars=_chosen(equation.invars, [True, *keeps]),
        outvars=_chosen(equation.outvars, is_used),
        params=equation.params | {"branches": closed},
    )


_SMALLER: dict[str, Callable[[Any, list[bool]], Any]] = {
    "while": _smaller_while,
    "scan": _smaller_scan,
    "cond": _smaller_cond,
}


def _closed(part: Jaxpr, keeps: Sequence[bool], whole: ClosedJaxpr) -> ClosedJaxpr:
    return ClosedJaxpr(_made(part, _chosen(part.invars, keeps), part.outvars, part.eqns), whole.consts)


def _made(whole: Jaxpr, arguments: Sequence[Any], results: Sequence[Any], equations: Sequence[Any]) -> Jaxpr:
    """Make a function of parts of another one. Names of what is left out would not fit."""
    effects = set().union(*(equation.effects for equation in equations))
    names = DebugInfo("alive", "", ("",) * len(arguments), ("",) * len(results))
    return Jaxpr(whole.constvars, arguments, results, equations, effects, names)


def _chosen(values: Sequence[Any], is_chosen: Sequence[bool]) -> list[Any]:
    return [value for value, is_one in zip(values, is_chosen, strict=True) if is_one]


def _either(one: Sequence[bool], other: Sequence[bool]) -> list[bool]:
    return [a or b for a, b in zip(one, other, strict=True)]
