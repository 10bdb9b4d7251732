"""Define objectives: what a fit makes as low as it can."""

import abc
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar, Self

import jax
import numpy as np
from jaxtyping import Array, Float, UInt32

from ...core.modules import Module
from ...guides.base import AbstractGuide, Params
from ..steppers.base import AbstractStepper

LogDensityAt = Callable[[Float[Array, " dim"]], Float[Array, ""]]
"""From a position in the coordinates of the guide to its log density there."""

Each = Callable[[Callable[[LogDensityAt, Array], Any], Array], Any]
"""Does something with the log density and the noise of each draw, side by side or one by one. Draws share the log
density, unless each has a part of the data of its own."""


class AbstractObjective(Module):
    """Abstract base class of objectives. A frozen value of options.

    **Class variables**: `is_fixed`: whether it takes the same draws at each step, so that it is a function of the
    parameters, and a climb can end where nothing is to be gained; `moves_points`: whether it moves the points of a
    guide that has no density, and fits no other.
    """

    is_fixed: ClassVar[bool] = False
    moves_points: ClassVar[bool] = False

    def stepper(self, like: Params) -> AbstractStepper | None:
        """Return what takes steps by what is `measured`, or None for a climb or an optimiser by the gradient.

        `like`, parameters of the guide.
        """
        del like
        return None

    @abc.abstractmethod
    def num_draws(self, dim: int) -> int:
        """Return how many draws from the guide a step takes, in `dim` dimensions."""

    def fixed_noise(
        self, key: UInt32[np.ndarray, " 2"], dim: int, num_noise: int, dtype: np.dtype
    ) -> Float[np.ndarray, "draw noise"]:
        """Return the noise of all steps, shape `(draw, noise)`, on the host; with no rows unless it `is_fixed`."""
        del key, dim
        return np.zeros((0, num_noise), dtype)

    @abc.abstractmethod
    def loss(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> Float[Array, ""]:
        """Estimate it from draws of this noise, so that its gradient by the parameters is an estimate too."""

    def measured(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> tuple[Float[Array, ""], Any]:
        """Return the loss and what a stepper is told beside it: its gradient by the parameters, unless it says more."""
        return jax.value_and_grad(lambda params: self.loss(guide, params, noise, each))(params)

    def shown(self, loss: float) -> tuple[str, float]:
        """Return the name and the number of a mean loss in what is shown of progress."""
        return "ELBO", -loss

    def described(self) -> dict[str, Any]:
        """Return its name and its options for a manifest, in plain JSON."""
        return {"name": type(self).__name__, **{each.name: getattr(self, each.name) for each in fields(self)}}

    @classmethod
    def from_described(cls, options: dict[str, Any]) -> Self:
        """Build it of the options that `described` returns, without the name."""
        return cls(**options)


class AbstractMeasured(AbstractObjective):
    """Objective whose stepper is told other than a gradient of the loss: `measured` computes both."""

    def loss(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> Float[Array, ""]:
        """See `AbstractObjective.loss`: the one that is `measured`."""
        return self.measured(guide, params, noise, each)[0]


def held(params: Any) -> Any:
    """Return parameters, or a position, by which nothing is differentiated."""
    return jax.tree.map(jax.lax.stop_gradient, params)
