"""Judge a diagnostic of every scalar: the common part of the rules ESS, R-hat and MCSE."""

import abc
import math
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from ...core.errors import OptionError, suggest
from .base import AbstractLeaf, Finding, Sight
from .clock import exactly, is_number


class AbstractOfDraws(AbstractLeaf):
    """Rule on a diagnostic of every scalar of some sites, or of all latent and deterministic ones.

    Scalars with an undefined diagnostic do not count, as in the notices: constants so far (an upper triangle of zeros,
    an indicator), and values that are not finite. Without any other scalar, the rule does not hold.
    """

    sites: tuple[str, ...] | None
    is_large_good: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def goal(self) -> float:
        """Value that the worst scalar must reach."""

    @abc.abstractmethod
    def values(self, draws: np.ndarray, superchains: Sequence[int] | None) -> np.ndarray:
        """Compute the diagnostic of draws of shape `(chain, draw, k)`: shape `(k,)`, NaN if undefined.

        - `superchains`: see `Sight`.
        """

    @abc.abstractmethod
    def in_words(self, value: float, label: str) -> str:
        """Write a value with the goal."""

    @abc.abstractmethod
    def times(self, value: float) -> float | None:
        """Estimate how many times as many draws would reach the goal."""

    def judge(self, sight: Sight) -> Finding:
        """Find the scalar that is furthest from the goal, or if brief, the first block that misses it."""
        worst: tuple[float, str, int] | None = None
        for name, scalars, draws in sight.blocks(self.sites):
            values = self.values(draws, sight.superchains)
            if np.isnan(values).all():
                continue
            place = self._worst(values)
            found = (float(values[place]), name, int(scalars[place]))
            if worst is None or self._worst(np.array([worst[0], found[0]])):
                worst = found
            if sight.is_brief and not self.is_enough(worst[0]):
                break
        if worst is None:
            # Of a part of the scalars, that says nothing against it.
            return Finding(repr(self), sight.some is not None, f"{self!r}: no scalar varies yet")
        value, name, scalar = worst
        words = self.in_words(value, sight.label(name, scalar))
        return Finding(repr(self), self.is_enough(value), words, value, name, scalar, self.times(value))

    def is_enough(self, value: float) -> bool:
        """Return whether a scalar has reached the goal."""
        return value >= self.goal if self.is_large_good else value <= self.goal

    def check(self, sites: Collection[str], num_chains: int) -> None:
        for name in self.sites or ():
            if name not in sites:
                raise OptionError(
                    f"{self!r}: there is no latent or deterministic site {name!r}.{suggest(name, sites)} "
                    f"There are: {', '.join(sites)}."
                )

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._unusual())
        return f"{type(self).__name__}({exactly(self.goal)}{options})"

    def _worst(self, values: np.ndarray) -> int:
        """Return the value that is furthest from the goal."""
        return int(np.nanargmin(values) if self.is_large_good else np.nanargmax(values))

    def _unusual(self) -> list[tuple[str, Any]]:
        """Return options that differ from their defaults."""
        return [] if self.sites is None else [("sites", list(self.sites))]


def check_positive(rule: str, name: str, value: object, example: str) -> None:
    """Raise `OptionError` unless `value` is a positive, finite number."""
    if not is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise OptionError(f"{rule}: {name} must be a positive number, got {value!r}. Write {example}.")


def names_of(rule: str, sites: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names of sites as a tuple; a single name needs no list."""
    if sites is None:
        return None
    found = (sites,) if isinstance(sites, str) else sites
    if not isinstance(found, list | tuple) or not found or not all(isinstance(name, str) for name in found):
        raise OptionError(f"{rule}: sites must be names of sites, such as ['mu'], got {sites!r}.")
    return tuple(found)


def listed(sites: tuple[str, ...] | None) -> list[str] | None:
    """Convert names of sites to JSON."""
    return None if sites is None else list(sites)
