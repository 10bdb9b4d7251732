"""Build a rule from its description in a manifest."""

from collections.abc import Mapping
from typing import Any

from ...core.errors import StorageError
from ..stored.checked import built_from
from .base import AbstractRule
from .clock import Seconds
from .combined import AllOf, AnyOf
from .ess import ESS
from .mcse import MCSE
from .r_hat import RHat

_RULES: dict[str, type[AbstractRule]] = {rule.__name__: rule for rule in (ESS, RHat, MCSE, Seconds)}
_COMBINED: dict[str, type[AllOf] | type[AnyOf]] = {"AllOf": AllOf, "AnyOf": AnyOf}


def rule_from(described: Mapping[str, Any]) -> AbstractRule:
    """Build the rule that `described` wrote; only rules of accord are ever built from a file.

    **Raises** `StorageError` for any other description.
    """
    with built_from("the rule that ends the run"):
        return _rule_from(described)


def _rule_from(described: Mapping[str, Any]) -> AbstractRule:
    options = dict(described)
    name = options.pop("rule")
    if name in _COMBINED:
        return _COMBINED[name].of(*map(_rule_from, options["rules"]))
    if name not in _RULES:
        raise StorageError(f"the run ends by the rule {name!r}, which this version of accord does not have.")
    return _RULES[name](**options)
