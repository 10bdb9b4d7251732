"""Turn a misspelt option into an error that names the nearest right one."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import OptionError, suggest
from .tracebacks import leave

P = ParamSpec("P")
T = TypeVar("T")


def checks_options(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that arguments it does not have, or lacks, raise `OptionError` with what it takes.

    It is an entry point, too: see `core.tracebacks`.
    """
    signature = inspect.signature(function)
    known = signature.parameters
    choices = [name for name in known if name != "self"]
    taken = ", ".join(choices) or "none"
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            for name in options:
                if name not in known:
                    raise OptionError(
                        f"{owner} has no option {name!r}.{suggest(name, choices)} It takes {taken}."
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
    """Do the same for the constructor of a class."""
    cls.__init__ = checks_options(cls.__init__)
    return cls


def positive_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return `value` as an int, or raise `OptionError` unless it is a whole number of at least `minimum`."""
    is_whole = isinstance(value, int) or (hasattr(value, "__index__") and not isinstance(value, bool))
    if isinstance(value, bool) or not is_whole or int(value) < minimum:
        raise OptionError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)
