"""Take the words with which NumPyro asks for sums over discrete unknowns: accord sums them out without."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.contrib.funsor")


def config_enumerate(fn: Callable[..., Any] | None = None, default: str = "parallel") -> Any:
    """Return the function as it is, also as a decorator."""
    del default
    return (lambda function: function) if fn is None else fn


def markov(fn: Any = None, history: int = 1, keep: bool = False) -> Any:
    """Return a function or a sequence of steps as it is."""
    del history, keep
    if fn is None:
        return lambda function: function
    return _steps(fn) if isinstance(fn, Iterable) else fn


def _steps(steps: Iterable[Any]) -> Iterator[Any]:
    yield from steps
