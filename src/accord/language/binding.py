"""Bind what a model is called with to the arguments of its function."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import DataError, suggest


def bind(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a function by name, defaults included.

    **Raises** `DataError` for missing and unknown ones.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise DataError(_why_not_bound(name, signature, args, kwargs, error)) from None
    bound.apply_defaults()
    return dict(bound.arguments)


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
