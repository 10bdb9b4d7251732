"""Build a rule from its description in a manifest."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors import StorageError
from ..stored.checked import built_from
from .base import AbstractLeaf, AbstractRule, Finding, Sight
from .clock import Seconds
from .combined import AllOf, AnyOf
from .ess import ESS
from .mcse import MCSE
from .r_hat import RHat

_RULES: dict[str, type[AbstractRule]] = {rule.__name__: rule for rule in (ESS, RHat, MCSE, Seconds)}
_COMBINED: dict[str, type[AllOf] | type[AnyOf]] = {"AllOf": AllOf, "AnyOf": AnyOf}


@dataclass(frozen=True, repr=False)
class OwnRule(AbstractLeaf):
    """Stand for a rule of a user's own, of which a run holds the description alone.

    **Fields**: `text`, that description as JSON.
    """

    text: str

    def judge(self, sight: Sight) -> Finding:
        """Raise `StorageError`, as `check`."""
        del sight
        raise self._refusal()

    def check(self, sites: Collection[str], num_chains: int) -> None:
        """Raise `StorageError`: what the rule does is not in the run."""
        del sites, num_chains
        raise self._refusal()

    def _refusal(self) -> StorageError:
        return StorageError(
            f"the run ends by {self!r}, which is no rule of this version of accord. If it is your own, give it: "
            "infer.resume(path, model, until=...)."
        )

    def described(self) -> dict[str, Any]:
        return json.loads(self.text)

    def __repr__(self) -> str:
        options = self.described()
        name = options.pop("rule")
        return f"{name}({', '.join(f'{option}={value!r}' for option, value in options.items())})"


def rule_from(described: Mapping[str, Any]) -> AbstractRule:
    """Build the rule that `described` wrote; only rules of accord are ever built from a file.

    Another one is an `OwnRule`, which judges nothing. **Raises** `StorageError` for what is no description.
    """
    with built_from("the rule that ends the run"):
        return _rule_from(described)


def _rule_from(described: Mapping[str, Any]) -> AbstractRule:
    options = dict(described)
    name = options.pop("rule")
    if name in _COMBINED:
        return _COMBINED[name].of(*map(_rule_from, options["rules"]))
    if name not in _RULES:
        if not isinstance(name, str):
            raise StorageError(f"the run ends by the rule {name!r}, which is no name.")
        return OwnRule(json.dumps(dict(described)))
    return _RULES[name](**options)
