"""Define steppers: what takes steps down an objective.

Like a kernel, a stepper asks where to evaluate and is told what is there.
"""

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ...guides.base import AbstractGuide, Params


class AbstractStepper(abc.ABC):
    """Abstract base class of what takes steps; all methods are traced, unless they say otherwise.

    `gradient` is that of the loss by the parameters, or what else the objective has measured.
    """

    def blank(self, params: Params) -> Any:
        """Return a `gradient` of zeros."""
        return jax.tree.map(jnp.zeros_like, params)

    @abc.abstractmethod
    def begin(self, params: Params, loss: Float[Array, ""], gradient: Any) -> Any:
        """Return the state at some parameters, evaluated."""

    @abc.abstractmethod
    def ask(self, state: Any) -> Params:
        """Return the parameters to evaluate next."""

    @abc.abstractmethod
    def tell(
        self,
        state: Any,
        params: Params,
        loss: Float[Array, ""],
        gradient: Any,
        is_finite: Bool[Array, ""],
        rate: Float[Array, ""],
    ) -> Any:
        """Take what was asked for; numbers need not be finite. `rate`: a factor of step sizes."""

    @abc.abstractmethod
    def found(self, state: Any) -> Params:
        """Return the parameters that are the result so far."""

    def at_level(self, state: Any) -> Any:
        """Return the state before steps of another size; on the host."""
        return state

    @abc.abstractmethod
    def is_over(self, state: Any) -> Bool[Array, ""]:
        """Return whether no step is left to take."""

    def check(self, state: Any, guide: AbstractGuide) -> None:
        """Raise `SamplingError` for an end that is no result; on the host."""
        del state, guide
