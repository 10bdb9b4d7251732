"""Stop a run after a given time."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ...core.errors import OptionError
from ...core.options import checks_fields
from .base import AbstractLeaf, Finding, Sight


@checks_fields
@dataclass(frozen=True, repr=False)
class Seconds(AbstractLeaf):
    """Rule that holds once this many seconds have passed since the call, compiling included.

    This is the only rule that depends on the clock and not on the draws: repeated runs give the same draws, but not the
    same number of them. The run ends within about half a second, or after the current block if that takes longer, at
    the draws that all chains have made. `infer.resume` and `extend` restart the count.

    **Fields**
    - `seconds`: > 0.

    **Raises** `OptionError` for anything else.

    **Example**

    >>> rule = infer.ESS(100, sites=["mu"]) | infer.Seconds(60)
    >>> infer.sample(eight_schools(sigma, y), until=rule, draws=2000, chains=2, quiet=True).stopping.held
    True
    """

    seconds: float

    def __post_init__(self) -> None:
        if not is_number(self.seconds) or not 0 < self.seconds < math.inf:
            raise OptionError(f"Seconds: give a positive number of seconds, got {self.seconds!r}.")

    def judge(self, sight: Sight) -> Finding:
        text = f"{min(sight.seconds, self.seconds):.0f} of {self.seconds:g} s"
        return Finding(repr(self), sight.seconds >= self.seconds, text, sight.seconds)

    def check(self, sites: Collection[str], num_chains: int) -> None:
        """Accept any run."""

    def described(self) -> dict[str, Any]:
        return {"rule": "Seconds", "seconds": float(self.seconds)}

    def __repr__(self) -> str:
        return f"Seconds({exactly(self.seconds)})"


def is_number(value: object) -> bool:
    """Return whether this is a real number, and neither a bool nor NaN."""
    if isinstance(value, bool) or not hasattr(value, "__float__") or isinstance(value, complex):
        return False
    try:
        return not math.isnan(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def exactly(number: float) -> str:
    """Write a number with the fewest digits that identify it."""
    short = f"{number:g}"
    if float(short) == number:
        return short
    return str(int(number)) if float(number).is_integer() else repr(float(number))
