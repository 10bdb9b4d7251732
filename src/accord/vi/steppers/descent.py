"""Descend a noisy objective by an optimiser of optax."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
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

    Of parameters in `rows`, by name with an axis, entries along it that the gradient does not reach stay where they
    are, with all that the optimiser remembers of them.

    **Source**: the weights of the average, Shamir & Zhang (2013), "Stochastic gradient descent for non-smooth
    optimization", ICML, section 4.
    """

    def __init__(
        self, optimizer: optax.GradientTransformation, rows: Mapping[str, int] = MappingProxyType({})
    ):
        self._optimizer = optax.with_extra_args_support(optimizer)
        self._rows = rows

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
        if self._rows:
            updates, optimizer = self._of_visited(gradient, updates, optimizer, state.optimizer)
        updates = jax.tree.map(lambda each: (rate * each).astype(each.dtype), updates)
        after: Any = optax.apply_updates(params, updates)
        count = state.count + 1
        weight = (_DECAY + 1) / (count + _DECAY)

        def mixed(old: Array, new: Array) -> Array:
            return (old + weight.astype(old.dtype) * (new - old)).astype(old.dtype)

        average = jax.tree.map(mixed, state.average, after)
        return where(is_finite, DescentState(after, optimizer, average, count), state)

    def _of_visited(self, gradient: Any, updates: Any, optimizer: Any, before: Any) -> tuple[Any, Any]:
        """Return updates and the state of the optimiser, as if rows without a gradient had not been asked for."""
        is_visited = {name: self._is_visited(name, each) for name, each in gradient.items()}
        updates = {name: jnp.where(is_visited[name], each, 0) for name, each in updates.items()}
        by_leaf: Any = optax.tree_utils.tree_map_params(
            self._optimizer,
            lambda _, visited: visited,
            optimizer,
            is_visited,
            transform_non_params=lambda _: jnp.ones((), bool),
        )
        return updates, jax.tree.map(jnp.where, by_leaf, optimizer, before)

    def _is_visited(self, name: str, gradient: Array) -> Array:
        """Return by entry whether the gradient of its row is not zero; shapes that broadcast."""
        if name not in self._rows:
            return jnp.ones((), bool)
        others = tuple(axis for axis in range(gradient.ndim) if axis != self._rows[name])
        return jnp.any(gradient != 0, axis=others, keepdims=True)

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
