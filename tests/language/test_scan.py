"""Check that a scan is the loop written out: the same density, gradient and draws, in a program of one step."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled

import accord.distributions as dist
from accord import handlers
from accord import language as ac

T = 3
Y = np.array([0.3, -0.2, 1.9])
PANEL = np.arange(9.0).reshape(3, 3) / 10


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def written_out(step, init, xs=None, length=None, *, reverse=False, name=None, checkpoint=None):
    """The loop that a scan stands for; step 3's site `x` is `3/x`."""
    del name, checkpoint
    length = len(jax.tree.leaves(xs)[0]) if length is None else length
    carry, ys = init, {}
    for t in range(length)[::-1] if reverse else range(length):
        with handlers.scope(prefix=str(t)):
            carry, ys[t] = step(carry, jax.tree.map(lambda x, t=t: x[t], xs))
    return carry, jax.tree.map(lambda *each: jnp.stack(each), *(ys[t] for t in range(length)))


def autoregression(scan):
    slope = ac.sample("slope", dist.Uniform(-1.0, 1.0))

    def step(previous, y):
        x = ac.sample("x", dist.Normal(slope * previous, 0.5))
        ac.sample("y", dist.Normal(x, 0.3), obs=y)
        return x, x

    last, xs = scan(step, 0.0, Y)
    ac.factor("end", -((last - xs[0]) ** 2))


def with_supports_that_move(scan):
    def step(high, _):
        x = ac.sample("x", dist.Uniform(0.0, high))
        z = ac.sample("z", dist.LogNormal(x, 1.0))
        return z, None

    scan(step, 2.0, length=T)


def with_vectors(scan):
    start = ac.sample("start", dist.HalfNormal(1.0))

    def step(scale, y):
        x = ac.sample("x", dist.MultivariateNormal(jnp.zeros(3), scale * jnp.eye(3)))
        p = ac.sample("p", dist.Dirichlet(1.0 + x**2))
        ac.sample("y", dist.Normal(x, scale).to_event(1), obs=y)
        return 1.0 + p[0], None

    scan(step, start, PANEL)


def with_parameters_of_several_shapes(scan):
    scale = ac.sample("scale", dist.HalfNormal(1.0))

    def step(loc, y):
        x = ac.sample("x", dist.StudentT(4.0, loc, 1.0 + scale * loc[0] ** 2))
        ac.sample("y", dist.Normal(x, scale), obs=y)
        return 0.5 * x, None

    scan(step, jnp.ones(3), PANEL)


def with_a_plate_inside(scan):
    def step(mean, y):
        with ac.plate("place", 3):
            x = ac.sample("x", dist.Normal(mean, 1.0))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
        return x.mean(), None

    scan(step, 0.0, PANEL)


def with_a_plate_around(scan):
    with ac.plate("place", 3):
        scale = ac.sample("scale", dist.HalfNormal(1.0))

        def step(previous, y):
            x = ac.sample("x", dist.Normal(previous, 1.0))
            with ac.plate("time_of_day", 2):
                ac.sample("z", dist.Normal(x[None, :], scale[None, :]))
            ac.sample("y", dist.Normal(x, scale), obs=y)
            return x, None

        with ac.plate("unused", 1):
            pass
        scan(step, jnp.zeros(3), PANEL)


def nested(scan):
    def outer(carry, row):
        level = ac.sample("level", dist.Normal(carry, 1.0))

        def inner(previous, y):
            x = ac.sample("x", dist.Normal(previous, jnp.exp(level)))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, x

        last, xs = scan(inner, level, row, name="inner")
        return last, xs.sum()

    _, sums = scan(outer, 0.0, PANEL, name="outer")
    ac.factor("sums", -(sums**2).sum())


def weighted_inside(scan):
    def step(previous, inputs):
        y, seen, weight = inputs
        x = ac.sample("x", dist.Normal(previous, 1.0))
        with handlers.mask(mask=seen), handlers.scale(scale=weight), ac.plate("place", 3):
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            with handlers.mask(mask=jnp.array([True, False, True])):
                ac.factor("f", -((x - y) ** 2))
        return x, None

    y = np.where(PANEL == 0.3, np.nan, PANEL)
    scan(step, 0.0, (y, np.arange(T) != 1, np.arange(1.0, T + 1)))


@ac.model
def noisy(mean, y):
    """A part of a step."""
    scale = ac.sample("scale", dist.HalfNormal(1.0))
    fixed = ac.sample("fixed", dist.Normal(0.0, 1.0))
    return ac.sample("x", dist.Normal(mean + fixed, scale)) + ac.sample("y", dist.Normal(mean, scale), obs=y)


def of_submodels(scan):
    def step(previous, y):
        with handlers.scope(prefix="a"):
            one = ac.submodel(noisy(previous, y).condition({"fixed": 0.3}), prefix="b")
        other = ac.submodel(noisy(one, y).do({"fixed": y}), prefix="c")
        rate = ac.param("rate", 0.5, constraint=dist.constraints.positive)
        return other * rate, None

    scan(step, 0.0, Y)


def in_reverse(scan):
    def step(later, y):
        x = ac.sample("x", dist.Normal(later, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y)
        return x, x - later

    _, ys = scan(step, 1.0, Y, reverse=True)
    ac.factor("differences", -(ys[0] ** 2))


def one_after_the_other(scan):
    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y)
        return x, None

    with handlers.scope(prefix="past"):
        last, _ = scan(step, 0.0, Y)
    with handlers.scope(prefix="future"):
        scan(step, last, Y[::-1].copy())


def observed_in_part_alike(scan):
    def step(previous, y):
        with ac.plate("place", 3):
            x = ac.sample("x", dist.Normal(previous, 1.0), obs=y, obs_mask=np.array([True, False, True]))
        return x.sum(), None

    scan(step, 0.0, PANEL)


def checkpointed(block):
    def model(scan):
        def step(previous, y):
            x = ac.sample("x", dist.Normal(jnp.sin(previous), 1.0))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, x

        _, xs = scan(step, 0.0, Y, checkpoint=block)
        scan(step_back, 0.0, xs, reverse=True, checkpoint=block)

    def step_back(later, x):
        return ac.sample("z", dist.Normal(later + x, 1.0)), None

    return model


MODELS = {
    "an autoregression": autoregression,
    "supports that move": with_supports_that_move,
    "vectors": with_vectors,
    "parameters of several shapes": with_parameters_of_several_shapes,
    "a plate inside": with_a_plate_inside,
    "a plate around": with_a_plate_around,
    "nested": nested,
    "masks and scales inside": weighted_inside,
    "submodels": of_submodels,
    "in reverse": in_reverse,
    "one after the other": one_after_the_other,
    "observed in part": observed_in_part_alike,
    "in blocks of all that divide": checkpointed(3),
    "in blocks that do not divide": checkpointed(2),
    "in blocks of one": checkpointed(1),
    "in blocks of the square root": checkpointed(True),
}


def flat_names(density, loop):
    """By entry of the scan's density, the loop's names for its steps: `a/x` at step 3 is `3/a/x`."""
    known = {entry.name for entry in loop.layout.entries}
    found = {}
    for entry in density.layout.entries:
        names = {}
        for depth in range(3):
            for steps in itertools.product(*map(range, entry.unconstrained_shape[:depth])):
                numbers = list(map(str, steps))
                words = entry.name.split("/")
                for cut in range(len(words)):
                    name = "/".join([*words[:cut], *numbers, *words[cut:]])
                    if name in known and name not in names:
                        names[name] = steps
        found[entry.name] = names
    return found


def pieces(density, position, names):
    """Numbers by the loop's names, from a position of the scan's density."""
    found = {}
    for entry in density.layout.entries:
        whole = np.asarray(position[entry.start : entry.stop]).reshape(entry.unconstrained_shape)
        found |= {name: whole[steps] for name, steps in names[entry.name].items()}
    return found


@pytest.mark.parametrize("body", MODELS.values(), ids=MODELS.keys())
def test_a_scan_has_the_density_and_gradient_of_the_loop_written_out(body):
    density = ac.model(lambda: body(ac.scan))().log_density()
    loop = ac.model(lambda: body(written_out))().log_density()
    names = flat_names(density, loop)
    assert density.dim == loop.dim
    position = np.random.default_rng(1).normal(size=density.dim) / 2
    numbers = pieces(density, position, names)
    other = np.concatenate([np.ravel(numbers[entry.name]) for entry in loop.layout.entries])
    value, gradient = compiled(density.value_and_grad)(position)
    wanted, by_loop = compiled(loop.value_and_grad)(other)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    numbers = pieces(density, gradient, names)
    found = np.concatenate([np.ravel(numbers[entry.name]) for entry in loop.layout.entries])
    np.testing.assert_allclose(found, by_loop, rtol=1e-10, atol=1e-11)
