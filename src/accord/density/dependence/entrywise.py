"""Tell whether the results of a traced function depend on an argument entry by entry along one of its axes.

Only what is known of an operation counts: all others, loops among them, are taken to mix entries.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from jax.extend.core import Literal

Axis = int | None
"""The axis of an array whose entries depend on the same entries of the argument alone; None of one that depends on none
of them, and `MIXED` of any other."""

MIXED = -1

# fmt: off
_BY_ENTRY = frozenset({
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "cbrt", "ceil", "clamp", "convert_element_type", "copy", "copy_p", "cos", "cosh", "digamma", "div",
    "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "igamma", "igammac", "integer_pow",
    "is_finite", "le", "lgamma", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not",
    "or", "polygamma", "population_count", "pow", "reduce_precision", "regularized_incomplete_beta", "rem", "round",
    "rsqrt", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt",
    "square", "stop_gradient", "sub", "tan", "tanh", "xor", "zeta",
})
_CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")  # parameters of operations that call a function with their arguments
_CALLERS = frozenset({
    "jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call",
    "custom_vjp_call_jaxpr",
})
# fmt: on


def axes_seen(jaxpr: Any, given: Sequence[Axis]) -> list[Axis]:
    """Find the axis of each result of a traced function whose arguments have these."""
    known: dict[Any, Axis] = dict(zip(jaxpr.invars, given, strict=True))

    def of(variable: Any) -> Axis:
        return None if isinstance(variable, Literal) else known.get(variable)

    for equation in jaxpr.eqns:
        seen = [*map(of, equation.invars)]
        known.update(zip(equation.outvars, through_one(equation, seen), strict=True))
    return [of(variable) for variable in jaxpr.outvars]


def called_by(equation: Any) -> Any:
    """Return the traced function that an operation calls with its own arguments, or None."""
    if equation.primitive.name not in _CALLERS:
        return None
    called = next(equation.params[key] for key in _CALLS if key in equation.params)
    inner = getattr(called, "jaxpr", called)
    return inner if len(inner.invars) == len(equation.invars) else None


def through_one(equation: Any, seen: list[Axis]) -> list[Axis]:
    """Find the axis of each result of one operation whose arguments have these."""
    if all(axis is None for axis in seen):
        return [None] * len(equation.outvars)
    name, inner = equation.primitive.name, called_by(equation)
    if inner is not None:
        return axes_seen(inner, seen)
    rule = _RULES.get(name, _together if name in _BY_ENTRY else None)
    found = MIXED if rule is None or MIXED in seen else rule(equation, seen)
    return [found] * len(equation.outvars)


def _together(equation: Any, seen: list[Axis]) -> Axis:
    del equation
    axes = {axis for axis in seen if axis is not None}
    return axes.pop() if len(axes) == 1 else MIXED


def _shape(equation: Any) -> tuple[int, ...]:
    return tuple(equation.invars[0].aval.shape)


def _first(rule: Callable[[Any, int], int]) -> Callable[[Any, list[Axis]], Axis]:
    """Make a rule of one for an operation whose first argument alone may depend on the entries."""

    def ruled(equation: Any, seen: list[Axis]) -> Axis:
        first, *others = seen
        return MIXED if first is None or any(each is not None for each in others) else rule(equation, first)

    return ruled


def _without(axes: str) -> Callable[[Any, int], int]:
    """Make the rule of an operation that takes some axes away."""

    def rule(equation: Any, axis: int) -> int:
        taken = equation.params[axes]
        return MIXED if axis in taken else axis - sum(each < axis for each in taken)

    return rule


def _beside(of: Callable[[Any], Any]) -> Callable[[Any, int], int]:
    """Make the rule of an operation that mixes entries along some axes and keeps all."""
    return lambda equation, axis: MIXED if axis in of(equation) else axis


def _broadcast(equation: Any, axis: int) -> int:
    found = equation.params["broadcast_dimensions"][axis]
    return found if equation.outvars[0].aval.shape[found] == _shape(equation)[axis] else MIXED


def _reshape(equation: Any, axis: int) -> int:
    if equation.params.get("dimensions") is not None:
        return MIXED
    old, new = _shape(equation), equation.outvars[0].aval.shape
    ahead = prod(old[:axis])
    return next((b for b in range(len(new)) if prod(new[:b]) == ahead and new[b] == old[axis]), MIXED)


def _slice(equation: Any, axis: int) -> int:
    is_all = equation.outvars[0].aval.shape[axis] == _shape(equation)[axis]
    return axis if is_all else MIXED


def _pad(equation: Any, axis: int) -> int:
    return axis if tuple(equation.params["padding_config"][axis]) == (0, 0, 0) else MIXED


def _concatenate(equation: Any, seen: list[Axis]) -> Axis:
    found = _together(equation, seen)
    return MIXED if found == equation.params["dimension"] else found


def _stack(equation: Any, seen: list[Axis]) -> Axis:
    found = _together(equation, seen)
    return found if found in (None, MIXED) else found + (found >= equation.params["axis"])


def _dot(equation: Any, seen: list[Axis]) -> Axis:
    contracted, batch = equation.params["dimension_numbers"]
    places = []
    ahead = len(batch[0])
    for side, axis in enumerate(seen):
        rank = len(equation.invars[side].aval.shape)
        free = [each for each in range(rank) if each not in (*contracted[side], *batch[side])]
        if axis is not None:
            if axis in contracted[side]:
                return MIXED
            is_batch = axis in batch[side]
            places.append(list(batch[side]).index(axis) if is_batch else ahead + free.index(axis))
        ahead += len(free)
    return places[0] if len(set(places)) == 1 else MIXED


def _gather(equation: Any, seen: list[Axis]) -> Axis:
    """Follow indices, one for each entry, and a table whose entries are taken beside them."""
    numbers = equation.params["dimension_numbers"]
    operand, indices = seen
    if operand is not None:
        if operand not in numbers.operand_batching_dims:
            return MIXED
        beside = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(operand)]
        if indices not in (None, beside):
            return MIXED
        indices = beside
    assert indices is not None
    rank = len(equation.outvars[0].aval.shape)
    kept = [axis for axis in range(rank) if axis not in numbers.offset_dims]
    return kept[indices] if indices < len(kept) else MIXED


_RULES: Mapping[str, Callable[[Any, list[Axis]], Axis]] = {
    "broadcast_in_dim": _first(_broadcast),
    "reshape": _first(_reshape),
    "squeeze": _first(_without("dimensions")),
    "transpose": _first(lambda equation, axis: equation.params["permutation"].index(axis)),
    "slice": _first(_slice),
    "dynamic_slice": _first(_slice),
    "pad": _first(_pad),
    "rev": _first(_beside(lambda equation: equation.params["dimensions"])),
    "split": _first(_beside(lambda equation: (equation.params["axis"],))),
    "concatenate": _concatenate,
    "stack": _stack,
    "dot_general": _dot,
    "gather": _gather,
    **{
        name: _first(_without("axes"))
        for name in ("argmax", "argmin", "reduce_and", "reduce_max", "reduce_min")
    },
    **{name: _first(_without("axes")) for name in ("reduce_or", "reduce_prod", "reduce_sum")},
    **{
        name: _first(_beside(lambda equation: (equation.params["axis"],)))
        for name in ("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum")
    },
}
