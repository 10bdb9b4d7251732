"""Send a call to another process and its answer back, as opaque bytes."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ..core.tracebacks import in_words, shorten
from .base import Surroundings
from .surroundings import call_in


@dataclass(frozen=True)
class Call:
    """Packed call of a function.

    **Fields**: `constants`, the first arguments as far as they are bytes, which are the same in all calls of a run and
    need to travel once; `rest`, the function and its other arguments, pickled.
    """

    constants: tuple[bytes, ...]
    rest: bytes

    @staticmethod
    def of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> "Call":
        """Pack a call. What a script defines travels by value, what a module does by name."""
        import cloudpickle  # only where there are workers

        constants = tuple(takewhile(lambda each: isinstance(each, bytes), arguments))
        return Call(constants, cloudpickle.dumps((function, arguments[len(constants) :])))


def answer(expected: Surroundings, call: Call) -> bytes:
    """Make the call in a worker, in its surroundings; return its packed result or error."""
    import cloudpickle

    try:
        function, rest = pickle.loads(call.rest)
        return cloudpickle.dumps((call_in(expected, function, (*call.constants, *rest)), None))
    except BaseException as error:  # whatever it is belongs to the caller
        shorten(error)
        if words := in_words(error):
            error.add_note(f"In the worker process:\n{words}")
        return _packed_error(error)


def opened(answered: bytes) -> Any:
    """Return the result of the call, or raise its error with the remote traceback in a note."""
    value, error = pickle.loads(answered)
    if error is not None:
        raise error
    return value


def has_error(answered: bytes) -> bool:
    """Return whether the call raised."""
    return pickle.loads(answered)[1] is not None


def _packed_error(error: BaseException) -> bytes:
    """Pack an error; one that pickle cannot restore is described in words."""
    import cloudpickle

    try:
        packed = cloudpickle.dumps((None, error))
        pickle.loads(packed)
    except Exception:
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.__notes__ = getattr(error, "__notes__", [])
        return cloudpickle.dumps((None, told))
    return packed
