"""Write down the options of NUTS that `options.py` compares with the default, without putting them into the library.

What an option changes travels in the metric, which is data: all options with one gradient a step share one compiled
program, and those with two share another.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from accord.adaptation import metric as metrics
from accord.adaptation.metric.metric import Metric
from accord.core import keys
from accord.core.tree import node, where
from accord.kernels import NUTS, nuts
from accord.kernels.base import DRAW, acceptance_of
from accord.kernels.integrator import PhasePoint, leapfrog

WARMUP = 350  # as a run whose chains settle has by default
_JITTER = 7  # a stream of random numbers within a draw that NUTS does not use


@dataclass(frozen=True)
class Option:
    """What a run does otherwise than the default.

    **Fields**
    - `balanced_from`: the part of warm-up from which the step size follows the balanced statistic; 1 is never.
    - `jitter`: half the width of the uniform factor of each draw's step size; drawn apart from the state.
    - `largest_angle`: with a value, a normal posterior is followed exactly, by rotations of at most this angle: beyond
      it a trajectory is too coarse to show where it turns.
    - `first_kick`: with a value, steps have two gradients; the first kick, as a part of the step.
    """

    balanced_from: float = 1.0
    jitter: float = 0.0
    largest_angle: float = 0.0
    first_kick: float = 0.0

    @property
    def kernel(self) -> NUTS:
        """The kernel to run inside `switched`."""
        return OptionNUTS(has_two_stages=self.first_kick > 0)

    @property
    def gradients_per_step(self) -> int:
        """How often a step evaluates the gradient."""
        return 2 if self.first_kick else 1


@node
class Switches(Metric):
    """A metric with what an option needs to know; all of shape `()` but `location`, shape `(dim,)`.

    **Fields**: `location` of the posterior's centre, if `is_located`; the others are the option's.
    """

    location: Any
    is_located: Any
    is_balanced: Any
    jitter: Any
    largest_angle: Any
    first_kick: Any

    def whiten(self, x: Any) -> Any:
        """A^-1 (x - location)."""
        y = (x - self.location) / self.scale
        if self.factor.shape[-1] == 0:
            return y
        along = jnp.sum(
            self.factor * ((1 / (1 + self.stretch) - 1) * jnp.sum(self.factor * y[:, None], 0)), 1
        )
        return jnp.where(self.is_diagonal, y, y + along)


class OptionNUTS(NUTS):
    """NUTS that does what the switches in its metric say."""

    has_two_stages: bool = eqx.field(static=True, default=False, kw_only=True)

    def advance(self, key: Any, target: Any, state: Any, tuning: Any, mode: Any, *rest: Any) -> Any:
        """See `AbstractKernel.advance`."""
        metric, step = tuning.metric, tuning.step_size
        u = keys.uniform(key, jnp.uint32(0), jnp.uint32(_JITTER), step.dtype)
        factor = jnp.where(mode == DRAW, 1 + metric.jitter * (2 * u - 1), 1)
        tuning = eqx.tree_at(lambda t: t.step_size, tuning, step * factor)

        def statistic(log_weight: Any) -> Any:
            # 2 min(1, r) / (1 + r) is the same for r and 1 / r: it does not change when start and end are exchanged.
            plain = acceptance_of(log_weight)
            balanced = 2 * plain / (1 + jnp.exp(log_weight))
            return jnp.where(metric.is_balanced & (mode == DRAW), balanced, plain)

        with mock.patch.object(nuts, "acceptance_of", statistic):
            state, info = super().advance(key, target, state, tuning, mode, *rest)
        # A normal posterior accepts rotations by any angle: they are held at the largest that is of use.
        is_held = metric.is_located & (step > metric.largest_angle)
        held = jnp.where(mode == DRAW, info.acceptance * metric.largest_angle / step, 0)
        return state, eqx.tree_at(lambda i: i.acceptance, info, jnp.where(is_held, held, info.acceptance))


def two_stages(
    target: Any, metric: Switches, step: Any, position: Any, momentum: Any, force: Any
) -> PhasePoint:
    """Kick, drift, kick, drift, kick, with two gradients.

    **Source**: first kicks of McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168, and of Blanes, Casas & Sanz-Serna
    (2014), SIAM J. Sci. Comput. 36, A1556-A1580.
    """
    momentum = momentum + metric.first_kick * step * force
    position = position + 0.5 * step * metric.push(momentum)
    momentum = momentum + (1 - 2 * metric.first_kick) * step * metric.pull(target(position)[1])
    position = position + 0.5 * step * metric.push(momentum)
    log_density, gradient = target(position)
    force = metric.pull(gradient)
    return PhasePoint(position, momentum + metric.first_kick * step * force, force, gradient, log_density)


def one_stage(
    target: Any, metric: Switches, step: Any, position: Any, momentum: Any, force: Any
) -> PhasePoint:
    """A leapfrog step; or kick by what the posterior differs from a normal one, and rotate, which follows that exactly.

    **Source**: Shahbaba, Lan, Johnson & Neal (2014), Statistics and Computing 24, 339-349, in whitened coordinates.
    """
    is_rotated = metric.is_located & (step != 0)
    angle = jnp.clip(step, -metric.largest_angle, metric.largest_angle)
    whitened = metric.whiten(position)
    half = momentum + 0.5 * angle * (whitened + force)
    turned = whitened * jnp.cos(angle) + half * jnp.sin(angle)
    rotated = metric.location + metric.push(turned)

    # One gradient serves both: where it is taken is all that differs.
    def taken(new: Any) -> tuple[Any, Any]:
        return target(jnp.where(is_rotated, rotated, new))

    plain = leapfrog(taken, metric, step, position, momentum, force)
    momentum = half * jnp.cos(angle) - whitened * jnp.sin(angle) + 0.5 * angle * (turned + plain.force)
    moved = PhasePoint(rotated, momentum, plain.force, plain.gradient, plain.log_density)
    return where(is_rotated, moved, plain)


@contextlib.contextmanager
def switched(option: Option) -> Iterator[None]:
    """Put an option in place while a run is made; for one run at a time in this process."""
    initial, learn = metrics.initial_metric, metrics.learn_metric

    def switches(metric: Metric, location: np.ndarray | None, draw: int) -> Switches:
        dtype = metric.scale.dtype.type
        is_located = location is not None and bool(np.all(np.isfinite(location)))
        return Switches(
            *(metric.scale, metric.factor, metric.stretch, metric.is_diagonal),
            location if is_located else np.zeros_like(metric.scale),
            np.bool_(is_located and option.largest_angle > 0),
            np.bool_(draw >= option.balanced_from * WARMUP),
            *(dtype(x) for x in (option.jitter, option.largest_angle, option.first_kick)),
        )

    def initial_with_switches(gradient: np.ndarray, rank: int) -> Switches:
        return switches(initial(gradient, rank), None, 0)

    def learn_with_switches(
        positions: np.ndarray, gradients: np.ndarray, previous: Metric, *asked: Any
    ) -> tuple[Switches, Any]:
        metric, choice = learn(positions, gradients, previous, *asked)
        # Where the force of the fitted normal vanishes: mean + A A' (mean gradient).
        gradient = metric.scale * gradients.mean(0)
        if not metric.is_diagonal:
            along = metric.factor.T @ gradient
            gradient = gradient + metric.factor @ (((1 + metric.stretch) ** 2 - 1) * along)
        location = positions.mean(0) + metric.scale * gradient
        # The window is the latter half of the draws so far.
        return switches(metric, location, 2 * len(positions)), choice

    integrator = two_stages if option.first_kick else one_stage
    with (
        mock.patch.object(nuts, "leapfrog", integrator),
        mock.patch.object(metrics, "initial_metric", initial_with_switches),
        mock.patch.object(metrics, "learn_metric", learn_with_switches),
    ):
        yield
