"""Run the scan of a model as a particle filter: move, weigh, and resample where few particles have the weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..core.errors import OptionError
from ..core.guided import Lookahead, Proposal
from ..language import LoopResult
from ..resampling import AbstractResampling, Uniforms
from . import weights
from .loop import ParticleLoop
from .moves import Moved, Moves
from .numbers import PROPOSE, RESAMPLE, key_of
from .paths import along, chosen, gathered, path_of


@dataclass(frozen=True)
class Way:
    """How particles are moved. **Fields**: `particles`, their number; `ess`, the share below which they are resampled;
    `resampling`; `proposal` and `lookahead`, or None; `asked`, the name with which errors begin.
    """

    particles: int
    ess: float
    resampling: AbstractResampling
    proposal: Proposal | None = None
    lookahead: Lookahead | None = None
    asked: str = "infer.filter"


class FilterLoop(ParticleLoop):
    """Run the scan as a filter. **Fields**: `given`, values of unknowns by name; `way`; others as of `ParticleLoop`."""

    given: Mapping[str, Any]
    way: Way = eqx.field(static=True)

    def through(self, moves: Moves, before: Any) -> LoopResult:
        """See `ParticleLoop.through`.

        `found` gets, of the particle, `log_weight` at the end and `first`, the place of its first ancestor; and of all,
        `shares` of the weight before the first step, `log_evidence`, `ess`, shape `(step,)`, `moments` by site, and
        `bad`, the number of weights that are no numbers.
        """
        inputs = moves.inputs()
        log_weight, is_bad = weights.possible(before)
        every = gathered(log_weight)
        log_evidence = weights.log_sum(every) - jnp.log(jnp.asarray(self.way.particles, moves.dtype))
        num_bad = jnp.sum(gathered(is_bad))

        def body(state: Any, number: Any) -> tuple[Any, Any]:
            carry, log_weight, log_evidence, num_bad = state
            now = moves.at(inputs, number)
            carry, log_weight, ancestor, log_evidence = self._resampled(
                carry, log_weight, log_evidence, now, number
            )
            moved, added = self._moved(moves, carry, now, number)
            previous = weights.log_sum(gathered(log_weight))
            log_weight, is_bad = weights.possible(log_weight + added)
            every = gathered(log_weight)
            log_evidence = log_evidence + weights.log_ratio(weights.log_sum(every), previous)
            shares = weights.shares(every)
            moments = {name: weights.moments(shares, value) for name, value in gathered(moved.shown).items()}
            new = (moved.carry, log_weight, log_evidence, num_bad + jnp.sum(gathered(is_bad)))
            return new, ((moved.output, moved.arrays, ancestor), (weights.effective_size(every), moments))

        start = (moves.init, log_weight, log_evidence, num_bad)
        end, (of_particle, of_all) = jax.lax.scan(body, start, jnp.arange(moves.length))
        carry, log_weight, log_evidence, num_bad = end
        outputs, arrays, ancestors = of_particle
        first, path = path_of(self.slot, ancestors)
        outputs, arrays = moves.in_order(along((outputs, arrays), path))
        ess, moments = moves.in_order(of_all)
        self.found.update(
            log_weight=log_weight, first=first, log_evidence=log_evidence, ess=ess, moments=moments,
            bad=num_bad, shares=weights.shares(every),
        )  # fmt: skip
        return moves.steps.result(carry, outputs, arrays)

    def _resampled(self, carry: Any, log_weight: Any, log_evidence: Any, now: Any, number: Any) -> Any:
        """Choose the ancestor of the particle; return its carry and weight, its place, and the evidence so far."""
        count, ahead = self.way.particles, jnp.zeros_like(log_weight)
        if self.way.lookahead is not None:
            ahead, _ = weights.possible(
                jnp.asarray(self.way.lookahead(self.given, carry, now[0]), log_weight.dtype)
            )
        before = weights.log_sum(gathered(log_weight))
        aimed = gathered(weights.possible(log_weight + ahead)[0])
        size = weights.effective_size(aimed)
        is_due = (size < self.way.ess * count) & (size > 0)
        key = key_of(self.key, RESAMPLE, number)
        place = jnp.arange(count)
        ancestors = jax.lax.cond(is_due, lambda: self._ancestors(aimed, key, place.dtype), lambda: place)
        own = ancestors[self.slot]
        # A particle that was chosen for what is ahead is worth less by as much.
        new, _ = weights.possible(-chosen(ahead, own))
        change = weights.log_ratio(weights.log_sum(aimed), before)
        change += weights.log_sum(gathered(new)) - jnp.log(jnp.asarray(count, new.dtype))
        log_evidence = jnp.where(is_due, log_evidence + change, log_evidence)
        return chosen(carry, own), jnp.where(is_due, new, log_weight), own, log_evidence

    def _ancestors(self, log_weights: Any, key: Any, dtype: Any) -> Any:
        uniforms = Uniforms(key, log_weights.dtype)
        scheme = self.way.resampling
        try:
            found = scheme.ancestors(weights.relative(log_weights), self.way.particles, uniforms)
        except jax.errors.TracerArrayConversionError as error:
            raise OptionError(
                f"{self.way.asked}: {type(scheme).__name__}.ancestors calls NumPy, and within a filter its weights are "
                "arrays of JAX. Write it with jax.numpy where `weights` is a jax.Array."
            ) from error
        return jnp.asarray(found).astype(dtype)

    def _moved(self, moves: Moves, carry: Any, now: Any, number: Any) -> tuple[Moved, Any]:
        """Move the particle; return it, and what the step adds to its log weight."""
        if self.way.proposal is None:
            moved = moves(carry, now)
            return moved, moved.others
        proposed = self.way.proposal(self.given, carry, now[0])
        own = key_of(self.key, PROPOSE, number, self.slot)
        values, log_prob = {}, jnp.zeros((), moves.dtype)
        if not isinstance(proposed, Mapping):
            raise OptionError(
                f"{self.way.asked}: the proposal must return a mapping from each state of the step to its "
                f"distribution, got {type(proposed).__name__}."
            )
        for place, name in enumerate(moves.states.values()):
            if name not in proposed:
                raise OptionError(
                    f"{self.way.asked}: the proposal returns no distribution for the state {name!r}; it returned "
                    f"{', '.join(map(repr, proposed)) or 'none'}."
                )
            values[name] = proposed[name].sample(jax.random.fold_in(own, place))
            log_prob += jnp.sum(proposed[name].log_prob(values[name]))
        moved = moves(carry, now, values)
        return moved, moved.own + moved.others - log_prob
