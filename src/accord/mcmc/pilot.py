"""Find how many particles a run by particle filters needs, before it begins."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.robust import Root, updated
from ..core import keys
from ..core.errors import ModelError, SiteError
from ..core.position import Position
from ..core.precision import float_dtype, scope
from ..core.tree import to_numpy, where
from ..density import LogDensity
from ..density.simulate import prior_position
from ..density.unknowns import free_of
from ..executors.pools import one_blas_thread
from ..kernels import PMMH, AbstractKernel
from ..kernels.places import Part
from ..particles.marginal import MarginalDraw
from ..programs.standalone import check_traced, compile_alone
from ..report.rules.estimates import WANTED_SD, two_digits
from .by_particles import marginal_of
from .start.pilot import NUM_STARTS, FromPilot
from .start.uniform import UniformPoints

# Particles. Where more than the most are needed, the pilot would take longer than runs do.
_FIRST, _FEWEST, _MOST = 200, 8, 2**14
_NEAR = 4 / 3  # ratio of the standard deviation to the wanted one that will do
_ROUNDS, _MOST_GROWTH = 6, 8
_STARTS, _STEPS, _REPEATS = 16, 250, 60
_FIRST_STEP = 0.1  # of the walk


def piloted(
    sampler: AbstractKernel, density: LogDensity, seed: int, stored: Mapping[str, Any] | None = None
) -> tuple[AbstractKernel, FromPilot | None]:
    """Return a sampler that knows its number of particles, and how noisy its estimates are: by a pilot if need be.

    Also return where chains may start by this pilot; None without one.

    The pilot is a function of model, data and seed. A walk goes from the best of some draws of the prior; at the mean
    of its second half, the estimate is made many times. `stored` is the description of the sampler in a run that is
    taken up, in which the pilot's findings are.

    **Raises** `ModelError` if no particle is left at all places.
    """
    if not isinstance(sampler, PMMH):
        return sampler, None
    known = stored if stored is not None and stored["name"] == PMMH.__name__ else {}
    if known and sampler.particles in (None, known["particles"]):
        sampler = replace(sampler, particles=known["particles"], estimate_sd=known["estimate_sd"])
    if sampler.particles is not None and sampler.estimate_sd is not None:
        return sampler, None
    with scope(density.program.precision), one_blas_thread():
        check_traced(density)
        return _measured(sampler, density, seed)


def _measured(sampler: PMMH, density: LogDensity, seed: int) -> tuple[PMMH, FromPilot]:
    places, is_chosen = sampler.places, sampler.particles is None
    assert places is not None, "a sampler is placed before its pilot"
    part = places.part([name for name in places.names if name not in places.series])[1]
    at = _starts(density, seed)
    root = _FIRST_STEP * np.eye(part.dim, dtype=at.free.dtype)
    key = keys.fold(keys.chain_key(seed, 0), np.uint32(keys.USE_PILOT))
    next_count = count = sampler.particles or _FIRST
    sd, estimates = math.inf, np.empty(0)
    walk: Any = at
    for number in range(_ROUNDS):
        count = next_count
        (formula,) = replace(sampler, particles=count).formulas
        draw = marginal_of(density, formula)
        target: Any = root.dtype.type(sampler.target_accept)
        arguments = (at, root, keys.fold(key, np.uint32(number)), target)
        program = compile_alone(density, _round(draw, part), *arguments)
        centre, root, estimates, walk = to_numpy(program(*arguments))
        at = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (_STARTS, *leaf.shape)), centre)
        sd = float(np.std(estimates, ddof=1)) if np.all(np.isfinite(estimates)) else math.inf
        if not is_chosen or 1 / _NEAR < sd / WANTED_SD < _NEAR:
            break
        # The variance is inverse to the number, but for very noisy estimates.
        wanted = two_digits(count * min((sd / WANTED_SD) ** 2, _MOST_GROWTH))
        next_count = int(np.clip(wanted, _FEWEST, _MOST))
        if next_count == count:
            break
    if not np.any(np.isfinite(estimates)):
        raise ModelError(
            f"PMMH: in each filter of {count} particles all became impossible, at the parameters that a walk from "
            "draws of the prior found. Look for an observation that the model calls impossible (infer.check(model)), "
            f"give the prior the scale of the data, or take more: infer.PMMH(particles={min(10 * count, _MOST)})."
        )
    return replace(sampler, particles=count, estimate_sd=sd), FromPilot(walk.free, walk.whole)


def _starts(density: LogDensity, seed: int) -> Position:
    """Return places to begin at: draws of the prior or, where that cannot be drawn from, uniform ones."""
    words = keys.words(keys.chain_key(seed, 0), keys.USE_PILOT, _STARTS)
    dtype, num_whole = float_dtype(density.program.precision), density.layout.num_whole

    def positions(density: LogDensity, words: Any) -> Any:
        def position(words: Any) -> Any:
            return prior_position(density, jax.random.wrap_key_data(words, impl="threefry2x32"))

        return jax.vmap(position)(words)

    try:
        found: Any = to_numpy(compile_alone(density, positions, words)(words))
    except SiteError:
        found = UniformPoints().positions(seed, 0, _STARTS, density.dim)
    free: Any = np.asarray(free_of(found), dtype)
    whole: Any = found.whole if isinstance(found, Position) else np.zeros((_STARTS, num_whole), np.int32)
    return Position(free, whole if num_whole else None)


def _round(draw: MarginalDraw, part: Part) -> Any:
    """Return the function `(density, places, root, key, target) -> (centre, root, estimates, walk)` of one round.

    One loop does all, so that the filter is compiled once: it looks at each place, walks from the best one, and repeats
    the estimate at the centre.
    """

    def run(density: LogDensity, places: Any, root: Any, key: Any, target: Any) -> Any:
        def step(state: Any, number: Any) -> Any:
            position, height, root, centre = state
            filter_key, own_key = (keys.fold(key, (2 * number + n).astype(jnp.uint32)) for n in (0, 1))
            is_look, is_walk = number < _STARTS, (number >= _STARTS) & (number < _STARTS + _STEPS)
            is_first = number == _STARTS  # of the walk: the height of the best place was lucky
            noise = keys.normal(own_key, part.dim, 0, height.dtype)
            own = part.position(position)
            there = part.put(position, replace(own, free=own.free + jnp.where(is_first, 0, root.push(noise))))
            place = jax.tree.map(lambda leaf: leaf[jnp.minimum(number, _STARTS - 1)], places)
            there = where(is_look, place, where(is_walk, there, replace(position, free=centre)))
            there, found, _ = draw.estimated(density, there, filter_key)
            # From -inf, all that is finite is accepted; of two that are -inf, the ratio is no number.
            ratio = jnp.exp(jnp.minimum(found - height, 0))
            ratio = jnp.where(jnp.isnan(ratio), 0, ratio)
            is_accepted = keys.uniform(own_key, jnp.uint32(0), jnp.uint32(1), height.dtype) < ratio
            is_taken = jnp.where(is_look, found > height, is_walk & (is_accepted | is_first))
            position, height = where(is_taken, (there, found), (position, height))
            count = jnp.maximum(number - _STARTS, 1).astype(height.dtype)
            learnt = updated(root, noise, ratio - target, count)
            root = where(is_walk & ~is_first, learnt, root)
            is_late = is_walk & (number >= _STARTS + _STEPS // 2)
            centre = centre + jnp.where(is_late, position.free / (_STEPS // 2), 0)
            return (position, height, root, centre), (found, position)

        first = jax.tree.map(lambda leaf: leaf[0], places)
        nothing = jnp.full((), -jnp.inf, first.free.dtype)
        state = (first, nothing, Root(root), jnp.zeros_like(first.free))
        numbers = jnp.arange(_STARTS + _STEPS + _REPEATS)
        (last, _, found, centre), (heights, path) = jax.lax.scan(step, state, numbers)
        late = _STARTS + np.linspace(_STEPS // 2, _STEPS - 1, NUM_STARTS).astype(int)
        walk = jax.tree.map(lambda leaf: leaf[late], path)
        return replace(last, free=centre), found.root, heights[_STARTS + _STEPS :], walk

    return run
