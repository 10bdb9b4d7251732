"""Define starts: the user's choice, and the candidates for each chain and try."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.position import Position
from ...density import LogDensity

MAX_TRIES = 100
AT_ONCE = 10
"""Places that one call works out, so that it costs little; always as many, since another number may be other bits."""


class AbstractPoints(abc.ABC):
    """Candidates for the starting points of chains, in the order of tries.

    Plain values, so that they can be sent to workers. The start of a chain does not depend on the worker or on other
    chains.
    """

    @property
    @abc.abstractmethod
    def origin(self) -> str:
        """Source of the candidates, in words that continue "starting points"."""

    @abc.abstractmethod
    def num_tries(self, chain: int) -> int:
        """Return the number of candidates for a chain; one if the user gave it."""

    @abc.abstractmethod
    def is_given(self, chain: int) -> bool:
        """Return whether the candidates of a chain hold the user's values, so that it must start at one of them."""

    @abc.abstractmethod
    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        """Return candidate `attempt` of a chain: shape `(dim,)`, unconstrained; a function of these numbers alone."""

    def whole(self, chain: int, attempt: int) -> np.ndarray | None:
        """Return the whole numbers of candidate `attempt` of a chain, shape `(count,)`; None where there are none."""
        del chain, attempt
        return None

    def at(self, seed: int, chain: int, attempt: int, like: Position) -> Position:
        """Return a candidate as a position like this one."""
        free: Any = self.position(seed, chain, attempt, len(like.free)).astype(like.free.dtype)
        whole: Any = self.whole(chain, attempt)
        return Position(free, whole)


class AbstractStart(abc.ABC):
    """Start that `init=` selects. A frozen value."""

    @abc.abstractmethod
    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> AbstractPoints:
        """Return the candidates of `chains`, in the scope of the density's precision.

        **Raises** `DataError` for values that do not fit the model; `ModelError` and `SiteError` for a prior that
        cannot be sampled.
        """

    @abc.abstractmethod
    def described(self) -> dict[str, Any]:
        """Describe it for a manifest: `kind` and options, in plain JSON."""

    def kept(self) -> dict[str, Any]:
        """Return other data that must be stored to start there again, in plain JSON."""
        return {}


def num_tries_ahead(dim: int) -> int:
    """Return how many candidates to compute before the run: up to 256 KiB, in tens, between 10 and 100."""
    return int(np.clip(2**18 // (8 * max(dim, 1)) // AT_ONCE * AT_ONCE, AT_ONCE, MAX_TRIES))
