"""Compute in NumPy what a traced function makes of its data alone, so that data are judged before anything is compiled.

What depends on anything else, or takes an operation that is not in the table below, is not known. That is no error:
it is judged by the program instead, where it is judged at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import Literal

_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
}
"""Operations that call a function with just their own arguments, and which of their parameters it is."""


@dataclass(frozen=True)
class Known:
    """An array on the host. `entries`, of its shape, says which of its entries are known; None is all of them."""

    value: np.ndarray
    entries: np.ndarray | None = None


Value = Known | None
"""None is an array of which nothing is known."""


def on_host(array: Any) -> Value:
    """An array as far as it can be read here: what JAX is tracing, other processes hold, or is a key cannot."""
    if array is None or isinstance(array, Tracer):
        return None
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        return None
    return None if jnp.issubdtype(jnp.result_type(array), jax.dtypes.extended) else Known(np.asarray(array))


def sliced(jaxpr: Any, results: Sequence[Any]) -> tuple[Any, ...]:
    """The operations of a traced function that some of its variables need, in order."""
    needed = {variable for variable in results if not isinstance(variable, Literal)}
    kept: list[Any] = []
    for equation in reversed(jaxpr.eqns):
        if any(variable in needed for variable in equation.outvars):
            needed.update(variable for variable in equation.invars if not isinstance(variable, Literal))
            kept.append(equation)
    return tuple(reversed(kept))


def computed(
    jaxpr: Any,
    consts: Sequence[Any],
    given: Sequence[Value],
    results: Sequence[Any] | None = None,
    equations: Sequence[Any] | None = None,
) -> list[Value]:
    """The values of variables of a traced function, for arguments some of which are known.

    **Arguments**: `results`, the variables, or None for what it returns; `equations`, the operations that `sliced`
    found for them, or None to find these.
    """
    wanted: Sequence[Any] = jaxpr.outvars if results is None else results
    equations = sliced(jaxpr, wanted) if equations is None else equations
    known: dict[Any, Value] = dict(zip(jaxpr.invars, given, strict=True))
    known.update(zip(jaxpr.constvars, map(on_host, consts), strict=True))

    def of(atom: Any) -> Value:
        if isinstance(atom, Literal):
            aval: Any = atom.aval
            return None if _is_key(aval) else Known(np.asarray(atom.val, aval.dtype))
        return known.get(atom)

    for equation in equations:
        found = _results(equation, [of(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, found, strict=True))
    return [of(atom) for atom in wanted]


def _results(equation: Any, given: list[Value]) -> list[Value]:
    """Those of one operation."""
    name, params = equation.primitive.name, equation.params
    nothing: list[Value] = [None] * len(equation.outvars)
    called = params.get(_CALLS.get(name, ""))
    if called is not None:
        inner = getattr(called, "jaxpr", called)
        consts = getattr(called, "consts", ())
        if len(inner.invars) != len(given):
            return nothing
        return computed(inner, consts, given)
    if len(equation.outvars) != 1 or _is_key(equation.outvars[0].aval):
        return nothing
    aval = equation.outvars[0].aval
    is_whole = all(each is not None and each.entries is None for each in given)
    if name == "scatter" and len(given) == 3:
        result = _scattered(params, *given)
    elif is_whole and name in _OPERATIONS:
        arrays = [each.value for each in given if each is not None]
        with np.errstate(all="ignore"):
            made = _OPERATIONS[name](params, *arrays)
        result = None if made is None else Known(np.asarray(made, aval.dtype))
    elif name in _MOVES and given[0] is not None and all(each is not None for each in given):
        parts = [each for each in given if each is not None]
        arrays = [each.value for each in parts]
        masks = [np.ones(each.value.shape, bool) if each.entries is None else each.entries for each in parts]
        move = _OPERATIONS[name]
        result = Known(np.asarray(move(params, *arrays), aval.dtype), np.asarray(move(params, *masks), bool))
    else:
        result = None
    return [result if result is not None and result.value.shape == aval.shape else None]


def _scattered(params: Any, operand: Value, indices: Value, updates: Value) -> Value:
    """What `x.at[index].set(values)` makes along the first axis; the values need not be known."""
    numbers = params["dimension_numbers"]
    if operand is None or indices is None or indices.entries is not None:
        return None
    rest = tuple(range(1, operand.value.ndim))
    if (
        tuple(numbers.scatter_dims_to_operand_dims) != (0,)
        or tuple(numbers.inserted_window_dims) != (0,)
        or tuple(numbers.update_window_dims) != rest
        or indices.value.ndim != 2
    ):
        return None
    index = indices.value[:, 0]
    if index.size and not (index.min() >= 0 and index.max() < len(operand.value)):
        return None
    value = np.array(operand.value)
    entries = np.ones(value.shape, bool) if operand.entries is None else np.array(operand.entries)
    if updates is None:
        entries[index] = False
    else:
        value[index] = updates.value
        entries[index] = True if updates.entries is None else updates.entries
    return Known(value, None if entries.all() else entries)


def _gathered(params: Any, operand: np.ndarray, indices: np.ndarray) -> np.ndarray | None:
    """What `x[index]` makes, of an index along the first axis."""
    numbers = params["dimension_numbers"]
    num_index = indices.ndim - 1
    offset = tuple(range(num_index, num_index + operand.ndim - 1))
    if (
        tuple(numbers.start_index_map) != (0,)
        or tuple(numbers.collapsed_slice_dims) != (0,)
        or tuple(numbers.offset_dims) != offset
        or tuple(params["slice_sizes"]) != (1, *operand.shape[1:])
    ):
        return None
    index = indices[..., 0]
    if index.size and not (index.min() >= 0 and index.max() < len(operand)):
        return None
    return operand[index]


def _broadcast(params: Any, array: np.ndarray, *_: Any) -> np.ndarray:
    shape = params["shape"]
    places = dict(zip(params["broadcast_dimensions"], array.shape, strict=True))
    return np.broadcast_to(array.reshape([places.get(axis, 1) for axis in range(len(shape))]), shape)


def _slice(params: Any, array: np.ndarray) -> np.ndarray:
    strides = params["strides"] or (1,) * array.ndim
    starts, stops = params["start_indices"], params["limit_indices"]
    return array[tuple(slice(*each) for each in zip(starts, stops, strides, strict=True))]


def _iota(params: Any) -> np.ndarray:
    shape, axis = params["shape"], params["dimension"]
    steps = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(steps, shape)


def _divide(_: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    if a.dtype.kind in "iu":  # towards zero
        return None if not np.all(b) else np.trunc(a / b)
    return a / b


def _convert(params: Any, array: np.ndarray) -> np.ndarray:
    return array.astype(params["new_dtype"])


def _select(_: Any, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    return np.choose(np.broadcast_to(which.astype(int), cases[0].shape), cases)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda params, *arrays: function(*arrays)


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda params, array: function(array, axis=tuple(params["axes"]))


def _is_key(aval: Any) -> bool:
    return not hasattr(aval, "dtype") or jnp.issubdtype(aval.dtype, jax.dtypes.extended)


_MOVES: dict[str, Callable[..., Any]] = {
    "reshape": lambda params, array, *_: array.reshape(params["new_sizes"]),
    "squeeze": lambda params, array: np.squeeze(array, tuple(params["dimensions"])),
    "broadcast_in_dim": _broadcast,
    "transpose": lambda params, array: np.transpose(array, params["permutation"]),
    "slice": _slice,
    "rev": lambda params, array: np.flip(array, tuple(params["dimensions"])),
    "concatenate": lambda params, *arrays: np.concatenate(arrays, params["dimension"]),
    "copy": lambda params, array: array,
    "copy_p": lambda params, array: array,
}
"""Operations that put entries elsewhere, so that what is known of each goes with it."""

_OPERATIONS: dict[str, Callable[..., Any]] = {
    **_MOVES,
    "convert_element_type": _convert,
    "iota": _iota,
    "gather": _gathered,
    "select_n": _select,
    "clamp": lambda params, low, array, high: np.clip(array, low, high),
    "div": _divide,
    "integer_pow": lambda params, array: array ** float(params["y"]),
    "square": lambda params, array: array * array,
    "cumsum": lambda params, array: None if params["reverse"] else np.cumsum(array, params["axis"]),
    "reduce_sum": _along(np.sum),
    "reduce_prod": _along(np.prod),
    "reduce_max": _along(np.max),
    "reduce_min": _along(np.min),
    "reduce_and": _along(np.all),
    "reduce_or": _along(np.any),
    **{
        name: _elementwise(function)
        for name, function in {
            "add": np.add,
            "sub": np.subtract,
            "mul": np.multiply,
            "rem": np.fmod,
            "pow": np.power,
            "max": np.maximum,
            "min": np.minimum,
            "neg": np.negative,
            "sign": np.sign,
            "abs": np.abs,
            "eq": np.equal,
            "ne": np.not_equal,
            "lt": np.less,
            "le": np.less_equal,
            "gt": np.greater,
            "ge": np.greater_equal,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
            "not": np.invert,
            "is_finite": np.isfinite,
            "exp": np.exp,
            "log": np.log,
            "log1p": np.log1p,
            "expm1": np.expm1,
            "sqrt": np.sqrt,
            "floor": np.floor,
            "ceil": np.ceil,
        }.items()
    },
}
