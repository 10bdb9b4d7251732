"""Define kernels: state machines that evaluate one gradient per advance and report complete draws."""

import abc
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import AbstractAdaptation
from ..adaptation.tuning import Tuning
from ..core.modules import Module
from ..core.stats import Ending, Stat
from ..core.tree import node
from .integrator import Target
from .rarely import Rarely, rarely
from .vectors import inner

# What an advance is for. A start point and the search for a step size use the program that draws.
EVALUATE = 0  # evaluate the gradient where the state stands, and move there
PROBE = 1  # take one step to see how well the step size fits, and do not move
DRAW = 2  # go on with the trajectory of the current draw

DIVERGENCE = 1000.0  # energy error, in nats, beyond which a trajectory is given up (Stan's constant)


ENERGY, NUM_STEPS = Stat("energy"), Stat("n_steps", "int32")
"""The Hamiltonian at the start of a trajectory, and its number of gradients."""

ACCEPTANCE_RATE, STEP_SIZE = Stat("acceptance_rate"), Stat("step_size")
"""What adaptation aims at, and the step that it chose."""


@node
class Point:
    """Position of a chain: `position` and `gradient`, shape `(dim,)`, unconstrained; `log_density`, shape `()`."""

    position: Float[Array, " dim"]
    log_density: Float[Array, ""]
    gradient: Float[Array, " dim"]


@node
class Info:
    """Report of one advance. Of shape `()` but for the last; those after `is_complete` have meaning if it is true.

    **Fields**
    - `is_complete`: the draw (or evaluation, or probe) is finished; `state.point` is its result.
    - `acceptance`: mean over the trajectory of min(1, exp(-energy error)); in [0, 1].
    - `ending`: how it ended, an `Ending`.
    - `stats`: shape `(stat,)`, one number for each of the kernel's `stats`, in their order.
    """

    is_complete: Bool[Array, ""]
    acceptance: Float[Array, ""]
    ending: Int[Array, ""]
    stats: Float[Array, " stat"]


@node
class AbstractState(abc.ABC):
    """State of a kernel between advances; `point` is the last complete draw once a trajectory has ended."""

    point: Point
    is_fresh: Bool[Array, ""]

    @property
    @abc.abstractmethod
    def last_evaluated(self) -> Float[Array, " dim"]:
        """Return the position of the newest gradient, also if it ended a trajectory; shape `(dim,)`, unconstrained."""


class AbstractKernel(Module):
    """A Markov kernel as a resumable state machine.

    **Contract**
    - `init(position)` computes nothing: the first advance, in mode `EVALUATE`, evaluates the density there.
    - `advance` evaluates `target` exactly once, whatever it does. Stopping between any two advances and continuing
      later gives the same numbers.
    - All random numbers come from `key`, which identifies the draw, and from counters kept in the state.
    - A log density of NaN, or a gradient that is not finite, has weight zero: it ends the trajectory and is reported,
      and the chain never moves there.
    """

    is_ensemble: ClassVar[bool] = False
    """Whether its chains share adaptation and move in step, as one group."""

    stats: ClassVar[tuple[Stat, ...]] = ()
    """What it reports with each draw, beside the log density and the ending."""

    @property
    @abc.abstractmethod
    def adaptation(self) -> AbstractAdaptation:
        """What warm-up learns, and how that tunes the kernel."""

    @property
    def compiled(self) -> "AbstractKernel":
        """Return the kernel for a compiled program: options that are arguments of the program get a fixed value."""
        return self

    @abc.abstractmethod
    def init(self, position: Float[Array, " dim"]) -> AbstractState:
        """Make the state of a chain at `position`, shape `(dim,)`, unconstrained, not yet evaluated."""

    @abc.abstractmethod
    def advance(
        self,
        key: UInt32[Array, " 2"],
        target: Target,
        state: Any,
        tuning: Tuning,
        mode: Int[Array, ""],
        rarely: Rarely = rarely,
    ) -> tuple[Any, Info]:
        """Evaluate one gradient; return the next state and what happened."""


def weight_of_step(energy_start: Array, momentum: Array, log_density: Array) -> tuple[Array, Array]:
    """Return the log weight of a point (minus its energy error), and the `Ending` that it would be.

    A gradient that is not finite has already made the momentum so, hence one sum sees them all. A log density of -inf
    is a finite statement (the point is impossible): it counts as a divergence.
    """
    kinetic = 0.5 * inner(momentum, momentum)
    is_non_finite = ~jnp.isfinite(kinetic) & (log_density != -jnp.inf) | ~(log_density < jnp.inf)
    log_weight = energy_start - (kinetic - log_density)
    log_weight = jnp.where(is_non_finite | jnp.isnan(log_weight), -jnp.inf, log_weight)
    ending = jnp.where(log_weight < -DIVERGENCE, Ending.DIVERGENCE, Ending.GOOD)
    of_numbers = jnp.where(jnp.isfinite(log_density), Ending.GRADIENT, Ending.LOG_DENSITY)
    return log_weight, jnp.where(is_non_finite, of_numbers, ending).astype(jnp.int32)


def stacked(*numbers: Array, dtype: Any) -> Float[Array, " stat"]:
    """Return the statistics of an `Info` from its numbers, each of shape `()`."""
    return jnp.stack([number.astype(dtype) for number in numbers])


def acceptance_of(log_weight: Array) -> Array:
    """Compute the acceptance probability min(1, exp(-energy error)) from a log weight, shape `()`."""
    return jnp.exp(jnp.minimum(log_weight, 0))
