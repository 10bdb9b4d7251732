"""Record the Python state that a function sees besides its arguments, so that changes can be found."""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

_DEPTH = 3  # of functions that call functions
_MOST = 100_000  # characters, or bytes of an array: more is not looked at


def state_seen(function: Callable[..., Any]) -> dict[str, str]:
    """Return the state of each variable that a function can see and change, as text by name.

    What is closed over, globals, defaults, the attributes of objects among them, and those of functions that it calls.
    Modules, classes and arrays of JAX do not change; what cannot be written down is left out.
    """
    return dict(_seen(function, _DEPTH, set()))


def _seen(function: Any, depth: int, visited: set[int]) -> Iterator[tuple[str, str]]:
    function = getattr(function, "__wrapped__", function)
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType) or id(function) in visited or not depth:
        return
    visited.add(id(function))
    variables = _variables(function)
    if owner is not None and not isinstance(owner, type | types.ModuleType):
        variables["self"] = owner
    for name, value in variables.items():
        if _is_function(value):
            yield from _seen(value, depth - 1, visited)
        else:
            try:
                text = _text(value)
            except Exception:  # of what an object has to say of itself
                continue
            if text is not None:
                yield name, text


def _variables(function: types.FunctionType) -> dict[str, Any]:
    """Return the globals that its code names, its closure, and its defaults."""
    found: dict[str, Any] = {}
    for name in _names(function.__code__):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    defaults = function.__defaults__ or ()
    count = function.__code__.co_argcount
    found |= zip(function.__code__.co_varnames[count - len(defaults) : count], defaults, strict=True)
    return found | (function.__kwdefaults__ or {})


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that code, and inner functions, use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_function(value: Any) -> bool:
    return isinstance(getattr(value, "__wrapped__", value), types.FunctionType | types.MethodType)


def _text(value: Any) -> str | None:
    """Describe a value; None if it cannot change or is too large."""
    if isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
        return None
    if isinstance(value, np.ndarray):
        return (
            f"{value.shape} {value.tobytes()!r}" if value.nbytes <= _MOST and value.dtype != object else None
        )
    if hasattr(value, "__array__") or hasattr(value, "__jax_array__"):
        return None
    if isinstance(value, Mapping):
        parts = [f"{key!r}: {_short(each)}" for key, each in list(value.items())[:_MOST]]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = [_short(each) for each in list(value)[:_MOST]]
    elif isinstance(value, str | bytes | int | float | complex | bool | None):
        parts = [repr(value)]
    elif isinstance(value, np.random.Generator):
        parts = [repr(value.bit_generator.state)]
    elif hasattr(value, "__dict__"):
        parts = [f"{name}={_short(each)}" for name, each in vars(value).items()]
    else:
        parts = [_short(value)]
    text = f"{type(value).__name__}: {', '.join(parts)}"
    return text if len(text) <= _MOST else None


def _short(value: Any) -> str:
    """Describe an entry by its value if simple, else by kind and length."""
    if isinstance(value, str | bytes | int | float | complex | bool | None):
        return repr(value)
    size = f" of {len(value)}" if isinstance(value, list | tuple | set | dict) else ""
    return f"{type(value).__name__}{size}"
