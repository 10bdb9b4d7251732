"""Find the integer arrays that a model's code holds from before it runs: in globals, closures, defaults and objects.

They are data like the arguments. What the code makes while it runs, such as `jnp.array([0, -1])`, is not.
"""

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ...language.messages.places import is_library

_MAX_SEEN = 10_000  # objects that are looked at


def closed_over(function: Callable[..., Any]) -> dict[str, np.ndarray]:
    """Find, by the name of its variable, every integer array that a user's function can reach."""
    found: dict[str, np.ndarray] = {}
    seen: dict[int, Any] = {}  # which keeps each alive, so that no two have one id
    front: deque[tuple[str, Any]] = deque([("", function)])
    while front and len(seen) < _MAX_SEEN:
        name, value = front.popleft()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        array = _integers(value)
        if array is None:
            front.extend(_inside(name, value))
        elif name:
            found.setdefault(name, array)
    return found


def _integers(value: Any) -> np.ndarray | None:
    is_array = isinstance(value, np.ndarray | jax.Array) and not isinstance(value, Tracer)
    if isinstance(value, jax.Array) and is_array and (value.is_deleted() or not value.is_fully_addressable):
        return None  # of a global that the code may never use, so that reading it must not raise
    if not is_array and not (_is_table(value) and not hasattr(type(value), "columns")):  # a column of a table
        return None
    dtype = getattr(value, "dtype", None)
    return np.asarray(value) if isinstance(dtype, np.dtype) and dtype.kind in "iu" else None


def _is_table(value: Any) -> bool:
    """Return whether an object is of pandas, polars or the like, by its class: asking the object may run code."""
    return hasattr(type(value), "to_numpy") and hasattr(type(value), "__array__")


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """List what an object of the user's holds, by the names that the user has for it."""
    match value:
        case FunctionType():
            if not is_library(value.__code__.co_filename, value.__code__.co_name):
                yield from _of_function(value)
        case MethodType():
            yield from (("self", value.__self__), ("", value.__func__))
        case np.ndarray() | jax.Array() | ModuleType() | str() | bytes() | int() | float() | type():
            return
        case Mapping():
            yield from ((f"{name}[{key!r}]", each) for key, each in islice(value.items(), _MAX_SEEN))
        case list() | tuple():
            yield from ((f"{name}[{number}]", each) for number, each in enumerate(value[:_MAX_SEEN]))
        case _ if _is_table(value) and hasattr(type(value), "columns"):
            yield from ((f"{name}[{column!r}]", value[column]) for column in value.columns)
        case _ if not is_library(str(getattr(inspect.getmodule(type(value)), "__file__", None) or "")):
            yield from ((f"{name}.{key}" if name else key, each) for key, each in _fields(value).items())
            yield "", type(value).__call__ if callable(value) else None
        case _ if isinstance(getattr(value, "function", None), FunctionType):  # a model
            yield "", value.function


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            yield name, cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue
    yield from (function.__kwdefaults__ or {}).items()
    parameters = [*inspect.signature(function, follow_wrapped=False).parameters.values()]
    yield from (
        (each.name, each.default) for each in parameters if each.default is not inspect.Parameter.empty
    )
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and not is_library(str(getattr(value, "__file__", None) or "")):
            inside = vars(value)
            yield from (
                (f"{name}.{each}", inside[each]) for each in _names(function.__code__) if each in inside
            )
        else:
            yield name, value


def _names(code: CodeType) -> Iterator[str]:
    """List the globals that code uses, with those of the functions written in it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _fields(value: Any) -> dict[str, Any]:
    return getattr(value, "__dict__", {})
