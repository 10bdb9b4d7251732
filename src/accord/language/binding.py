"""Bind the values that a model is called with to the arguments of its function."""

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..core.errors import DataError, suggest
from .columns import columns_of, is_table, value_of, with_numbers


def bind(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Bind values to the arguments of a function, defaults included; columns of data frames become NumPy arrays.

    **Raises** `DataError` for missing and unknown ones, for columns that are not numbers, and for a whole data frame.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise DataError(_why_not_bound(name, signature, args, kwargs, error)) from None
    bound.apply_defaults()
    return {key: _read(name, key, value) for key, value in bound.arguments.items()}


def gather(name: str, function: Callable[..., Any], sources: Sequence[Any]) -> dict[str, Any]:
    """Take the arguments of a function from data frames and mappings, by name.

    Columns that are no argument are passed over; a key of a mapping that is none is an error.

    **Raises** `DataError` for a missing or unknown argument, for one that two sources have, for a column passed over
    whose name is near that of an argument that nothing gives, and for columns that cannot be read.
    """
    where = f"model {name!r}: bind"
    found: dict[str, Any] = {}
    passed: list[str] = []
    for source in sources:
        offered = columns_of(source, where)
        taken, others = choose(function, offered)
        if isinstance(source, Mapping) and others:
            free = [key for key in inspect.signature(function).parameters if key not in offered]
            words = " ".join(f"unknown argument {key!r}.{suggest(key, free)}" for key in others)
            raise DataError(f"model {name!r}: {words} It takes {inspect.signature(function)}.")
        for key in taken:
            if key in found:
                raise DataError(f"{where}: {key!r} comes twice. Leave it out of all sources but one.")
            found[key] = value_of(offered[key], f"model {name!r}: argument {key!r}")
        passed += others
    check_given(name, function, found, passed)
    check_misspelt(name, function, found, passed)
    return found


def choose(function: Callable[..., Any], offered: Collection[str]) -> tuple[list[str], list[str]]:
    """Separate the names offered into arguments of a function and others."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return list(offered), []
    taken = [p.name for p in parameters.values() if p.name in offered and p.kind is not p.VAR_POSITIONAL]
    return taken, [name for name in offered if name not in taken]


def near(function: Callable[..., Any], found: Collection[str], passed: Collection[str]) -> dict[str, str]:
    """Find, by argument that nothing gives, the name passed over that is likely meant, where one is near."""
    parameters = inspect.signature(function).parameters.values()
    free = [
        p.name for p in parameters if p.name not in found and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    folded = {name.strip().casefold(): name for name in passed}
    likely: dict[str, str] = {}
    for name in free:
        same = folded.get(name.casefold())  # also ' y ', a blank in the header of a file
        close = difflib.get_close_matches(name, list(passed), n=1, cutoff=0.75)
        if same is not None or close:
            likely[name] = same if same is not None else close[0]
    return likely


def check_given(
    name: str, function: Callable[..., Any], found: Collection[str], passed: Collection[str]
) -> None:
    """Raise `DataError` for arguments that nothing gives and that have no default."""
    signature = inspect.signature(function)
    likely = near(function, found, passed)
    missing = [
        f"missing argument {p.name!r}." + (f" Did you mean {likely[p.name]!r}?" if p.name in likely else "")
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in found
    ]
    if missing:
        others = f" Columns passed over: {', '.join(map(repr, passed))}." if passed else ""
        raise DataError(f"model {name!r}: {' '.join(missing)} It takes {signature}.{others}")


def check_misspelt(
    name: str, function: Callable[..., Any], found: Collection[str], passed: Collection[str]
) -> None:
    """Raise `DataError` for a column whose name is near that of an argument that only has its default."""
    for key, column in near(function, found, passed).items():
        raise DataError(
            f"model {name!r}: nothing gives the argument {key!r}, and the column {column!r} is not used. If it is "
            f"meant, rename the column to {key!r}; if not, drop or rename it."
        )


def _read(name: str, key: str, value: Any) -> Any:
    where = f"model {name!r}: argument {key!r}"
    if is_table(value):
        raise DataError(
            f"{where}: a table ({type(value).__name__}) is not one array. Write `{name}.bind(table)`: its columns "
            "go to the arguments of their names."
        )
    return with_numbers(value, where)


def _why_not_bound(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: TypeError,
) -> str:
    parameters = signature.parameters
    positional = [
        p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    given = {*positional[: len(args)], *kwargs}
    required = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    missing = [n for n in required if n not in given]
    unknown = [n for n in kwargs if n not in parameters]
    free = [n for n in parameters if n not in given]
    found = [f"missing argument {n!r}." for n in missing]
    found += [f"unknown argument {n!r}.{suggest(n, free)}" for n in unknown]
    return f"model {name!r}: {' '.join(found) or f'{error}.'} It takes {signature}."
