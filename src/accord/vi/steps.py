"""Take steps down an objective: by a climb where it is a function, or by an optimiser of optax where it is noisy.

Like a kernel, a stepper asks where to evaluate and is told what is there.
"""

import abc
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from ..core.tree import node, where
from ..guides.base import AbstractGuide, Params
from ..optimise.lbfgs import LBFGS, LBFGSState, Point

_DECAY = 8  # of the average: it stands for the last ninth of the steps, roughly


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


class Climb(AbstractStepper):
    """Climb by L-BFGS to the exact minimum of a function."""

    def __init__(self, like: Params):
        flat, self._unravel = ravel_pytree(like)
        self._search = LBFGS(epsilon=float(jnp.finfo(flat.dtype).eps))

    def _point(self, params: Params, loss: Array, gradient: Params) -> Point:
        return Point(ravel_pytree(params)[0], -loss, -ravel_pytree(gradient)[0])

    def begin(self, params: Params, loss: Float[Array, ""], gradient: Params) -> LBFGSState:
        """See `AbstractStepper.begin`."""
        return self._search.init(self._point(params, loss, gradient))

    def ask(self, state: LBFGSState) -> Params:
        """See `AbstractStepper.ask`."""
        return self._unravel(self._search.ask(state))

    def tell(
        self,
        state: LBFGSState,
        params: Params,
        loss: Float[Array, ""],
        gradient: Params,
        is_finite: Bool[Array, ""],
        rate: Float[Array, ""],
    ) -> LBFGSState:
        """See `AbstractStepper.tell`."""
        del is_finite, rate  # the line search sees to both
        return self._search.tell(state, self._point(params, loss, gradient))

    def found(self, state: LBFGSState) -> Params:
        """See `AbstractStepper.found`."""
        return self._unravel(state.point.position)

    def is_over(self, state: LBFGSState) -> Bool[Array, ""]:
        """See `AbstractStepper.is_over`."""
        return state.is_over


@node
class DescentState:
    """State of a descent. **Fields**: `params`; `optimizer`, optax's state; `average` of late parameters; `count`."""

    params: Any
    optimizer: Any
    average: Any
    count: Any


class Descent(AbstractStepper):
    """Descend by an optimiser of optax; the result is an average of late parameters, which has less noise.

    **Source**: the weights of the average, Shamir & Zhang (2013), "Stochastic gradient descent for non-smooth
    optimization", ICML, section 4.
    """

    def __init__(self, optimizer: optax.GradientTransformation):
        self._optimizer = optax.with_extra_args_support(optimizer)

    def begin(self, params: Params, loss: Float[Array, ""], gradient: Params) -> DescentState:
        """See `AbstractStepper.begin`."""
        del loss, gradient
        return DescentState(params, self._optimizer.init(params), params, jnp.zeros((), jnp.int32))

    def ask(self, state: DescentState) -> Params:
        """See `AbstractStepper.ask`."""
        return state.params

    def tell(
        self,
        state: DescentState,
        params: Params,
        loss: Float[Array, ""],
        gradient: Params,
        is_finite: Bool[Array, ""],
        rate: Float[Array, ""],
    ) -> DescentState:
        """See `AbstractStepper.tell`: a step whose numbers are not finite is not taken."""
        updates, optimizer = self._optimizer.update(
            gradient, state.optimizer, params, value=loss, grad=gradient
        )
        updates = jax.tree.map(lambda each: (rate * each).astype(each.dtype), updates)
        after: Any = optax.apply_updates(params, updates)
        count = state.count + 1
        weight = (_DECAY + 1) / (count + _DECAY)

        def mixed(old: Array, new: Array) -> Array:
            return (old + weight.astype(old.dtype) * (new - old)).astype(old.dtype)

        average = jax.tree.map(mixed, state.average, after)
        return where(is_finite, DescentState(after, optimizer, average, count), state)

    def found(self, state: DescentState) -> Params:
        """See `AbstractStepper.found`."""
        return state.average

    def at_level(self, state: DescentState) -> DescentState:
        """See `AbstractStepper.at_level`: the average begins anew."""
        count: Any = np.zeros((), np.int32)
        return replace(state, average=state.params, count=count)

    def is_over(self, state: DescentState) -> Bool[Array, ""]:
        """See `AbstractStepper.is_over`: never, by itself."""
        return jnp.zeros((), bool)
