"""Climb to the exact minimum of an objective that is a function."""

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from ...guides.base import Params
from ...optimise.lbfgs import LBFGS, LBFGSState, Point
from .base import AbstractStepper


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
