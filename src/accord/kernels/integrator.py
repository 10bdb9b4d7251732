"""Move a position and momentum by one leapfrog step, evaluating the gradient once."""

from collections.abc import Callable

from jaxtyping import Array, Float

from ..adaptation.metric.metric import Metric
from ..core.tree import node

Target = Callable[[Float[Array, " dim"]], tuple[Float[Array, ""], Float[Array, " dim"]]]
"""Log density and its gradient at an unconstrained position."""


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


def leapfrog(
    target: Target,
    metric: Metric,
    step: Float[Array, ""],
    position: Float[Array, " dim"],
    momentum: Float[Array, " dim"],
    force: Float[Array, " dim"],
) -> PhasePoint:
    """Kick, drift and kick by a signed `step`; a step of zero evaluates the target where it stands.

    **Source**: Neal (2011), "MCMC using Hamiltonian dynamics", section 5.2.3.3, in coordinates whitened by `metric`.
    """
    half = momentum + 0.5 * step * force
    position = position + step * metric.push(half)
    log_density, gradient = target(position)
    force = metric.pull(gradient)
    return PhasePoint(position, half + 0.5 * step * force, force, gradient, log_density)
