"""Move a position and momentum by one leapfrog step, in two halves: before and after its gradient."""

from jaxtyping import Array, Float

from ..adaptation.metric.metric import Metric
from ..core.tree import node
from .point import Point


@node
class PhasePoint:
    """A position with its momentum, log density and gradient.

    **Fields**: `position` and `gradient` in unconstrained space, `momentum` and `force` (the gradient pulled back) in
    whitened space, each of shape `(dim,)`; `log_density`, shape `()`.
    """

    position: Float[Array, " dim"]
    momentum: Float[Array, " dim"]
    force: Float[Array, " dim"]
    gradient: Float[Array, " dim"]
    log_density: Float[Array, ""]


def drift(
    metric: Metric,
    step: Float[Array, ""],
    position: Float[Array, " dim"],
    momentum: Float[Array, " dim"],
    force: Float[Array, " dim"],
) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
    """Begin a leapfrog step of a signed size, up to its gradient: return the next position, and momentum half way.

    **Source**: Neal (2011), "MCMC using Hamiltonian dynamics", section 5.2.3.3, in coordinates whitened by `metric`.
    """
    half = momentum + 0.5 * step * force
    return position + step * metric.push(half), half


def kicked(metric: Metric, step: Float[Array, ""], half: Float[Array, " dim"], point: Point) -> PhasePoint:
    """End a leapfrog step, of which `drift` gave the momentum half way, where it arrived."""
    force = metric.pull(point.gradient)
    return PhasePoint(
        point.position.free, half + 0.5 * step * force, force, point.gradient, point.log_density
    )
