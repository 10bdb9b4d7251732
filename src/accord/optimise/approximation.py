"""Say what an approximation of a posterior is to those who begin at it."""

import abc
from collections.abc import Sequence
from typing import Any


class AbstractApproximation(abc.ABC):
    """Abstract base class of distributions near a posterior, from which chains may start."""

    @abc.abstractmethod
    def starts(self, chains: Sequence[int], seed: int) -> list[dict[str, Any]]:
        """Return values of the latent sites for each of these chains, in the model's space.

        Those of a chain are a function of its number and the seed.
        """
