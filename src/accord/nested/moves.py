"""Compile moves of points within the prior, above a floor of the likelihood.

A move is a slice along a random direction: an interval around the point is stepped out until its ends are outside, and
shrunk towards the point until a place within is inside. Inside is where the prior is above a level that is drawn under
it at the point, and the likelihood above the floor. All chains of a call take part in each evaluation, at their own
places, so that none waits for the moves of others.

**Source**: Neal (2003), Annals of Statistics 31(3), sections 4 and 5.1; along directions by the covariance of the live
points, as in nested slice sampling: Yallup, Kroupa & Handley (2025).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..adaptation.metric import Metric, rank_for
from ..core import keys
from ..core.tree import node, to_numpy, where
from ..density import LogDensity
from ..programs.standalone import compile_alone
from .plan import Plan
from .points import Points

FORM = "auto"
"""Form of the metric: a full covariance where there are points enough for one."""

_WIDTH = 3.0  # of the first interval, in standard deviations of the live points along a direction
_MOST_OUT, _MOST_IN = 10, 100  # steps out on either side, and places that are tried within
_TOGETHER = (
    16  # moves of each chain between which chains wait for each other: their directions are drawn at once
)

# Streams of a move, the second word of each counter: the first counts what one stream draws.
_DIRECTION, _LEVEL, _SIDES, _PLACE = range(1, 5)

_LEFT, _RIGHT, _WITHIN = (np.int32(number) for number in range(3))


@node
class Moved:
    """Points after their moves, with counts for each; arrays of NumPy or JAX.

    **Fields**: `points`; `evaluations` of the density; `stayed`, moves that found no place; `non_finite`, likelihoods
    that were NaN or +inf.
    """

    points: Points
    evaluations: Any
    stayed: Any
    non_finite: Any


@dataclass(frozen=True, eq=False)
class Moves:
    """Compiled moves. **Fields**: `program`."""

    program: Callable[..., Any]

    def __call__(self, starts: Points, words: np.ndarray, floor: Points, metric: Metric) -> Moved:
        """Move a batch of points; `words`, a key for each; above `floor`, one point."""
        return to_numpy(self.program(starts, words, floor.log_likelihood, floor.tie, metric))


@node
class _Floor:
    """Floor under the points: a log likelihood, and where theirs is equal, a number that breaks ties."""

    log_likelihood: Any
    tie: Any

    def is_below(self, log_likelihood: Array, tie: Array) -> Array:
        """Return whether a point is above the floor."""
        is_equal = log_likelihood == self.log_likelihood
        return (log_likelihood > self.log_likelihood) | (is_equal & (tie > self.tie))

    def tie_above(self, log_likelihood: Array, share: Array) -> Array:
        """Return the tie of a point above, from a uniform number."""
        return jnp.where(log_likelihood > self.log_likelihood, share, self.tie + share * (1 - self.tie))


@node
class _Move:
    """Random numbers of a move, drawn before it.

    **Fields**: `direction`, shape `(dim,)`; `level`, of the log prior under that of the point; `offset` of the point in
    the interval, and the share of the steps out to its `left`, in (0, 1).
    """

    direction: Any
    level: Any
    offset: Any
    left: Any


@node
class _Chain:
    """A chain in the middle of a move.

    `point`; `number` of the move; `phase`; `low` and `high` ends of the interval; `place` to evaluate next; steps
    `out` that are left on either side; `tries` within; and counts.
    """

    point: Points
    number: Any
    phase: Any
    low: Any
    high: Any
    place: Any
    out_left: Any
    out_right: Any
    tries: Any
    evaluations: Any
    stayed: Any
    non_finite: Any


def compiled_moves(density: LogDensity, plan: Plan) -> Moves:
    """Compile the moves of a batch."""
    dtype, dim = plan.dtype, plan.dim
    steps = np.int32(plan.steps)

    def move(
        density: LogDensity, starts: Points, words: Array, floor: Array, floor_tie: Array, metric: Any
    ) -> Moved:
        floors = _Floor(floor, floor_tie)

        def drawn(key: Array, number: Array) -> _Move:
            own = keys.fold(key, number.astype(jnp.uint32))
            along = keys.normal(own, dim, _DIRECTION, dtype)
            level, offset = _two(own, _LEVEL, dtype)
            left, _ = _two(own, _SIDES, dtype)
            return _Move(metric.push(along / jnp.linalg.norm(along)), jnp.log(level), offset, left)

        def step(chain: _Chain, key: Array, moves: _Move, first: Array, until: Array) -> _Chain:
            """Evaluate where a chain asks, and go on; a chain that is at its end stays as it is."""
            own = keys.fold(key, chain.number.astype(jnp.uint32))
            after = _step(density, chain, own, _one(moves, chain.number - first), floors)
            begun = _begun(after, _one(moves, after.number - first))
            after = where(after.number > chain.number, begun, after)
            return where(chain.number < until, after, chain)

        def some(part: Array, chains: _Chain) -> _Chain:
            """Make the next moves of all chains."""
            first = part * np.int32(_TOGETHER)
            until = jnp.minimum(first + np.int32(_TOGETHER), steps)
            numbers = first + jnp.arange(_TOGETHER, dtype=jnp.int32)
            moves = jax.vmap(lambda key: jax.vmap(lambda number: drawn(key, number))(numbers))(words)
            chains = jax.vmap(lambda chain, rows: _begun(chain, _one(rows, np.int32(0))))(chains, moves)
            each = jax.vmap(step, in_axes=(0, 0, 0, None, None))
            return jax.lax.while_loop(
                lambda chains: jnp.any(chains.number < until),
                lambda chains: each(chains, words, moves, first, until),
                chains,
            )

        zero, none = jnp.zeros(plan.batch, dtype), jnp.zeros(plan.batch, jnp.int32)
        chains = _Chain(starts, none, none, zero, zero, zero, none, none, none, none, none, none)
        parts = np.int32(-(-plan.steps // _TOGETHER))
        chains = jax.lax.fori_loop(np.int32(0), parts, some, chains)
        return Moved(chains.point, chains.evaluations, chains.stayed, chains.non_finite)

    zeros = np.zeros(plan.batch, dtype)
    example = (
        Points(np.zeros((plan.batch, dim), dtype), zeros, zeros, zeros),
        np.zeros((plan.batch, 2), np.uint32),
        zeros[0],
        zeros[0],
        Metric.diagonal(np.ones(dim, dtype), rank_for(dim, FORM)),
    )
    return Moves(compile_alone(density, move, *example))


def _two(key: Array, stream: int, dtype: Any) -> tuple[Array, Array]:
    return keys.uniforms(key, jnp.uint32(0), jnp.uint32(stream), dtype)


def _one(moves: _Move, place: Any) -> _Move:
    """Return one of the moves of a chain; beyond the last, the last."""
    return jax.tree.map(lambda rows: rows[jnp.minimum(place, np.int32(_TOGETHER - 1))], moves)


def _begun(chain: _Chain, move: _Move) -> _Chain:
    """Begin a move: place the interval at random around the point, and share the steps out among its sides."""
    low = -_WIDTH * move.offset
    left = jnp.floor(move.left * _MOST_OUT).astype(jnp.int32)
    return replace(
        chain,
        phase=jnp.full_like(chain.phase, _LEFT),
        low=low,
        high=low + _WIDTH,
        place=low,
        out_left=left,
        out_right=np.int32(_MOST_OUT - 1) - left,
        tries=jnp.zeros_like(chain.tries),
    )


def _step(density: LogDensity, chain: _Chain, key: Array, move: _Move, floor: _Floor) -> _Chain:
    """Evaluate one place along the direction of a move, and say where to go on, or end the move."""
    point = chain.point
    position = point.positions + chain.place * move.direction
    prior, jacobian, likelihood = density.parts(position)
    log_prior, likelihood = (prior + jacobian).astype(position.dtype), likelihood.astype(position.dtype)
    is_bad = jnp.isnan(likelihood) | (likelihood == jnp.inf)
    likelihood = jnp.where(is_bad, -jnp.inf, likelihood)
    is_likely = (log_prior > point.log_prior + move.level) & (log_prior < jnp.inf)
    is_inside = is_likely & floor.is_below(likelihood, point.tie)
    is_left, is_right, is_within = (chain.phase == phase for phase in (_LEFT, _RIGHT, _WITHIN))
    # Step out, while an end is inside and there are steps left.
    goes_left = is_left & is_inside & (chain.out_left > 0)
    goes_right = is_right & is_inside & (chain.out_right > 0)
    low = jnp.where(goes_left, chain.low - _WIDTH, chain.low)
    high = jnp.where(goes_right, chain.high + _WIDTH, chain.high)
    phase = jnp.where(is_left & ~goes_left, _RIGHT, jnp.where(is_right & ~goes_right, _WITHIN, chain.phase))
    # Shrink towards the point, which is at zero, after a place within that is outside.
    misses = is_within & ~is_inside
    low = jnp.where(misses & (chain.place < 0), chain.place, low)
    high = jnp.where(misses & (chain.place >= 0), chain.place, high)
    tries = _more(chain.tries, misses)
    share, again = keys.uniforms(key, tries.astype(jnp.uint32), jnp.uint32(_PLACE), position.dtype)
    within = low + share * (high - low)
    place = jnp.where(phase == _LEFT, low, jnp.where(phase == _RIGHT, high, within))
    found = where(is_within & is_inside, Points(position, log_prior, likelihood, point.tie), point)
    ends = is_within & (is_inside | (tries >= _MOST_IN))
    # The number that breaks ties is drawn anew, given the place.
    tie = jnp.where(ends, floor.tie_above(found.log_likelihood, again), point.tie)
    return replace(
        chain,
        point=replace(found, tie=tie),
        number=_more(chain.number, ends),
        phase=phase,
        low=low,
        high=high,
        place=place,
        out_left=chain.out_left - goes_left.astype(jnp.int32),
        out_right=chain.out_right - goes_right.astype(jnp.int32),
        tries=tries,
        evaluations=chain.evaluations + np.int32(1),
        stayed=_more(chain.stayed, ends & ~is_inside),
        non_finite=_more(chain.non_finite, is_bad),
    )


def _more(count: Array, is_one_more: Array) -> Array:
    return count + is_one_more.astype(count.dtype)
