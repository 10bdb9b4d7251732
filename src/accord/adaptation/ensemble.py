"""Learn the step size and the trajectory length of chains that move in step, from all of them at each draw.

Runs inside the compiled program. What is learnt depends on the draws of the whole ensemble and on nothing else, so that
it does not matter how a run is cut into blocks.

**Source**: Hoffman, Radul & Sountsov (2021), AISTATS: the trajectory length that makes squared distances from the
centre change most (their equation 11), by stochastic ascent; the harmonic mean of acceptance. Sountsov & Hoffman
(2021), arXiv:2110.11576: most for the time that it takes; without that, hardly anything tells lengths beyond a quarter
of a period from each other, and what is learnt is chance. Departures: distances are whitened by the metric; lengths are
measured by their mean, not their largest; and there is a least length, without which chains that all begin far apart
look as if they had arrived (see `pooled_metric`).
"""

from dataclasses import fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node, where
from . import step_size as step_sizes
from .metric import Metric
from .step_size import StepSizeState

_RATE, _MEMORY, _LARGEST_MOVE = 0.05, 0.95, 0.35  # Adam's, without momentum, on the logarithm
_LEAST_ACCEPTANCE = (
    0.02  # of a chain in the harmonic mean: one that is stuck counts as much as fifty, not for all
)
_SLACK = 0.5  # that the logarithm may lie below the least one, which falls as the metric gets better
_EARLY_STEPS = (
    2  # of a trajectory, a draw: the first metrics are the worst, and their trajectories the longest
)


@node
class EnsembleState(StepSizeState):
    """State of the adaptation of step size and trajectory length. All of shape `()`, equal in every chain.

    **Fields** beside those of the step size: `log_length`, of the mean trajectory in whitened units; `mean_log_length`,
    its average over draws; `square`, an average of squared slopes; `num_lengths`, draws that these averages saw;
    `least_log_length`, below which no trajectory's mean goes.
    """

    log_length: Float[Array, ""]
    mean_log_length: Float[Array, ""]
    square: Float[Array, ""]
    num_lengths: Float[Array, ""]
    least_log_length: Float[Array, ""]

    @staticmethod
    def begin(step_size: float, length: float, least: float, dtype: np.dtype) -> "EnsembleState":
        """Begin a search at `step_size` with trajectories of mean `length`, never below `least`; host-side, NumPy."""
        step = StepSizeState.start(step_size, dtype)
        zero, log_least = np.zeros((), dtype), np.asarray(np.log(max(least, 1e-10)), dtype)
        log_length = np.asarray(np.log(max(length, least)), dtype)
        own: list[Any] = [log_length, log_length, zero, zero, log_least]
        return EnsembleState(*_values(step), *own)


def jitter(draw: Int[Array, ""], dtype: Any) -> Float[Array, ""]:
    """Return a number in (0, 1) for each draw, evenly spread: the van der Corput sequence (Halton's, in base 2)."""
    word = (draw + 1).astype(jnp.uint32)
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        word = ((word >> np.uint32(shift)) & np.uint32(mask)) | ((word & np.uint32(mask)) << np.uint32(shift))
    return word.astype(dtype) * 2.0**-32


def step_factor(draw: Any, num_warmup: Any, dtype: Any) -> Any:
    """Return the factor of the step size in this draw: in a program, or on the host.

    A chain that starts where the density is steep accepts no step of the others' size, and would never move. Every
    fourth draw of the first half of warm-up takes smaller steps for it: a quarter, a 16th and a 64th.
    """
    power = ((draw // 4) % 3 + 1).astype(dtype)
    is_small = (draw % 4 == 3) & (2 * draw < num_warmup)
    return 1 - is_small.astype(dtype) * (1 - 0.25**power)


def num_steps(state: EnsembleState, draw: Array, num_warmup: Array, max_steps: int) -> Int[Array, ""]:
    """Return how many leapfrog steps all chains take in this draw."""
    mean = jnp.exp(jnp.maximum(state.log_length, state.least_log_length))
    length = 2 * jitter(draw, state.step_size.dtype) * mean
    early = jnp.minimum(_EARLY_STEPS * (draw + 4), max_steps)
    most = jnp.where(draw < num_warmup, early, max_steps)
    # Compared as numbers with a point: a length may be too large for an integer.
    return jnp.clip(jnp.ceil(length / state.step_size), 1, most.astype(length.dtype)).astype(jnp.int32)


def probe(state: EnsembleState, acceptance: Array, weight: Array) -> tuple[EnsembleState, Bool[Array, ""]]:
    """Double or halve the step by the acceptance of all chains; `acceptance` and `weight`, 1 or 0, are `(chain,)`."""
    mean = jnp.sum(acceptance * weight) / jnp.sum(weight)
    step, is_found = step_sizes.probe(state, mean)
    return _with_step(state, step), is_found


@node
class Moves:
    """Data of one draw of all chains.

    **Fields**: `start`, `end` and `momentum` at the end of the trajectories, whether taken or not, `(chain, dim)`, the
    momentum in whitened space; `acceptance`, and `weight`, 0 for chains that do not count, `(chain,)`; `num_steps`.
    """

    start: Float[Array, "chain dim"]
    end: Float[Array, "chain dim"]
    momentum: Float[Array, "chain dim"]
    acceptance: Float[Array, " chain"]
    weight: Float[Array, " chain"]
    num_steps: Int[Array, ""]


def learn(state: EnsembleState, moves: Moves, metric: Metric, target: Array, max_steps: int) -> EnsembleState:
    """Update the adaptation by one draw of all chains."""
    floored = jnp.maximum(moves.acceptance, _LEAST_ACCEPTANCE)
    harmonic = jnp.sum(moves.weight) / jnp.sum(moves.weight / floored)
    step = step_sizes.update(state, harmonic, target)
    slope = _slope(moves, metric, moves.num_steps * state.step_size)
    count = state.num_lengths + 1
    square = _MEMORY * state.square + (1 - _MEMORY) * slope**2
    root = jnp.sqrt(square / (1 - _MEMORY**count))
    move = jnp.where(root > 0, _RATE * slope / jnp.where(root > 0, root, 1), 0)
    most = jnp.log(0.5 * max_steps * state.step_size)
    log_length = state.log_length + jnp.clip(move, -_LARGEST_MOVE, _LARGEST_MOVE)
    log_length = jnp.maximum(jnp.minimum(log_length, most), state.least_log_length - _SLACK)
    share = count**-0.5
    mean = (1 - share) * state.mean_log_length + share * log_length
    learnt = replace(state, log_length=log_length, mean_log_length=mean, square=square, num_lengths=count)
    return _with_step(learnt, step)


def freeze(state: EnsembleState, is_last: Array) -> EnsembleState:
    """Fix the averages at the end of warm-up."""
    length = jnp.maximum(state.mean_log_length, state.least_log_length)
    settled = replace(_with_step(state, step_sizes.freeze(state, is_last)), log_length=length)
    return where(is_last, settled, state)


def _slope(moves: Moves, metric: Metric, time: Array) -> Float[Array, ""]:
    """Estimate the slope by log T of C / T, with C the squared change of squared distance from the centre.

    Of C / T the slope by log T is that of C, less C, over T; here it is a quarter of that, times T: of the same sign.
    """
    chance = moves.acceptance * moves.weight
    total = jnp.maximum(jnp.sum(chance), 1e-10)
    # A trajectory that ended badly weighs nothing, but nothing times infinity is not zero.
    counts = (chance > 0)[:, None]
    end, momentum = jnp.where(counts, moves.end, moves.start), jnp.where(counts, moves.momentum, 0)
    centre = jnp.sum(chance[:, None] * end, 0) / total
    centre_before = jnp.sum(moves.weight[:, None] * moves.start, 0) / jnp.sum(moves.weight)
    after, before = _whiten(metric, end - centre), _whiten(metric, moves.start - centre_before)
    change = jnp.sum(after**2, 1) - jnp.sum(before**2, 1)
    slope = jnp.sum(chance * change * (time * jnp.sum(after * momentum, 1) - change / 4)) / total
    return jnp.where(jnp.isfinite(slope), slope, 0)


def _whiten(metric: Metric, x: Float[Array, "chain dim"]) -> Float[Array, "chain dim"]:
    """Whiten differences: the inverse of `Metric.push`, row by row."""
    y = x / metric.scale
    if metric.factor.shape[-1] == 0:
        return y

    def along(y: Array) -> Array:
        shares = jnp.sum(y[:, :, None] * metric.factor, 1) * (1 / (1 + metric.stretch) - 1)
        return y + jnp.sum(shares[:, None, :] * metric.factor, 2)

    return jax.lax.cond(metric.is_diagonal, lambda y: y, along, y)


def _with_step(state: EnsembleState, step: StepSizeState) -> EnsembleState:
    names = [field.name for field in fields(StepSizeState)]
    return replace(state, **{name: getattr(step, name) for name in names})


def _values(step: StepSizeState) -> list[Any]:
    return [getattr(step, field.name) for field in fields(StepSizeState)]
