"""Move a position and momentum by one leapfrog step, in two halves: before and after its gradient."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from ..adaptation.metric.metric import Metric
from ..core.tree import node
from .momentum import Momentum, force_at, velocity
from .point import Point


@node
class PhasePoint:
    """A position with its momentum, log density and gradient.

    **Fields**: `position` and `gradient` in unconstrained space, shape `(dim,)`; `momentum`, and `force`, the gradient
    as it changes a momentum; `log_density`, shape `()`.
    """

    position: Float[Array, " dim"]
    momentum: Momentum
    force: Momentum
    gradient: Float[Array, " dim"]
    log_density: Float[Array, ""]

    @staticmethod
    def at_rest(position: Float[Array, " dim"], rank: int) -> "PhasePoint":
        """Make one that is not evaluated, for a metric with room for `rank` directions; host-side, NumPy."""
        rest: Any = Momentum.at_rest(len(position), rank, position.dtype)
        nothing: Any = np.zeros_like(position)
        zero: Any = np.zeros((), position.dtype)
        return PhasePoint(position, rest, rest, nothing, zero)


def drift(
    metric: Metric,
    step: Float[Array, ""],
    position: Float[Array, " dim"],
    momentum: Momentum,
    force: Momentum,
) -> tuple[Float[Array, " dim"], Momentum]:
    """Begin a leapfrog step of a signed size, up to its gradient: return the next position, and momentum half way.

    **Source**: Neal (2011), "MCMC using Hamiltonian dynamics", section 5.2.3.3, in coordinates whitened by `metric`.
    """
    half = momentum + force.times(0.5 * step)
    return position + step * velocity(metric, half), half


def kicked(metric: Metric, step: Float[Array, ""], half: Momentum, point: Point) -> PhasePoint:
    """End a leapfrog step, of which `drift` gave the momentum half way, where it arrived."""
    force = force_at(metric, point.gradient, half)
    return PhasePoint(
        point.position.free, half + force.times(0.5 * step), force, point.gradient, point.log_density
    )
