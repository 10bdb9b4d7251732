"""Write down the samplers that `ensembles.py` compares with ChEES, without putting them into the library.

Each moves all chains by one compiled function, which the host calls once a draw. Positions stay in unconstrained space;
momenta and forces live in the space that a `Metric` whitens.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from accord.adaptation.ensemble import Moves
from accord.adaptation.metric import Metric
from accord.core.position import Position
from accord.kernels.integrator import drift, kicked
from accord.kernels.momentum import Momentum
from accord.kernels.point import Point
from ensemble_lengths import unstretched

FOLDS = 4  # of MEADS
ROWS = 5  # that a draw of MEADS keeps: a few of its steps, of which each is one gradient


Target = Callable[[Any], tuple[Any, Any]]
"""Log density and gradient at an unconstrained position, shape `(dim,)`."""


class Points(NamedTuple):
    """Where all chains are: `position` and `gradient`, `(chain, dim)`, unconstrained; `log_density`, `(chain,)`."""

    position: Any
    log_density: Any
    gradient: Any


class Path(NamedTuple):
    """One chain within a trajectory: `velocity` is that of the whitened position, `gain` the log ratio so far."""

    position: Any
    velocity: Any
    force: Any
    gradient: Any
    log_density: Any
    gain: Any


def euclidean(target: Target, metric: Metric, step: Any, decay: Any, path: Path, noise: Any) -> Path:
    """A leapfrog step of Hamiltonian Monte Carlo."""
    del decay, noise
    position, half = drift(metric, step, path.position, Momentum(path.velocity), Momentum(path.force))
    end = kicked(metric, step, half, Point(Position(position), *target(position)))
    velocity, force = end.momentum.vector, end.force.vector
    kinetic = 0.5 * (jnp.sum(path.velocity**2) - jnp.sum(velocity**2))
    gain = path.gain + end.log_density - path.log_density + kinetic
    return Path(end.position, velocity, force, end.gradient, end.log_density, gain)


def microcanonical(target: Target, metric: Metric, step: Any, decay: Any, path: Path, noise: Any) -> Path:
    """A leapfrog step of microcanonical dynamics, whose speed is constant: sqrt(dim), which makes times those of HMC.

    `decay` is the time after which partial refreshments have changed the direction, infinite without them; `noise`,
    shape `(2, dim)`, is that of the ones before and after the step. The density must have two dimensions or more.

    **Source**: Robnik, Cohn-Gordon & Seljak (2025), "Metropolis adjusted microcanonical Hamiltonian Monte Carlo",
    arXiv:2503.01707; Ver Steeg & Galstyan (2021), "Hamiltonian dynamics with non-Newtonian momentum for rapid
    sampling", NeurIPS, for the dynamics.
    """
    dim = path.position.shape[0]
    speed = jnp.sqrt(jnp.asarray(dim, path.position.dtype))
    width = jnp.sqrt((jnp.exp(step / decay) - 1) / dim)

    def kick(direction: Any, force: Any) -> tuple[Any, Any]:
        """The new direction, and how much kinetic energy it has gained."""
        size = jnp.linalg.norm(force)
        uphill = force / jnp.maximum(size, 1e-300)
        cosine = jnp.sum(direction * uphill)
        delta = 0.5 * step * speed * size / (dim - 1)
        zeta = jnp.exp(-delta)
        new = uphill * (1 - zeta) * (1 + zeta + cosine * (1 - zeta)) + 2 * zeta * direction
        # Where it goes straight downhill, rounding must not take the logarithm of less than nothing.
        inside = jnp.maximum(1 + cosine, 0) + jnp.maximum(1 - cosine, 0) * zeta**2
        return new / jnp.linalg.norm(new), (dim - 1) * (delta + jnp.log(jnp.maximum(inside, 1e-300) / 2))

    def refreshed(direction: Any, noise: Any) -> Any:
        new = direction + width * noise
        return new / jnp.linalg.norm(new)

    direction, before = kick(refreshed(path.velocity / speed, noise[0]), path.force)
    position = path.position + step * speed * metric.push(direction)
    log_density, gradient = target(position)
    force = metric.pull(gradient)
    direction, after = kick(direction, force)
    gain = path.gain + log_density - path.log_density - before - after
    return Path(position, speed * refreshed(direction, noise[1]), force, gradient, log_density, gain)


def trajectories(target: Target, dynamics: Any) -> Any:
    """The compiled function that moves all chains by one trajectory each, of equally many steps, with fresh velocities.

    It takes `(key, points, metric, step, num_steps, decay)` and returns the new points and the `Moves`.
    """

    def of_chain(key: Any, point: Points, metric: Metric, step: Any, num_steps: Any, decay: Any) -> Any:
        key_velocity, key_steps = jax.random.split(key)
        velocity = jax.random.normal(key_velocity, point.position.shape)
        if dynamics is microcanonical:
            velocity *= jnp.sqrt(velocity.size) / jnp.linalg.norm(velocity)
        force = metric.pull(point.gradient)
        zero = jnp.zeros_like(point.log_density)
        path = Path(point.position, velocity, force, point.gradient, point.log_density, zero)

        def move(number: Any, path: Path) -> Path:
            noise = jax.random.normal(jax.random.fold_in(key_steps, number), (2, *velocity.shape))
            return dynamics(target, metric, step, decay, path, noise)

        end = jax.lax.fori_loop(0, num_steps, move, path)
        return end, jnp.where(jnp.isfinite(end.gain), jnp.exp(jnp.minimum(end.gain, 0)), 0)

    def draw(key: Any, points: Points, metric: Metric, step: Any, num_steps: Any, decay: Any) -> Any:
        key_paths, key_accept = jax.random.split(key)
        each = jax.random.split(key_paths, len(points.log_density))
        ends, chance = jax.vmap(of_chain, (0, 0, None, None, None, None))(
            each, points, metric, step, num_steps, decay
        )
        taken = jax.random.uniform(key_accept, chance.shape) < chance
        new = Points(
            jnp.where(taken[:, None], ends.position, points.position),
            jnp.where(taken, ends.log_density, points.log_density),
            jnp.where(taken[:, None], ends.gradient, points.gradient),
        )
        moves = Moves(points.position, ends.position, ends.velocity, chance, jnp.ones_like(chance), num_steps)
        return new, moves

    return jax.jit(draw)


class Walk(NamedTuple):
    """The chains of MEADS: `momentum`, shape `(chain, dim)`, and `slice`, in (-1, 1), shape `(chain,)`, live on from
    step to step; `order`, shape `(chain,)`, puts them into folds; `number` counts steps.
    """

    points: Points
    momentum: Any
    slice: Any
    order: Any
    number: Any

    @staticmethod
    def start(key: Any, points: Points) -> "Walk":
        """Chains with fresh momenta."""
        key_momentum, key_slice = jax.random.split(key)
        momentum = jax.random.normal(key_momentum, points.position.shape)
        slices = jax.random.uniform(key_slice, points.log_density.shape, minval=-1.0)
        return Walk(points, momentum, slices, jnp.arange(len(slices)), jnp.zeros((), jnp.int32))


def walks(target: Target) -> Any:
    """The compiled function that moves all chains by `ROWS * every` steps of MEADS.

    It takes `(key, walk, metric, every)` and returns the walk, and positions, log densities and gradients after each
    `every` steps, with the axes `(row, chain, ...)`.
    """

    def draw(key: Any, walk: Walk, metric: Metric, every: Any) -> tuple[Walk, Points]:
        def row(walk: Walk, key: Any) -> tuple[Walk, Points]:
            def move(number: Any, walk: Walk) -> Walk:
                return advance(target, jax.random.fold_in(key, number), walk, metric)

            walk = jax.lax.fori_loop(0, every, move, walk)
            return walk, walk.points

        return jax.lax.scan(row, walk, jax.random.split(key, ROWS))

    return jax.jit(draw)


def advance(target: Target, key: Any, walk: Walk, metric: Metric) -> Walk:
    """A step of MEADS, in which one fold of four stands still and every other one has a gradient a chain.

    **Source**: Hoffman & Sountsov (2022), "Tuning-free generalized Hamiltonian Monte Carlo", AISTATS, with Neal's
    (2020) non-reversible acceptance. Departure: scales are those of whitened space, which is the model's own unless a
    metric is given.
    """
    key_order, key_noise = jax.random.split(key)
    points, (count, dim) = walk.points, walk.points.position.shape
    order = jax.lax.cond(
        walk.number % FOLDS == 0,
        lambda: jax.random.permutation(key_order, walk.order),
        lambda: walk.order,
    )
    folds = order.reshape(FOLDS, -1)
    y, force = unstretched(metric, points.position)[folds], jax.vmap(metric.pull)(points.gradient)
    scales = jnp.std(y, axis=1)
    centred = (y - jnp.mean(y, axis=1, keepdims=True)) / scales[:, None]
    steps = jnp.minimum(1, 0.5 / jnp.sqrt(jax.vmap(widest)(force[folds] * scales[:, None])))
    least = 1 / ((walk.number + 1) * steps)
    dampings = jnp.maximum(1 / jnp.sqrt(jax.vmap(widest)(centred)), least)
    # Every fold moves by what the one before it says.
    fold = (jnp.argsort(order) // (count // FOLDS)).astype(jnp.int32)
    scale, step, damping = (array[(fold - 1) % FOLDS] for array in (scales, steps, dampings))
    renewal = 1 - jnp.exp(-2 * step * damping)
    noise = jax.random.normal(key_noise, (count, dim))
    momentum = jnp.sqrt(1 - renewal)[:, None] * walk.momentum + jnp.sqrt(renewal)[:, None] * noise
    slices = jnp.mod(walk.slice + 1 + renewal / 2, 2) - 1

    half = momentum + 0.5 * step[:, None] * scale * force
    position = points.position + step[:, None] * jax.vmap(metric.push)(scale * half)
    log_density, gradient = jax.vmap(target)(position)
    end = half + 0.5 * step[:, None] * scale * jax.vmap(metric.pull)(gradient)
    gain = log_density - points.log_density + 0.5 * jnp.sum(momentum**2 - end**2, 1)
    taken = jnp.isfinite(gain) & (jnp.log(jnp.abs(slices)) <= gain)
    moved = Points(position, log_density, gradient)
    kept = jax.tree.map(lambda new, old: by_chain(taken, new, old), moved, points)
    momentum = by_chain(taken, end, -momentum)
    slices = jnp.where(taken, slices * jnp.exp(-jnp.where(taken, gain, 0)), slices)
    rests = fold == walk.number % FOLDS
    own = (walk.points, walk.momentum, walk.slice)
    after = jax.tree.map(lambda new, old: by_chain(rests, old, new), (kept, momentum, slices), own)
    return Walk(*after, order, walk.number + 1)


def widest(rows: Any) -> Any:
    """Nearly the largest eigenvalue of the mean of x x' over rows `(row, dim)`: trace of its square over its trace."""
    gram = rows @ rows.T
    count, own = len(rows), jnp.diag(gram)
    return (jnp.sum(gram**2) - jnp.sum(own**2)) / ((count - 1) * jnp.sum(own))


def by_chain(condition: Any, new: Any, old: Any) -> Any:
    """Chain by chain, `new` where the condition holds, else `old`."""
    return jnp.where(condition.reshape(-1, *[1] * (new.ndim - 1)), new, old)
