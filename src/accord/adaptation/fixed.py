"""Tune a kernel by nothing: it has nothing to adapt."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.stats import Info
from .base import AbstractChainAdaptation, Item


@dataclass(frozen=True)
class Fixed(AbstractChainAdaptation):
    """Adaptation of a kernel with nothing to adapt: its tuning is None, and warm-up is the way to the posterior."""

    def begin(self, dim: int, dtype: np.dtype) -> tuple[()]:
        """See `AbstractAdaptation.begin`."""
        del dim, dtype
        return ()

    def described(self, learnt: tuple[()], fitted: tuple[()]) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del learnt, fitted
        return {}

    def tuning(self, learnt: tuple[()], given: tuple[()], item: Item) -> None:
        """See `AbstractChainAdaptation.tuning`."""
        del learnt, given, item

    def update(self, learnt: tuple[()], given: tuple[()], item: Item, info: Info) -> tuple[tuple[()], bool]:
        """See `AbstractChainAdaptation.update`."""
        del given, item, info
        return learnt, True
