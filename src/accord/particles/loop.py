"""Find the scan that has states, for the two filters that move particles through it."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ..language import AbstractLoopHandler, Loop, LoopResult, Steps
from .around import weight_before
from .fit import Fit
from .moves import Moves, is_inside_of_step, states_of


class ParticleLoop(AbstractLoopHandler):
    """Run the scan that has states for one particle of many, vectorised over the axis `PARTICLES`.

    **Fields**: `slot`, the place of the particle; `key`, the random key of the filter; `fit`; `found`, to which it adds
    what it finds beside the result of the scan.
    """

    slot: Any
    key: Any
    fit: Fit = eqx.field(static=True)
    found: dict[str, Any] = eqx.field(static=True)

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        """See `AbstractLoopHandler.run`."""
        if is_inside_of_step():
            return default(loop)
        before = weight_before(self.fit.uncounted, jnp.result_type(float))  # ahead of the sites of the scan
        steps = Steps.of(loop)
        states = states_of(steps)
        return self.through(Moves.of(steps, states), before) if states else steps.scanned()

    @abstractmethod
    def through(self, moves: Moves, before: Any) -> LoopResult:
        """Move the particles through all steps; `before`, log weight of the particle before the first one."""
