"""Compile what populations need of a model: draws from its prior, its likelihood there, and moves."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..adaptation.metric import Metric, rank_for
from ..adaptation.tuning import Tuning
from ..core import keys
from ..core.position import Position
from ..core.precision import float_dtype
from ..core.stats import Ending
from ..core.tree import node, to_numpy, where
from ..density import LogDensity
from ..density.simulate import prior_position
from ..kernels import AbstractKernel
from ..kernels.evaluated import advanced
from ..kernels.point import Point
from ..kernels.rarely import Rarely, rarely, rarely_in_lanes
from ..optimise.surface import AT_ONCE, heights
from ..programs.standalone import compile_alone
from .plan import Plan

_ON_CPU, _ON_ACCELERATORS = 16, 512  # chains of one call
_LANES = "particles"


@node
class Moved:
    """Particles that chains have moved to; arrays of NumPy or JAX.

    **Fields**, with an axis of chains in front: `positions`, shape `(move, dim)`; `log_likelihood` there, `(move,)`;
    `acceptance` of each move, `(move,)`, zero where it diverged.
    """

    positions: Any
    log_likelihood: Any
    acceptance: Any


@dataclass(frozen=True, eq=False)
class Moves:
    """Compiled moves. **Fields**: `at_once`, chains of one call; `program`."""

    at_once: int
    program: Callable[..., Any]

    def __call__(
        self,
        starts: np.ndarray,
        words: np.ndarray,
        power: float,
        step_size: float,
        metric: Metric,
        num_moves: int,
        is_probe: bool,
    ) -> Moved:
        """Move up to `at_once` chains from their starts, shape `(chain, dim)`; `words`, a key for each."""
        count, dtype = len(starts), starts.dtype
        padded = np.minimum(np.arange(self.at_once), count - 1)
        found = self.program(
            starts[padded],
            words[padded],
            np.asarray(power, dtype),
            np.asarray(step_size, dtype),
            metric,
            np.int32(num_moves),
            np.bool_(is_probe),
        )
        return jax.tree.map(lambda rows: rows[:count], to_numpy(found))


def chains_at_once(plan: Plan) -> int:
    """Return how many chains one call moves: it follows from the kind of the device and the plan alone."""
    return min(plan.ancestors, _ON_CPU if jax.default_backend() == "cpu" else _ON_ACCELERATORS)


def compiled_moves(density: LogDensity, plan: Plan, is_side_by_side: bool) -> Moves:
    """Compile the moves of a plan; `is_side_by_side`: all chains of a call in step, and not one after the other."""
    kernel, dtype, dim = plan.kernel, plan.dtype, plan.dim
    at_once = chains_at_once(plan)
    zero, row = np.zeros((), dtype), np.zeros(dim, dtype)
    blank = kernel.init(Point(Position(row), zero, row))  # pyright: ignore[reportArgumentType]

    def move(
        density: LogDensity,
        starts: Array,
        words: Array,
        power: Array,
        step_size: Array,
        metric: Any,
        num_moves: Array,
        is_probe: Array,
    ) -> Moved:
        tuning = Tuning(step_size, metric, is_probe=is_probe)

        def chain(start: Array, key: Array, way: Rarely) -> Moved:
            begun = _begun(blank, start)
            return _chain(density, kernel.compiled, begun, key, power, tuning, num_moves, plan.moves - 1, way)

        if is_side_by_side:
            lanes = rarely_in_lanes(_LANES)
            return jax.vmap(lambda start, key: chain(start, key, lanes), axis_name=_LANES)(starts, words)
        return jax.lax.map(lambda each: chain(each[0], each[1], rarely), (starts, words))

    metric = Metric.diagonal(np.ones(dim, dtype), rank_for(dim, plan.metric_form))
    example = (
        np.zeros((at_once, dim), dtype),
        np.zeros((at_once, 2), np.uint32),
        zero,
        zero,
        metric,
        np.int32(0),
        np.bool_(False),
    )
    return Moves(at_once, compile_alone(density, move, *example))


def _begun(blank: Any, start: Array) -> Any:
    state = jax.tree.map(jnp.asarray, blank)
    zero = jnp.zeros((), start.dtype)
    return replace(
        state, point=Point(Position(start), zero, jnp.zeros_like(start)), is_fresh=jnp.ones((), bool)
    )


def _chain(
    density: LogDensity,
    kernel: AbstractKernel,
    state: Any,
    key: Array,
    power: Array,
    tuning: Tuning,
    num_moves: Array,
    most: int,
    way: Rarely,
) -> Moved:
    """Move one chain; the first evaluation is where it stands."""

    def target(position: Position) -> tuple[Array, Array]:
        def tempered(free: Array) -> Array:
            prior, jacobian, likelihood = density.parts(free)
            return (prior + jacobian + power * likelihood).astype(free.dtype)

        return jax.value_and_grad(tempered)(position.free)

    start = state.point.position.free
    rows, acceptance = jnp.zeros((most, start.shape[0]), start.dtype), jnp.zeros(most, start.dtype)

    def goes_on(carry: Any) -> Array:
        _, done, has_begun, *_ = carry
        return ~has_begun | (done < num_moves)

    def step(carry: Any) -> Any:
        state, done, has_begun, rows, acceptance = carry
        own = keys.fold(key, done.astype(jnp.uint32))
        after, info, point = advanced(kernel, own, target, state, tuning, ~has_begun, way)
        stands = replace(after, point=point, is_fresh=jnp.ones((), bool))
        after = where(has_begun, after, stands)
        # Each row is written until its move is complete.
        rows = rows.at[done].set(after.point.position.free)
        accepted = jnp.where(info.ending == Ending.GOOD, info.acceptance, 0).astype(rows.dtype)
        acceptance = acceptance.at[done].set(accepted)
        return after, done + (has_begun & info.is_complete), jnp.ones((), bool), rows, acceptance

    begun = (state, jnp.zeros((), jnp.int32), jnp.zeros((), bool), rows, acceptance)
    _, _, _, rows, acceptance = jax.lax.while_loop(goes_on, step, begun)
    likelihood = jax.lax.map(lambda free: density.parts(free)[2].astype(free.dtype), rows)
    return Moved(rows, likelihood, acceptance)


def prior_draws(density: LogDensity) -> Callable[[np.ndarray], np.ndarray]:
    """Compile draws from the prior: from words, shape `(particle, 2)`, to positions, shape `(particle, dim)`."""

    def positions(density: LogDensity, words: Any) -> Any:
        def position(words: Any) -> Any:
            return prior_position(density, jax.random.wrap_key_data(words, impl="threefry2x32"))

        return jax.lax.map(position, words)

    program = compile_alone(density, positions, np.zeros((AT_ONCE, 2), np.uint32))

    def draw(words: np.ndarray) -> np.ndarray:
        count = len(words)
        rows = np.minimum(np.arange(-(-count // AT_ONCE) * AT_ONCE), count - 1).reshape(-1, AT_ONCE)
        return np.concatenate([to_numpy(program(words[each])) for each in rows])[:count]

    return draw


def prior_and_likelihood(density: LogDensity) -> Callable[[np.ndarray], np.ndarray]:
    """Compile both parts of the log density at positions, shape `(particle, dim)`: shape `(particle, 2)`."""
    dtype = float_dtype(density.program.precision)

    def both(density: LogDensity, position: Any) -> Any:
        prior, jacobian, likelihood = density.parts(position)
        return jnp.stack([(prior + jacobian).astype(dtype), likelihood.astype(dtype)])

    return heights(density, both)


def at_fixed(density: LogDensity) -> Callable[[np.ndarray], np.ndarray]:
    """Compile the log density, and the length of its gradient, at positions: shape `(point, 2)`."""

    def both(density: LogDensity, position: Any) -> Any:
        value, gradient = density.value_and_grad(position)
        return jnp.stack([value, jnp.linalg.norm(gradient)])

    return heights(density, both)
