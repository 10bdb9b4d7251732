"""Read the stopping rule that the command line gives as `ess=1000 and rhat=1.01 or seconds=60`."""

import functools
import operator
from collections.abc import Callable

from .. import infer
from ..core.errors import OptionError, suggest
from ..runs.stopping.base import AbstractRule

_RULES: dict[str, Callable[[float], AbstractRule]] = {
    "ess": infer.ESS,
    "rhat": infer.RHat,
    "mcse": infer.MCSE,
    "seconds": infer.Seconds,
}


def rule_written(text: str | None) -> AbstractRule | None:
    """Parse a rule; `and` binds tighter than `or`. Raises `OptionError` for invalid text."""
    if text is None:
        return None
    either = [[_one(part) for part in some.split(" and ")] for some in text.strip().lower().split(" or ")]
    return functools.reduce(operator.or_, (functools.reduce(operator.and_, both) for both in either))


def _one(text: str) -> AbstractRule:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in _RULES:
        raise OptionError(
            f"--until takes {', '.join(_RULES)}, each with =VALUE, joined by and, or; got {text.strip()!r}."
            f"{suggest(name, _RULES)}"
        )
    try:
        number = float(value)
    except ValueError:
        raise OptionError(f"--until {name}= needs a number, got {value!r}.") from None
    return _RULES[name](number)
