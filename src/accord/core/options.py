"""Turn a misspelt option into an error that names the nearest right one."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import OptionError, suggest

P = ParamSpec("P")
T = TypeVar("T")


def checks_options(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that an argument it does not have raises `OptionError` with a suggestion."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                choices = [each for each in known if each != "self"]
                owner = function.__qualname__.removesuffix(".__init__")
                raise OptionError(
                    f"{owner} has no option {name!r}.{suggest(name, choices)} It takes {', '.join(choices)}."
                )
        return function(*args, **options)

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
