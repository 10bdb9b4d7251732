"""Descend a noisy objective by an optimiser of optax."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from ...core.tree import node, where
from ...guides.base import Params
from .base import AbstractStepper

_DECAY = 8  # of the average: it stands for the last ninth of the steps, roughly


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
