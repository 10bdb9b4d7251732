"""Move a position and momentum by one leapfrog step, in two halves: before and after its gradient."""

from jaxtyping import Array, Float

from ..adaptation.metric.metric import Metric
from ..core.tree import node
from .momentum import Momentum, force_at, velocity
from .point import Point


@node
class PhasePoint:
    """A position with its momentum, log density and gradient.

    **Fields**: `position` and `gradient` in unconstrained space, shape `(dim,)`; `momentum` and `force` (the gradient
    pulled back); `log_density`, shape `()`.
    """

    position: Float[Array, " dim"]
    momentum: Momentum
    force: Momentum
    gradient: Float[Array, " dim"]
    log_density: Float[Array, ""]


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
