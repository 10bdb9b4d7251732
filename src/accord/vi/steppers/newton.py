"""Step to the peak of a density by Newton's method, and take its curvature there."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...core.errors import SamplingError
from ...core.tree import node, where
from ...guides.base import AbstractGuide, Params
from ...guides.places import given
from .base import AbstractStepper

MOST_STEPS = 50
"""Steps of Newton's method, which doubles the number of right digits with each."""

_GAIN = 1e-6  # nats, that another step may still promise
_PART = 0.1  # of a direction, that a site has to have to be named


@node
class Seen:
    """A density at a point. **Fields**: `height`; `gradient`, shape `(dim,)`; `information`, shape `(dim, dim)`: minus
    the second derivatives.
    """

    height: Float[Array, ""]
    gradient: Float[Array, " dim"]
    information: Float[Array, "dim dim"]


@node
class NewtonState:
    """State of the search. **Fields**: `location` of the highest point so far, and what was `seen` there; `gain` that
    the next step promises, in nats; `is_settled`: it promises too little; `is_over`: it is settled, or cannot go on.
    """

    location: Float[Array, " dim"]
    seen: Seen
    gain: Float[Array, ""]
    is_settled: Bool[Array, ""]
    is_over: Bool[Array, ""]


class Newton(AbstractStepper):
    """Newton's method from a point near the peak. `epsilon`: what numbers of order one are rounded to."""

    def __init__(self, epsilon: float):
        self._epsilon = epsilon

    def blank(self, params: Params) -> Seen:
        """See `AbstractStepper.blank`."""
        location, factor = jnp.asarray(params["loc"]), jnp.asarray(params["factor"])
        unknown = jnp.full_like(factor, jnp.nan)  # which is an error at the end, unless something is seen
        return Seen(jnp.zeros((), location.dtype), jnp.zeros_like(location), unknown)

    def begin(self, params: Params, loss: Float[Array, ""], gradient: Seen) -> NewtonState:
        """See `AbstractStepper.begin`."""
        del loss
        state = self._at(params["loc"], gradient)
        return replace(state, is_settled=jnp.zeros((), bool), is_over=~jnp.isfinite(state.gain))

    def _at(self, location: Array, seen: Seen) -> NewtonState:
        gain = seen.gradient @ _step(seen) / 2
        least = self._epsilon * (1 + 4 * jnp.abs(seen.height))
        is_curved = jnp.isfinite(gain)
        is_settled = is_curved & (gain <= least)
        return NewtonState(location, seen, gain, is_settled, is_settled | ~is_curved)

    def ask(self, state: NewtonState) -> Params:
        """See `AbstractStepper.ask`."""
        return {"loc": state.location + _step(state.seen), "factor": state.seen.information}

    def tell(
        self,
        state: NewtonState,
        params: Params,
        loss: Float[Array, ""],
        gradient: Seen,
        is_finite: Bool[Array, ""],
        rate: Float[Array, ""],
    ) -> NewtonState:
        """See `AbstractStepper.tell`: the search ends where a step gains nothing, or promises no less than before."""
        del loss, rate
        after = self._at(params["loc"], gradient)
        noise = 4 * self._epsilon * jnp.abs(state.seen.height)
        is_better = is_finite & (after.seen.height >= state.seen.height - noise) & (after.gain < state.gain)
        is_near = state.gain <= _GAIN + 100 * self._epsilon * jnp.abs(state.seen.height)
        ended = NewtonState(state.location, state.seen, state.gain, is_near, jnp.ones((), bool))
        return where(is_better, after, ended)

    def found(self, state: NewtonState) -> Params:
        """See `AbstractStepper.found`."""
        return {"loc": state.location, "factor": jnp.linalg.cholesky(state.seen.information)}

    def is_over(self, state: NewtonState) -> Bool[Array, ""]:
        """See `AbstractStepper.is_over`."""
        return state.is_over

    def check(self, state: NewtonState, guide: AbstractGuide) -> None:
        """See `AbstractStepper.check`: the density is to curve down in all directions."""
        matrix: Any = np.asarray(state.seen.information, float)
        places = given(getattr(guide, "places", None), type(guide).__name__)
        if not np.isfinite(matrix).all():
            raise SamplingError(
                "Laplace: where the climb ended, the density or its second derivatives are not finite. "
                "infer.check(model) looks for where; or take another guide, such as infer.guides.FullRank()."
            )
        # In units in which each coordinate by itself curves by one, so that units do not count.
        diagonal = np.abs(np.diag(matrix))
        scales = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
        curvatures, axes = np.linalg.eigh(matrix * scales * scales[:, None])
        least = self._epsilon**0.625
        if curvatures[0] > least:
            return
        is_bad = curvatures <= least
        how = "does not fall" if curvatures[0] >= -least else "rises"
        names = places.names_at(np.linalg.norm(axes[:, is_bad], axis=1) > _PART)
        raise SamplingError(
            f"Laplace: where the climb ended, the density {how} along a direction of {_listed(names)}, so that no "
            "normal matches it. See whether the data determine these sites (infer.check), give them a prior that does, "
            "or draw with infer.sample."
        )


def _step(seen: Seen) -> Array:
    """Return Newton's step; NaN where the density does not curve down in all directions."""
    factor = jnp.linalg.cholesky(seen.information)
    return jax.scipy.linalg.cho_solve((factor, True), seen.gradient)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:5])) + (" and others" if len(names) > 5 else "")
