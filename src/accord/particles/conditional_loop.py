"""Run the scan of a model as a particle filter that keeps a reference trajectory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..language import LoopResult
from ..resampling import AbstractConditionalResampling, Uniforms
from . import weights
from .loop import ParticleLoop
from .memory import steps_felt
from .moves import Moves
from .numbers import FOLLOW, RESAMPLE, key_of
from .paths import along, chosen, gathered, path_of


@dataclass(frozen=True)
class ConditionalWay:
    """How particles are moved beside a reference.

    **Fields**: `particles`, their number with the reference; `resampling`; `has_ancestor_sampling`, whether the
    reference gets another past at each step; `asked`, with which errors begin.
    """

    particles: int
    resampling: AbstractConditionalResampling
    has_ancestor_sampling: bool
    asked: str


class ConditionalLoop(ParticleLoop):
    """Run the scan as a filter of which the first particle is the reference, resampled at every step.

    **Fields**: `reference`, values of the states by name, with steps along their first axes; `way`; others as of
    `ParticleLoop`.
    """

    reference: Mapping[str, Any]
    way: ConditionalWay = eqx.field(static=True)

    def through(self, moves: Moves, before: Any) -> LoopResult:
        """See `ParticleLoop.through`.

        `found` gets `log_weight` of the particle at the end and `first`, the place of its first ancestor.
        """
        inputs = moves.inputs()
        reference = moves.in_order({name: self.reference[name] for name in moves.states.values()})
        num_felt = self._num_felt(moves, inputs, reference)

        def body(state: Any, number: Any) -> tuple[Any, Any]:
            carry, log_weight = state
            ahead = self._ahead(moves, inputs, reference, carry, number, num_felt)
            ancestor = self._ancestor(log_weight, ahead, number)
            moved = moves(chosen(carry, ancestor), moves.at(inputs, number))
            log_weight, _ = weights.possible(moved.others)
            return (moved.carry, log_weight), (moved.output, moved.arrays, ancestor)

        start = (moves.init, weights.possible(before)[0])
        (carry, log_weight), found = jax.lax.scan(body, start, jnp.arange(moves.length))
        outputs, arrays, ancestors = found
        first, path = path_of(self.slot, ancestors)
        outputs, arrays = moves.in_order(along((outputs, arrays), path))
        self.found.update(log_weight=log_weight, first=first)
        return moves.steps.result(carry, outputs, arrays)

    def _num_felt(self, moves: Moves, inputs: Any, reference: Mapping[str, Any]) -> int:
        if not self.way.has_ancestor_sampling:
            return 0
        one = {name: value[0] for name, value in reference.items()}
        return steps_felt(moves, inputs, one, self.fit.varies, self.way.asked)

    def _ahead(
        self, moves: Moves, inputs: Any, reference: Mapping[str, Any], carry: Any, number: Any, num_felt: int
    ) -> Any:
        """Return how probable the reference's future is after this particle's past, as far as that is felt."""
        found = jnp.zeros((), moves.dtype)
        for ahead in range(num_felt):
            place = jnp.minimum(number + ahead, moves.length - 1)
            known = {name: value[place] for name, value in reference.items()}
            moved = moves(carry, moves.at(inputs, place), known)
            carry = moved.carry
            found += jnp.where(number + ahead < moves.length, moved.own + moved.others, 0)
        return weights.possible(found)[0]

    def _ancestor(self, log_weight: Any, ahead: Any, number: Any) -> Any:
        """Choose the ancestor of the particle: that of the reference by its future, the others given that one."""
        every = gathered(log_weight)
        of_reference = jnp.zeros((), jnp.result_type(int))
        if self.way.has_ancestor_sampling:
            joined = gathered(weights.possible(log_weight + ahead)[0])
            level = jax.random.uniform(key_of(self.key, FOLLOW, number), (), joined.dtype)
            drawn = weights.drawn(weights.relative(joined), level[None])[0].astype(of_reference.dtype)
            # If rounding leaves none that is possible, the reference stays with its own past.
            of_reference = jnp.where(jnp.max(joined) > -jnp.inf, drawn, of_reference)
        uniforms = Uniforms(key_of(self.key, RESAMPLE, number), every.dtype)
        found = self.way.resampling.ancestors(weights.relative(every), of_reference, uniforms)
        return jnp.asarray(found).astype(of_reference.dtype)[self.slot]
