"""Compute in NumPy what JAX's operations compute, one by one.

Not every rule gives the bits that the program gets: a `floor` of a quotient is the same there and here, a logarithm
is not, and neither is a sum of floats, whose order XLA chooses. `is_exact` says which ones do.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .functions import FUNCTIONS
from .unevaluable import UnevaluableError
from .windows import Parameters, Rule, gather, scatter


def _elementwise(function: Callable[..., Any]) -> Rule:
    return lambda _, *arrays: function(*arrays)


def _divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Divide; integers are rounded towards zero, as in C: JAX's `//` is written with it."""
    if x.dtype.kind not in "iu":
        return x / y
    quotient = np.floor_divide(x, np.where(y == 0, 1, y))
    exact = quotient * y == x
    return np.where(y == 0, -1, quotient + ((quotient < 0) & ~exact))


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the remainder, with the sign of `x`; of integers divided by zero it is `x`, as XLA has it."""
    if x.dtype.kind not in "iu":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


def _convert(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    """Convert floats to integers as XLA does: those that do not fit become the nearest that does. NumPy wraps them.

    NaN, which XLA makes 0, becomes the smallest integer: as an index it is refused, and not read as the first entry.
    """
    if x.dtype.kind != "f" or np.dtype(parameters["new_dtype"]).kind not in "iu":
        return x
    limits = np.iinfo(parameters["new_dtype"])
    whole = np.trunc(x)
    is_inside = (whole >= limits.min) & (whole < float(limits.max) + 1)  # the largest of 64 bits is no float
    nearest = np.where(whole > 0, limits.max, limits.min)
    return np.where(is_inside, np.where(is_inside, whole, 0).astype(limits.dtype), nearest)


def _bits(x: np.ndarray) -> np.ndarray:
    return np.bitwise_count(x.astype(f"u{x.itemsize}"))


def _select(which: np.ndarray, *cases: Any) -> np.ndarray:
    found = cases[0]
    for number, case in enumerate(cases[1:], start=1):  # `np.choose` takes no more than some dozens
        found = np.where(which == number, case, found)
    return found


def _round(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    if int(parameters["rounding_method"]) == 1:
        return np.rint(x)
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)


def _broadcast(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    shape = [1] * len(parameters["shape"])
    for axis, size in zip(parameters["broadcast_dimensions"], x.shape, strict=True):
        shape[axis] = size
    return np.broadcast_to(x.reshape(shape), parameters["shape"])


def _slice(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    strides = parameters["strides"] or [1] * x.ndim
    bounds = zip(parameters["start_indices"], parameters["limit_indices"], strides, strict=True)
    return x[tuple(slice(*each) for each in bounds)]


def _pad(parameters: Parameters, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    config = parameters["padding_config"]
    spread = [n + max(n - 1, 0) * inner for n, (_, _, inner) in zip(x.shape, config, strict=True)]
    wide = np.full(spread, value, x.dtype)
    wide[tuple(slice(None, None, inner + 1) for _, _, inner in config)] = x
    wide = np.pad(wide, [(max(low, 0), max(high, 0)) for low, high, _ in config], constant_values=value)
    return wide[
        tuple(
            slice(max(-low, 0), n - max(-high, 0))
            for n, (low, high, _) in zip(wide.shape, config, strict=True)
        )
    ]


def _iota(parameters: Parameters) -> np.ndarray:
    shape, axis = parameters["shape"], parameters["dimension"]
    count = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return np.broadcast_to(count, shape)


def _split(parameters: Parameters, x: np.ndarray) -> list[np.ndarray]:
    return np.split(x, np.cumsum(parameters["sizes"])[:-1], axis=parameters["axis"])


def _reduce(function: Callable[..., Any]) -> Rule:
    return lambda parameters, x: function(x, axis=tuple(parameters["axes"]))


def _arg(function: Callable[..., Any]) -> Rule:
    return lambda parameters, x: function(x, axis=parameters["axes"][0])


def _cumulative(function: Callable[..., Any]) -> Rule:
    def rule(parameters: Parameters, x: np.ndarray) -> np.ndarray:
        axis = parameters["axis"]
        if not parameters["reverse"]:
            return function(x, axis=axis)
        return np.flip(function(np.flip(x, axis), axis=axis), axis)

    return rule


def _high_level(parameters: Parameters, *arrays: np.ndarray) -> np.ndarray:
    """Compute an operation that JAX 0.12 keeps as a whole, and wrote as a loop before: places in one row of edges."""
    operation = parameters["_prim"]
    details = operation.params
    if type(operation).__name__ != "SearchSorted" or details["batch_dims"] or arrays[0].ndim != 1:
        raise UnevaluableError(f"no rule for {operation}")
    return np.searchsorted(*arrays, side="right" if "right" in str(details["side"]).lower() else "left")


def _sort(parameters: Parameters, *arrays: np.ndarray) -> list[np.ndarray]:
    axis = parameters["dimension"]
    order = np.lexsort(arrays[parameters["num_keys"] - 1 :: -1], axis=axis)
    return [np.take_along_axis(array, order, axis) for array in arrays]


def _top(parameters: Parameters, x: np.ndarray) -> list[np.ndarray]:
    axis, count = parameters["axis"], parameters["k"]
    if x.dtype.kind not in "if" or np.isnan(x).any():
        raise UnevaluableError("no order of these numbers")
    order = np.take(np.argsort(-x, axis=axis, kind="stable"), np.arange(count), axis=axis)
    return [np.take_along_axis(x, order, axis), order]


def _dot(parameters: Parameters, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    (x_axes, y_axes), (x_batch, y_batch) = parameters["dimension_numbers"]
    wanted = parameters["preferred_element_type"]
    if wanted is not None:  # in which the sums are made: small integers would overflow
        x, y = x.astype(wanted, copy=False), y.astype(wanted, copy=False)
    of_x = list(range(x.ndim))
    of_y = [x.ndim + axis for axis in range(y.ndim)]
    for mine, theirs in (*zip(x_axes, y_axes, strict=True), *zip(x_batch, y_batch, strict=True)):
        of_y[theirs] = of_x[mine]
    rest_x = [of_x[a] for a in range(x.ndim) if a not in (*x_axes, *x_batch)]
    rest_y = [of_y[a] for a in range(y.ndim) if a not in (*y_axes, *y_batch)]
    return np.einsum(x, of_x, y, of_y, [*(of_x[a] for a in x_batch), *rest_x, *rest_y])


def _within(starts: Any, shape: Any, sizes: Any) -> list[int]:
    bounds = zip(starts, shape, sizes, strict=True)
    return [int(np.clip(start, 0, n - size)) for start, n, size in bounds]


def _dynamic_slice(parameters: Parameters, x: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    sizes = parameters["slice_sizes"]
    begins = _within(starts, x.shape, sizes)
    return x[tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))]


def _dynamic_update_slice(
    _: Parameters, x: np.ndarray, update: np.ndarray, *starts: np.ndarray
) -> np.ndarray:
    begins = _within(starts, x.shape, update.shape)
    changed = np.array(x)
    changed[tuple(slice(begin, begin + n) for begin, n in zip(begins, update.shape, strict=True))] = update
    return changed


ELEMENTWISE: Mapping[str, Rule] = MappingProxyType(
    {
        **{name: _elementwise(function) for name, function in {
            "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divide,
            "rem": _remainder, "neg": np.negative, "sign": np.sign, "abs": np.abs, "max": np.maximum,
            "min": np.minimum, "floor": np.floor, "ceil": np.ceil, "eq": np.equal, "ne": np.not_equal,
            "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
            "lt_to": np.less, "le_to": np.less_equal, "eq_to": np.equal,
            "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert,
            "shift_left": np.left_shift, "shift_right_arithmetic": np.right_shift,
            "population_count": _bits, "nextafter": np.nextafter, "real": np.real, "imag": np.imag,
            "conj": np.conj, "complex": lambda x, y: x + 1j * y, "is_finite": np.isfinite,
            "square": np.square, "sqrt": np.sqrt, "select_n": _select, **FUNCTIONS,
            "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
        }.items()},
        **{name: _elementwise(lambda x: x) for name in (
            "copy", "copy_p", "pvary", "device_put", "sharding_constraint",
            "optimization_barrier",
        )},
        "convert_element_type": _convert,
        "integer_pow": lambda parameters, x: x ** parameters["y"],
        "round": _round,
    }
)  # fmt: skip
"""Rules for operations that treat every entry alone, so that they allow any axes in front."""

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **ELEMENTWISE,
        "broadcast_in_dim": _broadcast,
        "reshape": lambda parameters, x: x.reshape(parameters["new_sizes"]),
        "squeeze": lambda parameters, x: x.squeeze(tuple(parameters["dimensions"])),
        "expand_dims": lambda parameters, x: np.expand_dims(x, tuple(parameters["dimensions"])),
        "transpose": lambda parameters, x: x.transpose(parameters["permutation"]),
        "rev": lambda parameters, x: np.flip(x, parameters["dimensions"]),
        "concatenate": lambda parameters, *arrays: np.concatenate(arrays, parameters["dimension"]),
        "slice": _slice,
        "split": _split,
        "pad": _pad,
        "iota": _iota,
        "reduce_sum": _reduce(np.sum),
        "reduce_prod": _reduce(np.prod),
        "reduce_max": _reduce(np.max),
        "reduce_min": _reduce(np.min),
        "reduce_and": _reduce(np.bitwise_and.reduce),
        "reduce_or": _reduce(np.bitwise_or.reduce),
        "argmax": _arg(np.argmax),
        "argmin": _arg(np.argmin),
        "cumsum": _cumulative(np.cumsum),
        "cumprod": _cumulative(np.cumprod),
        "cummax": _cumulative(np.maximum.accumulate),
        "cummin": _cumulative(np.minimum.accumulate),
        "sort": _sort,
        "top_k": _top,
        "call_hi_primitive": _high_level,
        "dot_general": _dot,
        "dynamic_slice": _dynamic_slice,
        "dynamic_update_slice": _dynamic_update_slice,
        "gather": gather,
        "scatter": scatter(None),
        "scatter-add": scatter(np.add),
        "scatter-mul": scatter(np.multiply),
        "scatter-min": scatter(np.minimum),
        "scatter-max": scatter(np.maximum),
        "stack": lambda parameters, *arrays: np.stack(arrays, parameters["axis"]),
        "tile": lambda parameters, x: np.tile(x, parameters["reps"]),
    }
)
"""Rules by the name of the operation: from its parameters and arrays to its result, or a list of results."""

_SHUFFLES = (
    "broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "rev", "concatenate", "slice", "split",
    "stack", "tile", "copy", "copy_p",
)  # fmt: skip

MOVES: Mapping[str, tuple[int, ...]] = MappingProxyType({**dict.fromkeys(_SHUFFLES, ()), "scatter": (1,)})
"""Operations that only put entries elsewhere, with the numbers of those inputs that say where."""

_EXACT_ON_INTEGERS = frozenset(
    {
        "integer_pow", "reduce_sum", "reduce_prod", "cumsum", "cumprod", "dot_general", "scatter-add", "scatter-mul",
    }
)  # fmt: skip


def is_exact(equation: Any) -> bool:
    """Return whether the rule of an operation gives the same bits as the program, for the dtypes that it is used on."""
    name = equation.primitive.name
    if name in _EXACT_ON_INTEGERS:
        return all(np.dtype(variable.aval.dtype).kind in "iub" for variable in equation.outvars)
    return name not in FUNCTIONS
