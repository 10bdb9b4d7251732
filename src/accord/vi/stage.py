"""Define a stage of a fit: one guide that is fitted by one objective, step by step, in a compiled program."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..core import keys
from ..core.tree import node, where
from ..density import LogDensity
from ..density.minibatch import Minibatch
from ..density.weights import MAP
from ..guides.base import AbstractGuide, Params
from .anchor import NUM_PAIRS, Anchor, anchored
from .each import in_pairs, sharing
from .frame import Frame
from .objectives.base import AbstractObjective, LogDensityAt
from .steps import AbstractStepper, Climb, Descent
from .written.guide import Written
from .written.target import WithGuide

NUM_CANDIDATES = 10
"""Locations of which a stage begins at the best."""

MOST_STEPS = 512
"""Steps of one call of the program."""

_FALL = 0.1  # of steps, from level to level
_MAX_BAD = 20  # steps in a row whose numbers are not finite
_STEPS, _FIXED, _START = 0, 1, 2  # keys of a restart
_NOISE, _BATCH, _PAIRS, _NEARBY = 0, 1, 2, 3  # streams of the key of its steps


@node
class Given:
    """Arguments of the program of a stage that are a restart's own.

    **Fields**: `locations`, shape `(candidate, dim)`, of frames, and `scale`, shape `(dim,)`, of all; `start`, the
    parameters to begin with; `words`, the key of the restart; `noise`, shape `(draw, noise)`, for an objective whose
    draws are fixed.
    """

    locations: Float[Array, "candidate dim"]
    scale: Float[Array, " dim"]
    start: Params
    words: UInt32[Array, " 2"]
    noise: Float[Array, "draw noise"]


@node
class StageState:
    """State of a stage between two steps.

    **Fields**
    - `num_tried`: candidates so far; `best`, the one with the lowest loss; `tried`, shape `(candidate, 2)`, loss and
      length of the gradient at each.
    - `stepper`: the state of what takes steps; `count` of steps; `level`, how often steps have become smaller, and
      `level_began`, the count when they last did.
    - `num_bad`: steps whose numbers were not finite; `num_bad_in_row`, the last ones.
    - `anchor`, by which estimates from parts of the data have less noise; None for all data.
    """

    num_tried: Int[Array, ""]
    best: Int[Array, ""]
    tried: Float[Array, "candidate 2"]
    stepper: Any
    count: Int[Array, ""]
    level: Int[Array, ""]
    level_began: Int[Array, ""]
    num_bad: Int[Array, ""]
    num_bad_in_row: Int[Array, ""]
    anchor: Anchor | None


@dataclass(frozen=True)
class Stage:
    """A guide and how it is fitted.

    **Fields**
    - `phase`: its name in a store.
    - `guide`, `objective`; `optimizer`, of optax, or None for a climb.
    - `num_steps`, at most; `num_levels`: how often steps become ten times smaller before the fit may end.
    - `dim`, `dtype` of positions; `is_side_by_side`: whether draws are evaluated together.
    - `minibatch`: the density of a part of the data, and the name of the words that say which; None for all data.
    """

    phase: str
    guide: AbstractGuide
    objective: AbstractObjective
    optimizer: Any
    num_steps: int
    num_levels: int
    dim: int
    dtype: np.dtype
    is_side_by_side: bool
    minibatch: Minibatch | None = None

    @property
    def is_climb(self) -> bool:
        """Return whether it climbs to the maximum of a function, which it knows when it is there."""
        return self.optimizer is None and (self.objective.is_fixed or self.guide.is_point)

    @property
    def is_anchored(self) -> bool:
        """Return whether its steps have parts of the data that an anchor makes less noisy."""
        is_written = isinstance(
            self.guide, Written
        )  # whose positions are of other unknowns from part to part
        return self.minibatch is not None and not self.objective.is_fixed and not is_written

    @property
    def num_draws(self) -> int:
        """Number of draws of a step."""
        return 1 if self.guide.is_point else self.objective.num_draws(self.dim)

    def given(self, seed: int, restart: int, locations: np.ndarray, scale: np.ndarray) -> Given:
        """Return what a restart gives: NumPy; `locations`, shape `(candidate, dim)`."""
        fixed = fixed_noise(self.objective, self.guide, seed, restart, self.dim, self.dtype)
        start = self.guide.start(_key(seed, restart, _START), self.dim, self.dtype)
        words: Any = _key(seed, restart, _STEPS)
        parts: Any = (locations.astype(self.dtype), scale.astype(self.dtype), start, words, fixed)
        return Given(*parts)

    def stepper(self, like: Params) -> AbstractStepper:
        """Return what takes its steps."""
        own = self.objective.stepper(like)
        if own is not None:
            return own
        return Climb(like) if self.is_climb else Descent(self.optimizer)

    def begin(self, given: Given) -> StageState:
        """Return the state before any candidate was tried; traced."""
        zero = jnp.zeros((), jnp.int32)
        infinite = jnp.full((), jnp.inf, self.dtype)
        stepper = self.stepper(given.start)
        begun = stepper.begin(given.start, infinite, stepper.blank(given.start))
        tried = jnp.full((given.locations.shape[0], 2), jnp.inf, self.dtype)
        anchor = Anchor.unknown(self.dim, self.dtype) if self.is_anchored else None
        return StageState(zero, zero, tried, begun, zero, zero, zero, zero, zero, anchor)

    def anchored(self, density: LogDensity, params: Params, given: Given) -> Anchor:
        """Return an anchor at the centre of the guide, around the last candidate; traced."""
        blank = jnp.zeros(self.guide.num_noise(self.dim), self.dtype)
        frame = Frame(given.locations[-1], given.scale)
        position = frame.position(self.guide.draw(params, blank)[0])
        key = keys.item(given.words, jnp.uint32(_NEARBY), jnp.uint32(0))
        noise = keys.normal(key, NUM_PAIRS * self.dim, 0, self.dtype).reshape(NUM_PAIRS, self.dim)
        whole = self._kind(density)
        return anchored(whole, partial(self._part, density, given, _PAIRS), position, given.scale, noise)

    def advance(
        self, density: LogDensity | WithGuide, state: StageState, given: Given, limit: Int[Array, ""]
    ) -> tuple[StageState, Float[Array, " step"], Int[Array, ""]]:
        """Take at most `limit` steps; return the state, the losses, shape `(MOST_STEPS,)`, and their number; traced."""
        losses = jnp.zeros(MOST_STEPS, self.dtype)

        def goes_on(carry: tuple[StageState, Array, Array]) -> Array:
            state, _, count = carry
            return (count < limit) & ~self.is_over(state, given)

        def step(carry: tuple[StageState, Array, Array]) -> tuple[StageState, Array, Array]:
            state, losses, count = carry
            after, loss = self._step(density, state, given)
            return after, losses.at[count].set(loss), count + 1

        return jax.lax.while_loop(goes_on, step, (state, losses, jnp.zeros((), jnp.int32)))

    def is_over(self, state: StageState, given: Given) -> Bool[Array, ""]:
        """Return whether no step is left to take; traced."""
        has_begun = state.num_tried >= given.locations.shape[0]
        is_over = self.stepper(given.start).is_over(state.stepper) | (state.num_bad_in_row >= _MAX_BAD)
        return has_begun & is_over

    def found(self, state: StageState, given: Given) -> Params:
        """Return the parameters so far; traced."""
        return self.guide.shown(self.stepper(given.start).found(state.stepper))

    def next_level(self, state: StageState, given: Given) -> StageState:
        """Return the state before steps that are ten times smaller; on the host."""
        numbers: tuple[Any, Any] = (np.asarray(state.level + 1, np.int32), np.asarray(state.count))
        stepper = self.stepper(given.start).at_level(state.stepper)
        return replace(state, stepper=stepper, level=numbers[0], level_began=numbers[1])

    def _step(
        self, density: LogDensity | WithGuide, state: StageState, given: Given
    ) -> tuple[StageState, Array]:
        num_candidates, stepper = given.locations.shape[0], self.stepper(given.start)
        is_choosing = state.num_tried < num_candidates
        place = jnp.where(is_choosing, jnp.minimum(state.num_tried, num_candidates - 1), state.best)
        params = where(is_choosing, given.start, stepper.ask(state.stepper))
        frame = Frame(given.locations[place], given.scale)
        loss, gradient = self._measured(density, params, frame, given, state)
        leaves = jax.tree.leaves(gradient)
        length = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in leaves))
        is_finite = jnp.isfinite(loss) & jnp.isfinite(length)

        is_better = is_finite & (loss < state.tried[:, 0].min())
        begun = where(is_better, stepper.begin(params, loss, gradient), state.stepper)
        rate = jnp.asarray(_FALL, self.dtype) ** state.level
        stepped = stepper.tell(state.stepper, params, loss, gradient, is_finite, rate)
        is_bad = ~is_choosing & ~is_finite & (not self.is_climb)
        seen = jnp.where(is_finite, jnp.stack([loss, length]), jnp.inf)
        after = StageState(
            state.num_tried + is_choosing,
            jnp.where(is_choosing & is_better, place, state.best).astype(jnp.int32),
            jnp.where(is_choosing, state.tried.at[place].set(seen), state.tried),
            where(is_choosing, begun, stepped),
            state.count + ~is_choosing,
            state.level,
            state.level_began,
            state.num_bad + is_bad,
            jnp.where(is_bad, state.num_bad_in_row + 1, 0).astype(jnp.int32),
            state.anchor,
        )
        return after, loss

    def _measured(
        self, density: LogDensity | WithGuide, params: Params, frame: Frame, given: Given, state: StageState
    ) -> tuple[Array, Any]:
        number = state.count.astype(jnp.uint32)
        of_step = keys.item(given.words, jnp.uint32(_NOISE), number)
        if self.objective.is_fixed:
            noise = given.noise
        else:
            noise = self.guide.noise(of_step, self.num_draws, self.dim, self.dtype)
        if isinstance(density, WithGuide):
            return self._measured_of_written(density, params, given, state.count, noise)
        if self.minibatch is not None and self.objective.is_fixed:
            # A function of the parameters needs parts that stay the same; those of all draws make a larger one.
            # Draws with opposite noise share theirs.
            each = in_pairs(partial(self._of_part, density, frame, given), self.is_side_by_side)
            return self.objective.measured(self.guide, params, noise, each)
        log_density = self._shared(density, frame, given, state)
        each = sharing(log_density, self.is_side_by_side)
        return self.objective.measured(self.guide.towards(log_density), params, noise, each)

    def _measured_of_written(
        self, target: WithGuide, params: Params, given: Given, count: Array, noise: Array
    ) -> tuple[Array, Any]:
        guide, density = target.guide, target.density
        assert isinstance(guide, Written)
        if self.minibatch is not None:
            words = keys.item(given.words, jnp.uint32(_BATCH), jnp.uint32(0))
            density = self.minibatch.at(density.data, words, count)
            guide = guide.at_part(density.data[self.minibatch.words])

        def loss(params: Params) -> Array:
            def log_density(values: Any) -> Array:  # which depends on parameters of the model
                return guide.log_joint(density, params, values)

            return self.objective.loss(guide, params, noise, sharing(log_density, self.is_side_by_side))

        return jax.value_and_grad(loss)(params)

    def _shared(self, density: LogDensity, frame: Frame, given: Given, state: StageState) -> LogDensityAt:
        """Return the log density of coordinates that all draws of a step share."""
        log_density = self._kind(density)
        if self.minibatch is not None:
            log_density = self._part(density, given, _BATCH, state.count)
        if state.anchor is not None:
            log_density = state.anchor.controlled(log_density)
        return frame.within(log_density, self.guide.points(self.dim))

    def _of_part(self, density: LogDensity, frame: Frame, given: Given, number: Array) -> LogDensityAt:
        log_density = self._part(density, given, _BATCH, number)
        return frame.within(log_density, self.guide.points(self.dim))

    def _part(self, density: LogDensity, given: Given, stream: int, number: Array) -> LogDensityAt:
        """Return the log density of a part of the data, by its number in a stream."""
        assert self.minibatch is not None
        words = keys.item(given.words, jnp.uint32(stream), jnp.uint32(0))
        return self._kind(self.minibatch.at(density.data, words, number))

    def _kind(self, density: LogDensity) -> LogDensityAt:
        return (lambda at: density.value(at, MAP)) if self.guide.is_point else density


def fixed_noise(
    objective: AbstractObjective, guide: AbstractGuide, seed: int, restart: int, dim: int, dtype: np.dtype
) -> np.ndarray:
    """Return the noise of all steps of a restart, for an objective whose draws are fixed, shape `(draw, noise)`."""
    return objective.fixed_noise(_key(seed, restart, _FIXED), dim, guide.num_noise(dim), dtype)


def _key(seed: int, restart: int, number: int) -> np.ndarray:
    return keys.item(keys.chain_key(seed, restart), np.uint32(keys.USE_FIT), np.uint32(number))
