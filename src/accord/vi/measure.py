"""Measure what steps of a fit are taken by: an objective of a guide, on all data or on parts of them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..core import keys
from ..core.tree import change_if
from ..density import LogDensity
from ..density.minibatch import Minibatch
from ..density.weights import MAP
from ..guides.base import AbstractGuide, Params
from .anchor import NUM_PAIRS, Anchor, anchored
from .each import in_pairs, sharing
from .frame import Frame
from .given import Given
from .objectives.base import AbstractObjective, LogDensityAt
from .objectives.elbo import ELBO
from .objectives.renyi import AbstractBound
from .written.by_entry import loss_by_entry
from .written.by_site import loss_by_site
from .written.guide import Written
from .written.target import WithGuide

_NOISE, _BATCH, _PAIRS, _NEARBY = 0, 1, 2, 3  # streams of the key of a restart's steps


@dataclass(frozen=True)
class Measure:
    """An objective of a guide, and the data on which it is estimated.

    **Fields**: `guide`; `objective`; `dim`, `dtype` of positions; `is_side_by_side`, whether draws are evaluated
    together; `minibatch`, the density of a part of the data, or None for all data.
    """

    guide: AbstractGuide
    objective: AbstractObjective
    dim: int
    dtype: np.dtype
    is_side_by_side: bool
    minibatch: Minibatch | None

    @property
    def is_anchored(self) -> bool:
        """Return whether its parts of the data have an anchor that makes estimates less noisy."""
        # The positions of a guide that is a model are of other unknowns from part to part.
        is_written = isinstance(self.guide, Written)
        return self.minibatch is not None and not self.objective.is_fixed and not is_written

    @property
    def num_draws(self) -> int:
        """Number of draws of a step."""
        return 1 if self.guide.is_point else self.objective.num_draws(self.dim)

    def anchored(self, density: LogDensity, params: Params, given: Given) -> Anchor:
        """Return an anchor at the centre of the guide, around the last candidate; traced."""
        frame = Frame(given.locations[-1], given.scale)
        position = frame.position(self.guide.centre(params, self.dim, self.dtype))
        key = keys.item(given.words, jnp.uint32(_NEARBY), jnp.uint32(0))
        noise = keys.normal(key, NUM_PAIRS * self.dim, 0, self.dtype).reshape(NUM_PAIRS, self.dim)
        whole = self._kind(density)
        return anchored(whole, partial(self._part, density, given, _PAIRS), position, given.scale, noise)

    def at(
        self,
        density: LogDensity | WithGuide,
        params: Params,
        frame: Frame,
        given: Given,
        count: Int[Array, ""],
        anchor: Anchor | None,
    ) -> tuple[Float[Array, ""], Any]:
        """Return the loss at some parameters and what a stepper is told beside it, at step `count`; traced."""
        number = count.astype(jnp.uint32)
        of_step = keys.item(given.words, jnp.uint32(_NOISE), number)
        if self.objective.is_fixed:
            noise = given.noise
        else:
            noise = self._noise(of_step, count)
        if isinstance(density, WithGuide):
            return self._of_written(density, params, given, count, noise)
        if self.minibatch is not None and self.objective.is_fixed:
            # A function of the parameters needs parts that stay the same; those of all draws make a larger one.
            # Draws with opposite noise share theirs.
            each = in_pairs(partial(self._of_part, density, frame, given), self.is_side_by_side)
            return self.objective.measured(self.guide, params, noise, each)
        log_density = self._shared(density, frame, given, count, anchor)
        each = sharing(log_density, self.is_side_by_side)
        return self.objective.measured(self.guide.towards(log_density), params, noise, each)

    def _noise(self, of_step: Array, count: Array) -> Array:
        """Return the noise of a step, computed once: else the cipher would be in each operation that needs a draw."""

        def noise(words: Array) -> Array:
            return self.guide.noise(words, self.num_draws, self.dim, self.dtype)

        shape = jax.eval_shape(noise, of_step)
        # Always true, which XLA does not know.
        return change_if(count >= 0, lambda _: noise(of_step), jnp.zeros(shape.shape, shape.dtype))

    def _of_written(
        self, target: WithGuide, params: Params, given: Given, count: Array, noise: Array
    ) -> tuple[Array, Any]:
        guide, density = target.guide, target.density
        assert isinstance(guide, Written)
        if self.minibatch is not None:
            words = keys.item(given.words, jnp.uint32(_BATCH), jnp.uint32(0))
            density = self.minibatch.at(density.data, words, count)
            guide = guide.at_part(density.data[self.minibatch.words])

        def loss(params: Params) -> Array:
            if guide.scored or guide.closed:
                assert isinstance(self.objective, ELBO)
                return loss_by_site(self.objective, guide, density, params, noise, self.is_side_by_side)

            if guide.known.row is not None:
                assert isinstance(self.objective, AbstractBound)
                return loss_by_entry(self.objective, guide, density, params, noise, self.is_side_by_side)

            def log_density(values: Any) -> Array:  # which depends on parameters of the model
                return guide.log_joint(density, params, values)

            return self.objective.loss(guide, params, noise, sharing(log_density, self.is_side_by_side))

        return jax.value_and_grad(loss)(params)

    def _shared(
        self, density: LogDensity, frame: Frame, given: Given, count: Array, anchor: Anchor | None
    ) -> LogDensityAt:
        """Return the log density of coordinates that all draws of a step share."""
        log_density = self._kind(density)
        if self.minibatch is not None:
            log_density = self._part(density, given, _BATCH, count)
        if anchor is not None:
            log_density = anchor.controlled(log_density)
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
