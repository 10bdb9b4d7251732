"""Tell which arguments the results of a traced function may depend on, without computing anything."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.extend.core import Literal

from ...core.versions import parts_of_scan

_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat2": "jaxpr",  # jax.checkpoint
    "closed_call": "call_jaxpr",
}
"""Operations that call a function with just their own arguments, and which of their parameters it is.

Not among them are those with rules for derivatives: a gradient may depend on what the function itself does not.
"""

Sources = set[int]
"""Numbers of arguments."""


def arguments_seen(
    terms: Callable[[Any, Any], Mapping[str, jax.Array]],
    shapes: Any,
    data: Mapping[str, jax.ShapeDtypeStruct],
) -> dict[str, list[str]]:
    """Name the data that each of `terms(of shapes, data)` may depend on, sorted."""
    names: list[str] = []

    def listed_terms(pieces: Any, data: Any) -> list[jax.Array]:
        found = terms(pieces, data)
        names[:] = found
        return list(found.values())

    traced = jax.make_jaxpr(listed_terms)(shapes, data)
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path((shapes, data))[0]]
    found = sources(traced.jaxpr, [{number} for number in range(len(paths))])
    return {
        name: sorted(paths[i][1].key for i in seen if paths[i][0].idx == 1)
        for name, seen in zip(names, found, strict=True)
    }


def sources(jaxpr: Any, given: Sequence[Sources]) -> list[Sources]:
    """Find what each result of a traced function may depend on, where its arguments depend on `given`."""
    if any(hasattr(v.aval, "inner_aval") for equation in jaxpr.eqns for v in equation.invars):
        # What is written to a mutable array is seen by whatever reads it.
        return [set().union(*given)] * len(jaxpr.outvars)
    known: dict[Any, Sources] = dict(zip(jaxpr.invars, given, strict=True))

    def of(variable: Any) -> Sources:
        return set() if isinstance(variable, Literal) else known.get(variable, set())

    for equation in jaxpr.eqns:
        known.update(zip(equation.outvars, through(equation, [*map(of, equation.invars)]), strict=True))
    return [of(variable) for variable in jaxpr.outvars]


def through(equation: Any, given: list[Sources]) -> list[Sources]:
    """Find what each result of one operation may depend on: all of its arguments, unless more is known of it."""
    if equation.primitive.name == "scan":
        return _through_scan(equation, given)
    if equation.primitive.name == "while":
        return _through_while(equation, given)
    if equation.primitive.name == "cond":
        which, *operands = given
        branches = [sources(branch.jaxpr, operands) for branch in equation.params["branches"]]
        return [which.union(*each) for each in zip(*branches, strict=True)]
    called = equation.params.get(_CALLS.get(equation.primitive.name, ""))
    inner = getattr(called, "jaxpr", called)
    if inner is not None and len(inner.invars) == len(given):
        return sources(inner, given)
    return [set().union(*given)] * len(equation.outvars)


def _through_scan(equation: Any, given: list[Sources]) -> list[Sources]:
    num_consts, num_carry = parts_of_scan(equation.params)
    consts, xs = given[:num_consts], given[num_consts + num_carry :]
    carry = given[num_consts : num_consts + num_carry]
    while True:  # what is carried sees more from step to step, until it has seen all that it will
        found = sources(equation.params["jaxpr"].jaxpr, [*consts, *carry, *xs])
        more = [before | after for before, after in zip(carry, found[:num_carry], strict=True)]
        if more == carry:
            return [*carry, *found[num_carry:]]
        carry = more


def _through_while(equation: Any, given: list[Sources]) -> list[Sources]:
    num_tests, num_consts = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    tests, consts = given[:num_tests], given[num_tests : num_tests + num_consts]
    carry = given[num_tests + num_consts :]
    while True:  # how often the loop turns is seen by all that it carries
        goes_on = sources(equation.params["cond_jaxpr"].jaxpr, [*tests, *carry])[0]
        found = sources(equation.params["body_jaxpr"].jaxpr, [*consts, *carry])
        more = [before | after | goes_on for before, after in zip(carry, found, strict=True)]
        if more == carry:
            return carry
        carry = more
