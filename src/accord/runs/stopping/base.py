"""State what a stopping rule is: a frozen value that judges the draws of all chains, up to one and the same draw.

A rule is looked at while chains go on, so it must not depend on how far any of them is: it sees the first so many draws
of each chain, at numbers of draws that are fixed before the run.
"""

import abc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import OptionError
from ...core.series import AbstractSeries

_TOGETHER = 2**23  # numbers that are read and judged at a time


@dataclass(frozen=True, eq=False)
class Sight:
    """Data that a rule judges.

    **Fields**
    - `draws`: by site, shape `(chain, draw, *event)`. `seconds`: since the run was begun, or taken up again.
    - `some`: by site, scalars that stand for all; None is all of them.
    - `is_brief`: whether it is enough to find one scalar that is against the rule.
    - `label`: the name of a scalar of a site.
    - `superchains`: that of each chain, where several began at one place, or None.
    """

    draws: AbstractSeries
    seconds: float
    some: Mapping[str, np.ndarray] | None
    is_brief: bool
    label: Callable[[str, int], str]
    superchains: Sequence[int] | None = None

    def blocks(self, sites: Sequence[str] | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Yield blocks of scalars of these sites, or of all: site, indices and draws `(chain, draw, scalar)`."""
        for name in self.draws if sites is None else sites:
            num_chains, num_draws = self.draws.shape(name)[:2]
            scalars = np.arange(self.draws.width(name)) if self.some is None else self.some.get(name)
            if scalars is None or not len(scalars):
                continue
            step = max(_TOGETHER // max(num_chains * num_draws, 1), 1)
            for part in np.split(scalars, range(step, len(scalars), step)):
                yield name, part, self.draws.columns(name, part)


@dataclass(frozen=True)
class Finding:
    """Result of a rule at one check.

    **Fields**
    - `rule`: its repr. `holds`: whether it holds; None if other rules decided before all scalars were judged.
    - `text`: the value with its goal, in words.
    - `value`: value of the judged scalar that is furthest from the goal, or None.
    - `site`, `scalar`: this scalar; `scalar` counts in row-major order.
    - `times`: estimated factor of draws that would suffice; None if unknown.
    """

    rule: str
    holds: bool | None
    text: str
    value: float | None = None
    site: str | None = None
    scalar: int | None = None
    times: float | None = None


class AbstractRule(abc.ABC):
    """Stopping rule. `a & b` holds if both hold, `a | b` if one holds."""

    @property
    @abc.abstractmethod
    def leaves(self) -> tuple["AbstractLeaf", ...]:
        """Elementary rules that it combines, each once."""

    @abc.abstractmethod
    def is_met(self, met: Mapping["AbstractLeaf", bool]) -> bool:
        """Return whether it holds, given whether each of its leaves does."""

    @abc.abstractmethod
    def check(self, sites: Collection[str], num_chains: int) -> None:
        """Raise `OptionError` if it cannot judge a run with these sites and chains."""

    @abc.abstractmethod
    def described(self) -> dict[str, Any]:
        """Describe the rule as JSON: its name under `"rule"`, which no rule of accord has, and its fields."""

    def __and__(self, other: object) -> "AbstractRule":
        from .combined import AllOf

        return AllOf.of(self, other)

    def __or__(self, other: object) -> "AbstractRule":
        from .combined import AnyOf

        return AnyOf.of(self, other)

    def __bool__(self) -> bool:
        raise OptionError(
            f"{self!r} is neither true nor false before a run. Combine rules by & and |, not by `and` and `or`."
        )


class AbstractLeaf(AbstractRule):
    """Elementary rule, which combines no others."""

    @property
    def leaves(self) -> tuple["AbstractLeaf", ...]:
        """Itself."""
        return (self,)

    def is_met(self, met: Mapping["AbstractLeaf", bool]) -> bool:
        """See `AbstractRule.is_met`."""
        return met[self]

    @abc.abstractmethod
    def judge(self, sight: Sight) -> Finding:
        """Judge the draws of `sight`, by a pure function of them; where it raises, the run ends with its draws."""
