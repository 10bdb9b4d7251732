"""Define what warm-up gives to a Hamiltonian kernel."""

from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node
from .metric import Metric


@node
class Tuning:
    """Result of warm-up: `step_size`, shape `()`, in whitened units; and the metric.

    `is_early`, shape `()`: the metric is still a guess, so that long trajectories do not pay. `is_probe`, shape `()`:
    one step tells how well the step size fits, and the chain does not move. `num_steps`, shape `()`:
    steps of this draw for chains that move in step; None if each chain decides.
    """

    step_size: Float[Array, ""]
    metric: Metric
    is_early: Bool[Array, ""] | bool = False
    is_probe: Bool[Array, ""] | bool = False
    num_steps: Int[Array, ""] | None = None
