"""Raise an error for a misspelt option, with the nearest right one."""

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from .errors import OptionError, suggest
from .tracebacks import leave

MOST = 2**63 - 1
"""Largest count of anything: no array is longer."""

_MOST_DIGITS, _MOST_ITEMS = 40, 10  # that an error shows
_A_SLIP = 0.85  # likeness of two words that differ by a letter

P = ParamSpec("P")
T = TypeVar("T")


def checks_options(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that unknown or missing arguments raise `OptionError`, with the ones that it takes.

    The function also becomes an entry point: see `core.tracebacks`.
    """
    signature = inspect.signature(function)
    known = signature.parameters
    choices = [name for name in known if name != "self"]
    taken = ", ".join(choices) or "none"
    owner = function.__qualname__.removesuffix(".__init__")
    public = f"{_module_of(function.__module__)}.{owner}"

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            for name in options:
                if name not in known:
                    raise OptionError(
                        f"{owner} has no option {name!r}.{hint(public, name, choices)} It takes {taken}."
                    )
            try:
                signature.bind(*args, **options)
            except TypeError as error:
                by_name = [name for name in choices if known[name].kind is inspect.Parameter.KEYWORD_ONLY]
                names = f" ({', '.join(by_name)} by name)" if by_name else ""
                raise OptionError(f"{owner}: {error}. It takes {taken}{names}.") from None
            return function(*args, **options)
        except Exception as error:
            leave(error)
            raise

    return checked


def checks_fields(cls: type[T]) -> type[T]:
    """Decorate a class so that unknown or missing constructor arguments raise `OptionError`."""
    cls.__init__ = checks_options(cls.__init__)
    return cls


def hint(owner: str, name: str, known: Iterable[str]) -> str:
    """Return a hint, with a leading space, on an argument unknown to `owner`, such as `infer.sample`.

    The hint translates another library's word, or else names the nearest known argument. It has both if one letter may
    be wrong: `start` is PyMC's word, or a slip for `starts`. It is empty if neither applies.
    """
    from .dictionary.hints import for_argument  # imported late: only errors need other libraries' words

    told = for_argument(owner, name, known)
    return f"{suggest(name, known, _A_SLIP if told else 0.6)}{told}"


def _module_of(module: str) -> str:
    """Return users' name of the public module that offers a function."""
    room = module.removeprefix("accord.").split(".")[0]
    return {"language": "ac", "model": "ac", "distributions": "dist"}.get(room, "infer")


def positive_count(name: str, value: Any, minimum: int = 1, maximum: int = MOST) -> int:
    """Return `value` as an int, or raise `OptionError` unless it is a whole number from `minimum` to `maximum`."""
    is_whole = isinstance(value, int) or (hasattr(value, "__index__") and not isinstance(value, bool))
    if isinstance(value, bool) or not is_whole or int(value) < minimum:
        raise OptionError(f"{name} must be a whole number of at least {minimum}, got {shown(value)}.")
    if int(value) > maximum:
        raise OptionError(f"{name} must be at most {maximum}, got {shown(value)}.")
    return int(value)


def shown(value: Any) -> str:
    """Return a value as an error shows it: very long whole numbers and sequences in short."""
    if isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        return f"an integer of about {int(value.bit_length() * math.log10(2)) + 1} digits"
    if isinstance(value, list | tuple) and len(value) > _MOST_ITEMS:
        return f"[{', '.join(map(shown, value[:_MOST_ITEMS]))}, ...] of length {len(value)}"
    return repr(value)
