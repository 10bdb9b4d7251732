"""Define populations: chains that move in step, learn together, and meet after each draw."""

import abc
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Bool

from ..adaptation.base import AbstractAdaptation, AbstractPopulationAdaptation
from ..core.stats import Info
from .base import AbstractKernel


class AbstractPopulation(AbstractKernel):
    """A kernel whose chains share adaptation and move in step, as one group.

    `superchains`: sets of chains that begin at one point each; None if every chain has a start of its own.
    """

    is_ensemble: ClassVar[bool] = True
    adaptation_kind: ClassVar[type[AbstractAdaptation]] = AbstractPopulationAdaptation

    superchains: eqx.AbstractVar[int | None]

    @property
    @abc.abstractmethod
    def adaptation(self) -> AbstractPopulationAdaptation:
        """What all chains learn together."""

    @abc.abstractmethod
    def seen(self, before: Any, after: Any, info: Info, tuning: Any, moves: Bool[Array, " chain"]) -> Any:
        """Return what the adaptation learns from a draw of all chains: arrays with an axis of chains in front.

        `before` and `after` are the states around the draw's last evaluation; `moves`, whether a chain counts.
        """
