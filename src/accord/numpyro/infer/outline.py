"""Run a program once for its sites, where what they are counts and not their values."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import jax

from ..handlers import seed, substitute, trace
from ..messages import Message
from .initialization import init_to_feasible

_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def outline_of(
    program: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> "OrderedDict[str, Message]":
    """Return a trace of a program whose values have shapes and dtypes alone.

    Nothing is computed, so that nothing is compiled; but for a program that needs numbers while it runs.
    """
    found: OrderedDict[str, Message] = OrderedDict()

    def look(key: Any) -> None:
        found.clear()
        begun = substitute(seed(program, key), substitute_fn=_inside)
        found.update(trace(begun).get_trace(*args, **kwargs))

    try:
        jax.eval_shape(look, jax.random.key(0))
    except _NEEDS_VALUES:
        look(jax.random.key(0))
    return found


def _inside(site: Message) -> Any:
    """Return a value inside of the support of a continuous site: an improper law has no draws."""
    is_discrete = site["type"] != "sample" or site["fn"].is_discrete
    return None if is_discrete else init_to_feasible(site)
