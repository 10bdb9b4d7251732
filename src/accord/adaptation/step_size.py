"""Learn the step size: find its order of magnitude by probing, then average it to a target acceptance.

Runs inside the compiled program, once for every completed draw or probe.

**Source**: Nesterov (2009) as given by Hoffman & Gelman (2014), section 3.2, with Stan's constants; the search is
their algorithm 4 with Stan's threshold.
"""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..core.tree import node, where

_SHRINKAGE, _DELAY, _DECAY = 0.05, 10.0, 0.75  # gamma, t0, kappa
_ANCHOR = np.log(10.0)  # the anchor is ten times the first step: large steps are cheap to try
_THRESHOLD = 0.8  # acceptance of one step that the search must cross
_MAX_PROBES = 100


@node
class StepSizeState:
    """State of step size adaptation. All of shape `()`.

    **Fields**: `step_size`, in whitened units; `log_average` of it over draws; `error`, the averaged gap to the target
    acceptance; `count` of draws since the last restart; `log_anchor`, which the average is drawn to; `direction` of the
    search, 0 before the first probe; `num_probes` made in it.
    """

    step_size: Float[Array, ""]
    log_average: Float[Array, ""]
    error: Float[Array, ""]
    count: Float[Array, ""]
    log_anchor: Float[Array, ""]
    direction: Int[Array, ""]
    num_probes: Int[Array, ""]

    @staticmethod
    def start(step_size: float, dtype: np.dtype) -> "StepSizeState":
        """Begin a search at `step_size`; host-side, NumPy."""
        step = np.asarray(step_size, dtype)
        numbers: list[Any] = [step, *[np.zeros((), dtype)] * 3, np.asarray(np.log(step) + _ANCHOR, dtype)]
        counts: list[Any] = [np.int32(0)] * 2
        return StepSizeState(*numbers, *counts)


def probe(state: StepSizeState, acceptance: Array) -> tuple[StepSizeState, Array]:
    """Double or halve the step until the acceptance of one step crosses 0.8; also says whether it has."""
    is_high = acceptance > _THRESHOLD
    direction = jnp.where(state.direction == 0, jnp.where(is_high, 1, -1), state.direction)
    is_found = (is_high != (direction > 0)) | (state.num_probes >= _MAX_PROBES)
    factor = jnp.where(direction > 0, 2.0, 0.5).astype(state.step_size.dtype)
    step_size = jnp.where(is_found, state.step_size, state.step_size * factor)
    zero = jnp.zeros_like(state.error)
    return StepSizeState(
        step_size,
        log_average=zero,
        error=zero,
        count=zero,
        log_anchor=jnp.log(step_size) + _ANCHOR.astype(zero.dtype),
        direction=direction.astype(jnp.int32),
        num_probes=state.num_probes + 1,
    ), is_found


def update(state: StepSizeState, acceptance: Array, target: Array) -> StepSizeState:
    """Update the adaptation by the acceptance statistic of one draw."""
    count = state.count + 1
    rate = 1 / (count + _DELAY)
    error = (1 - rate) * state.error + rate * (target - acceptance)
    log_step = state.log_anchor - error * jnp.sqrt(count) / _SHRINKAGE
    weight = count**-_DECAY
    log_average = (1 - weight) * state.log_average + weight * log_step
    return StepSizeState(
        jnp.exp(log_step), log_average, error, count, state.log_anchor, state.direction, state.num_probes
    )


def freeze(state: StepSizeState, is_last: Array) -> StepSizeState:
    """Fix the average at the end of warm-up."""
    settled = replace(state, step_size=jnp.exp(state.log_average))
    return where(is_last, settled, state)
