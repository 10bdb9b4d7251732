"""Hold the prototypes of samplers for many chains to what makes a draw right: paths that return, and honest ratios."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from folders import BENCHMARKS, importable

from accord.adaptation.metric import Metric
from accord.core import precision

DIM, START = 3, np.array([0.3, -1.2, 2.0])


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    """The folder of commands, in the precision of a run."""
    with importable(monkeypatch, BENCHMARKS), precision.scope("float64"):
        yield


@jax.jit
def target(x):
    """A density that is not normal, with its gradient."""
    return jax.value_and_grad(lambda x: -0.5 * jnp.sum(x**2) - 0.3 * jnp.sum(x[1:] ** 2 * x[:-1] ** 2))(x)


def metric():
    """Diagonal, without directions."""
    return Metric.diagonal(np.array([0.5, 1.0, 2.0]), 0)


def begun(kernels, x, velocity):
    """A path at `x`."""
    log_density, gradient = target(x)
    return kernels.Path(x, velocity, metric().pull(gradient), gradient, log_density, jnp.zeros(()))


def moved(kernels, dynamics, path, count):
    """The path after `count` steps without refreshment."""

    def step(_, path):
        return dynamics(target, metric(), 0.3, jnp.inf, path, jnp.zeros((2, DIM)))

    return jax.lax.fori_loop(0, count, step, path)


def velocity():
    """Of length sqrt(dim)."""
    v = np.array([0.7, -1.1, 0.4])
    return v * np.sqrt(DIM) / np.linalg.norm(v)


@pytest.mark.parametrize("name", ["euclidean", "microcanonical"])
def test_a_path_that_turns_round_comes_back_and_gives_back_what_it_gained(name):
    import ensemble_kernels as kernels

    @jax.jit
    def run(x, velocity):
        first = begun(kernels, x, velocity)
        there = moved(kernels, getattr(kernels, name), first, 4)
        return (
            first,
            there,
            moved(kernels, getattr(kernels, name), there._replace(velocity=-there.velocity), 4),
        )

    first, there, back = run(START, velocity())
    assert abs(float(there.gain)) > 1e-3
    np.testing.assert_allclose(back.position, first.position, atol=1e-12)
    np.testing.assert_allclose(back.velocity, -first.velocity, atol=1e-12)
    np.testing.assert_allclose(back.gain, 0, atol=1e-12)


def test_a_microcanonical_step_gains_what_the_density_and_the_volume_change_by():
    import ensemble_kernels as kernels

    def step(both):
        # Directions with their length, which a step keeps: the volume of the whole is that of the directions.
        x, v = both[:DIM], both[DIM:]
        size = jnp.linalg.norm(v)
        speed = jnp.sqrt(1.0 * DIM)
        path = begun(kernels, x, v * speed / size)
        end = kernels.microcanonical(target, metric(), jnp.asarray(0.3), jnp.inf, path, jnp.zeros((2, DIM)))
        return jnp.concatenate([end.position, end.velocity * size / speed]), end.gain

    both = np.concatenate([START, velocity()])
    jacobian, (end, gain) = jax.jit(jax.jacobian(lambda z: (step(z)[0], step(z)), has_aux=True))(both)
    change = target(end[:DIM])[0] - target(both[:DIM])[0]
    np.testing.assert_allclose(gain, change + np.linalg.slogdet(jacobian)[1], atol=1e-12)


def test_one_fold_of_four_stands_still_in_a_step_of_meads():
    import ensemble_kernels as kernels

    random = np.random.default_rng(0)
    x = random.normal(size=(16, DIM))
    points = kernels.Points(x, *jax.vmap(target)(x))
    advance = jax.jit(partial(kernels.advance, target))
    walk = jax.jit(kernels.Walk.start)(jax.random.key(0), points)
    for number in range(4):
        # With slices near zero, whatever moves is taken.
        walk = walk._replace(slice=np.full(16, 1e-6))
        after = advance(jax.random.key(number), walk, metric())
        rests = after.order[4 * number : 4 * number + 4]
        stood = np.flatnonzero(np.all(after.points.position == walk.points.position, axis=1))
        assert sorted(stood) == sorted(rests)
        walk = after


def test_the_widest_direction_of_rows_along_one_line_is_their_mean_square():
    import ensemble_kernels as kernels

    rows = np.outer([1.0, -1.0, 1.0, 1.0], [3.0, 4.0, 0.0])
    np.testing.assert_allclose(jax.jit(kernels.widest)(rows), 25, rtol=1e-12)
