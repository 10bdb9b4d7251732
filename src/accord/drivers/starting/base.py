"""State where chains begin: what a user asks for, and the places that follow from it, chain by chain and try by try."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...density import LogDensity

MAX_TRIES = 100
AT_ONCE = 10
"""Places that one call works out, so that it costs little; always as many, since another number may be other bits."""


class AbstractPoints(abc.ABC):
    """The places where chains may begin, in the order in which they are tried.

    Plain values, so that they can be sent to workers: a chain begins at the same place whoever looks for it, beside
    whichever others.
    """

    @property
    @abc.abstractmethod
    def origin(self) -> str:
        """Where they come from, in words that continue "starting points"."""

    @abc.abstractmethod
    def num_tries(self, chain: int) -> int:
        """How many places there are for a chain; one that is the user's own is the only one."""

    @abc.abstractmethod
    def is_given(self, chain: int) -> bool:
        """Whether its places hold values that the user gave, so that it begins at one of them and nowhere else."""

    @abc.abstractmethod
    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        """Place number `attempt` of a chain: shape `(dim,)`, unconstrained; a function of these numbers alone."""


class AbstractStart(abc.ABC):
    """What is asked for by `init=`. A frozen value."""

    @abc.abstractmethod
    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> AbstractPoints:
        """The places where `chains` begin, in the scope of the density's precision.

        **Raises** `DataError` for values that do not fit the model; `ModelError` and `SiteError` for a prior that
        cannot be drawn from.
        """

    @abc.abstractmethod
    def described(self) -> dict[str, Any]:
        """What a manifest says of it: its `kind` and options, in plain JSON."""

    def kept(self) -> dict[str, Any]:
        """What has to be stored beside that for the run to begin there again, in plain JSON."""
        return {}


def num_tries_ahead(dim: int) -> int:
    """How many places are worked out before the run: as many as take 256 KiB, in tens, between 10 and 100."""
    return int(np.clip(2**18 // (8 * dim) // AT_ONCE * AT_ONCE, AT_ONCE, MAX_TRIES))
