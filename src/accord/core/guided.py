"""Name the functions by which particles look at the data before they move."""

from collections.abc import Callable, Mapping
from typing import Any

from .errors import OptionError
from .options import shown

Proposal = Callable[[Mapping[str, Any], Any, Any], Mapping[str, Any]]
"""From values of unknowns that are given, the carry and an entry of `xs` to a distribution for each state."""

Lookahead = Callable[[Mapping[str, Any], Any, Any], Any]
"""From the same to the log of how well a particle will explain the step."""


def check_functions(asked: str, proposal: Any, lookahead: Any) -> None:
    """Raise `OptionError`, which begins with `asked`, for what is neither a function nor None."""
    for word, given in (("proposal", proposal), ("lookahead", lookahead)):
        if given is not None and not callable(given):
            raise OptionError(
                f"{asked}: {word} must be a function of (values, carry, x), got {shown(given)}."
            )
