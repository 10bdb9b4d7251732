"""Combine stopping rules: all of them, or any."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ...core.errors import OptionError
from .base import AbstractLeaf, AbstractRule


@dataclass(frozen=True, repr=False)
class AbstractCombined(AbstractRule):
    """Combination of several rules, written by `&` and `|`."""

    rules: tuple[AbstractRule, ...]

    @classmethod
    def of(cls, *rules: object) -> Self:
        """Combine rules, and flatten combinations of the same kind. Raises `OptionError` otherwise."""
        found: list[AbstractRule] = []
        for rule in rules:
            if not isinstance(rule, AbstractRule):
                raise OptionError(
                    f"rules combine with rules, such as infer.ESS(1000) & infer.RHat(1.01); got {rule!r}."
                )
            found.extend(rule.rules if isinstance(rule, cls) else (rule,))
        return cls(tuple(found))

    @property
    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(dict.fromkeys(leaf for rule in self.rules for leaf in rule.leaves))

    def check(self, sites: Collection[str], num_chains: int) -> None:
        for rule in self.rules:
            rule.check(sites, num_chains)

    def described(self) -> dict[str, Any]:
        return {"rule": type(self).__name__, "rules": [rule.described() for rule in self.rules]}


@dataclass(frozen=True, repr=False)
class AllOf(AbstractCombined):
    """Rule that holds if all its rules hold."""

    def is_met(self, met: Mapping[AbstractLeaf, bool]) -> bool:
        return all(rule.is_met(met) for rule in self.rules)

    def __repr__(self) -> str:
        return " & ".join(f"({rule!r})" if isinstance(rule, AnyOf) else repr(rule) for rule in self.rules)


@dataclass(frozen=True, repr=False)
class AnyOf(AbstractCombined):
    """Rule that holds if one of its rules holds."""

    def is_met(self, met: Mapping[AbstractLeaf, bool]) -> bool:
        return any(rule.is_met(met) for rule in self.rules)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.rules))
