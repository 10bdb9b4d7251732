"""Define a stage of a fit: one guide that is fitted by one objective, step by step, in a compiled program."""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node, where
from ..density import LogDensity
from ..guides.base import AbstractGuide, Params
from .anchor import Anchor
from .frame import Frame
from .given import START, STEPS, Given, fixed_noise, key_of
from .measure import Measure
from .objectives.base import AbstractObjective
from .steppers.base import AbstractStepper
from .steppers.climb import Climb
from .steppers.descent import Descent
from .written.guide import Written
from .written.target import WithGuide

NUM_CANDIDATES = 10
"""Locations of which a stage begins at the best."""

MOST_STEPS = 512
"""Steps of one call of the program."""

_FALL = 0.1  # of steps, from level to level
_MAX_BAD = 20  # steps in a row whose numbers are not finite


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
    - `measure`: what steps are taken by.
    - `optimizer`, of optax, or None for a climb and for objectives with steps of their own.
    - `num_steps`, at most; `num_levels`: how often steps become ten times smaller before the fit may end.
    - `is_correlated`: whether it begins with the correlations around a mean field.
    """

    phase: str
    measure: Measure
    optimizer: Any
    num_steps: int
    num_levels: int
    is_correlated: bool = False

    @property
    def guide(self) -> AbstractGuide:
        """The guide."""
        return self.measure.guide

    @property
    def objective(self) -> AbstractObjective:
        """The objective."""
        return self.measure.objective

    @property
    def dim(self) -> int:
        """Length of positions."""
        return self.measure.dim

    @property
    def dtype(self) -> np.dtype:
        """Dtype of positions."""
        return self.measure.dtype

    @property
    def is_turned(self) -> bool:
        """Return whether scales of its coordinates are a matrix."""
        return self.is_correlated and self.guide.is_affine

    @property
    def is_climb(self) -> bool:
        """Return whether it climbs to the maximum of a function, which it knows when it is there."""
        return self.optimizer is None and (self.objective.is_fixed or self.guide.is_point)

    def given(
        self,
        seed: int,
        restart: int,
        locations: np.ndarray,
        scale: np.ndarray,
        root: np.ndarray | None = None,
    ) -> Given:
        """Return what a restart gives: NumPy; `locations`, shape `(candidate, dim)`; `root`, of the covariance."""
        fixed = fixed_noise(self.objective, self.guide, seed, restart, self.dim, self.dtype)
        start = self.guide.start(key_of(seed, restart, START), self.dim, self.dtype)
        start = start if root is None else self.guide.widened(start, root)
        words: Any = key_of(seed, restart, STEPS)
        parts: Any = (locations.astype(self.dtype), scale.astype(self.dtype), start, words, fixed)
        return Given(*parts)

    def stepper(self, like: Params) -> AbstractStepper:
        """Return what takes its steps."""
        own = self.objective.stepper(like)
        if own is not None:
            return own
        if self.is_climb:
            return Climb(like)
        return Descent(self.optimizer, self.guide.known.rows if isinstance(self.guide, Written) else {})

    def begin(self, given: Given) -> StageState:
        """Return the state before any candidate was tried; traced."""
        zero = jnp.zeros((), jnp.int32)
        infinite = jnp.full((), jnp.inf, self.dtype)
        stepper = self.stepper(given.start)
        begun = stepper.begin(given.start, infinite, stepper.blank(given.start))
        tried = jnp.full((given.locations.shape[0], 2), jnp.inf, self.dtype)
        anchor = Anchor.unknown(self.dim, self.dtype) if self.measure.is_anchored else None
        return StageState(zero, zero, tried, begun, zero, zero, zero, zero, zero, anchor)

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
        loss, gradient = self.measure.at(density, params, frame, given, state.count, state.anchor)
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
