"""Separate the arrays among a model's arguments, which are traced, from the rest, which is fixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax.tree_util as jtu
import numpy as np
from jax.core import Tracer

from ..core.errors import DataError, suggest
from ..core.notice import Notice
from ..core.precision import Precision, float_dtype
from ..core.tree import aligned
from ..language import Model
from ..language.columns import as_numbers, is_table, refuse_levels
from ..language.handlers.values import AbstractValues
from ..language.static import Static, unmarked
from .rows.row_files import FileRows

# The rounding that single precision may do to data, in units of the data's own standard deviation, before a notice.
ROUNDING_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Named:
    """A mark in a model's tree for the array of this name, which was there."""

    name: str
    is_static: bool = False


@dataclass(frozen=True, eq=False)
class Template:
    """A model with a `Named` in the place of each of its arrays."""

    model: Model

    def fill(self, data: Mapping[str, Any]) -> Model:
        """Return the model with these arrays, by name."""
        return jax.tree.map(lambda leaf: data[leaf.name] if isinstance(leaf, Named) else leaf, self.model)

    def marked(self, data: Mapping[str, Any]) -> Model:
        """Return the template with the marks that `ac.static` put on arguments."""
        return self.fill(
            {name: Static(value) if name in self.fixed else value for name, value in data.items()}
        )

    @property
    def fixed(self) -> tuple[str, ...]:
        """The names of arrays that were marked by `ac.static`."""
        return tuple(
            leaf.name for leaf in jax.tree.leaves(self.model) if isinstance(leaf, Named) and leaf.is_static
        )


def split(model: Model, precision: Precision) -> tuple[Template, dict[str, Any], tuple[Notice, ...]]:
    """Take the arrays out of a model: a template, the arrays by name in the run's dtypes, and what to tell about them.

    Arrays, lists of numbers and Python floats are data. Ints, bools, strings, functions and all other objects stay.
    An argument's name is its own (`X`), with a path into a tree (`X/key`); that of a conditioned site, `condition/x`.

    **Raises** `DataError` for arrays that are not numbers.
    """
    data: dict[str, Any] = {}
    notices: list[Notice] = []

    def take(path: tuple[Any, ...], leaf: Any) -> Any:
        name = _unique(_name(model, path), data)
        is_static, leaf = isinstance(leaf, Static), unmarked(leaf)
        if not _is_array(leaf, name) or (is_static and isinstance(leaf, float)):
            return leaf.item() if isinstance(leaf, (np.integer, np.bool_)) else leaf
        data[name] = convert(name, leaf, precision)
        notices.extend(_loss_of_precision(name, leaf, data[name], precision))
        return Named(name, is_static)

    template = Template(jtu.tree_map_with_path(take, model, is_leaf=_is_list_of_numbers))
    return template, data, tuple(notices)


def convert(name: str, value: Any, precision: Precision) -> Any:
    """Convert an array to NumPy and the run's dtype: floats in its precision, ints in its width, bools as they are.

    A value that is being traced by JAX stays as it is: its trace has settled the dtype.

    **Raises** `DataError` for strings, objects and dates, for complex numbers, for masked entries, and for numbers that
    do not fit.
    """
    if isinstance(value, Tracer) and jnp.issubdtype(value.dtype, jnp.complexfloating):
        raise _is_complex(name, value.dtype)
    if isinstance(value, Tracer) or _is_key(value):
        return value
    if isinstance(value, FileRows):
        return value.astype(_dtype_of_rows(value.stored, precision))
    refuse_levels(value, f"argument {name!r}")
    value = as_numbers(value, f"argument {name!r}")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DataError(
            f"argument {name!r}: the rows have different lengths. Give an array, or a list of arrays."
        ) from error
    width = 64 if precision == "float64" else 32
    if array.dtype.kind == "b":
        return aligned(array, bool)
    if array.dtype.kind in "iu":
        limits = np.iinfo(f"int{width}")
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise DataError(
                f"argument {name!r}: some integers do not fit int{width}. Scale them, or pass them as floats."
            )
        return aligned(array, f"int{width}")
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        return _floats(name, array, precision)
    if array.dtype.kind == "c":
        raise _is_complex(name, array.dtype)
    raise DataError(
        f"argument {name!r}: found {type(value).__name__} of dtype {array.dtype}, which is not numbers. Convert it "
        "first, for instance by `np.asarray(x, float)`; labels for `coords=` can be a list of strings."
    )


def _floats(name: str, array: np.ndarray, precision: Precision) -> np.ndarray:
    with np.errstate(over="ignore"):
        found = aligned(array, float_dtype(precision))
    if array.dtype.itemsize > found.dtype.itemsize:
        lost = np.isinf(found) & np.isfinite(array)
        if lost.any():
            raise DataError(
                f"argument {name!r}: {int(lost.sum())} of {lost.size} numbers are too large for {precision}, such as "
                f"{array[lost][0]!s}. Scale them{', or run in float64' if precision == 'float32' else ''}."
            )
    return found


def _is_complex(name: str, dtype: Any) -> DataError:
    return DataError(
        f"argument {name!r}: the numbers are complex ({dtype}), and sites are real, so that the imaginary part would "
        "be lost. Pass the real and imaginary parts as two arrays of real numbers, `z.real` and `z.imag`. (A model may "
        "compute complex numbers, such as `jnp.fft.rfft(x)`.)"
    )


def _dtype_of_rows(stored: np.dtype, precision: Precision) -> np.dtype:
    """Return the dtype that `convert` gives arrays. Whether ints fit is seen when they are read."""
    if stored.kind == "b":
        return stored
    return (
        float_dtype(precision)
        if stored.kind == "f"
        else np.dtype("int64" if precision == "float64" else "int32")
    )


def check_names(given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise `DataError` for a name that is not among the known data."""
    for name in given:
        if name not in known:
            raise DataError(
                f"there is no data named {name!r}.{suggest(name, known)} "
                f"The names are {', '.join(map(repr, known)) or 'none'}."
            )


def _is_array(leaf: Any, name: str) -> bool:
    if isinstance(leaf, (np.bool_, np.integer, type)):
        return False
    if is_table(leaf):
        raise DataError(
            f"argument {name!r}: a table ({type(leaf).__name__}) is not one array. Write `model.bind(table)`: its "
            "columns go to the arguments of their names."
        )
    return isinstance(leaf, (float, complex)) or hasattr(leaf, "__array__") or _is_list_of_numbers(leaf)


def _is_list_of_numbers(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(v, (bool, int, float, complex, np.generic)) or _is_row(v) for v in value)


def _is_row(value: Any) -> bool:
    return _is_list_of_numbers(list(value) if isinstance(value, tuple) else value)


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _name(model: Model, path: tuple[Any, ...]) -> str:
    """Name an array: `X/key` for an argument; `condition/x`, `mask/mask` and so on for what handlers hold."""
    words = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path]
    if words[0] == "arguments":
        return "/".join(words[1:])
    handler = model.handlers[int(words[1])]
    word = type(handler).__name__.lower()
    return "/".join([word, *(words[3:] if isinstance(handler, AbstractValues) else words[2:])])


def _unique(name: str, taken: Mapping[str, Any]) -> str:
    return (
        name
        if name not in taken
        else next(f"{name}#{n}" for n in range(2, len(taken) + 3) if f"{name}#{n}" not in taken)
    )


def _loss_of_precision(name: str, given: Any, array: Any, precision: Precision) -> list[Notice]:
    if isinstance(given, Tracer | FileRows) or _is_key(given) or array.dtype.kind != "f":
        return []
    if precision == "float64":
        if isinstance(given, jax.Array) and given.dtype != np.float64:
            return [
                Notice(
                    "warning",
                    "float32_data",
                    f"Argument {name!r} is a JAX array of {given.dtype} in a float64 run: its other digits are lost.",
                    "Pass the NumPy array that it was made from.",
                )
            ]
        if not (isinstance(given, np.ndarray | np.generic) and given.dtype.itemsize > array.dtype.itemsize):
            return []
    exact = np.asarray(given, np.longdouble if precision == "float64" else np.float64)
    finite = exact[np.isfinite(exact)]
    spread = finite.std() if finite.size else 0.0
    worst = np.abs(finite - finite.astype(array.dtype)).max(initial=0.0)
    # A constant has no spread to lose; its standard deviation is rounding of its own.
    rounding = 1e-12 * np.finfo(exact.dtype).eps / np.finfo(np.float64).eps
    is_constant = spread <= rounding * np.abs(finite).max(initial=0.0)
    if is_constant or worst <= ROUNDING_TOLERANCE * spread:
        return []
    return [
        Notice(
            "warning",
            "data_exceeds_precision",
            f"Argument {name!r} does not fit {precision}: rounding moves entries by up to {worst:.2g}, and their "
            f"standard deviation is {spread:.2g}.",
            'Subtract its mean, or run with precision="float64".'
            if precision == "float32"
            else "Subtract its mean.",
        )
    ]
