"""Check that a scan is the loop written out: the same density, gradient and draws, in a program of one step."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, OptionError, SiteError

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
                ac.factor("f", -((x - jnp.arange(3.0)) ** 2))
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


def same(scan_model, loop_model):
    """Check that a scan has the density of the loop written out, and the same gradient."""
    density, loop = scan_model.log_density(), loop_model.log_density()
    names = flat_names(density, loop)
    assert density.dim == loop.dim
    position = np.random.default_rng(1).normal(size=density.dim) / 2
    numbers = pieces(density, position, names)
    other = np.concatenate([np.ravel(numbers[entry.name]) for entry in loop.layout.entries])
    value, gradient = compiled(density.value_and_grad)(position)
    wanted, by_loop = compiled(loop.value_and_grad)(other)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert np.all(np.isfinite(gradient))
    numbers = pieces(density, gradient, names)
    found = np.concatenate([np.ravel(numbers[entry.name]) for entry in loop.layout.entries])
    np.testing.assert_allclose(found, by_loop, rtol=1e-10, atol=1e-11)


SLOW = (
    "a plate around",
    "in blocks of all that divide",
    "in blocks of one",
    "in blocks of the square root",
    "one after the other",
    "submodels",
    "vectors",
)


@each({name: [body] for name, body in MODELS.items()}, slow=SLOW)
def test_a_scan_has_the_density_and_gradient_of_the_loop_written_out(bodies):
    (body,) = bodies
    same(ac.model(lambda: body(ac.scan))(), ac.model(lambda: body(written_out))())


def noisy_walk(scan):
    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous, 1.0))
        rate = ac.param("rate", 0.5, constraint=dist.constraints.positive)
        ac.sample("y", dist.Normal(x * rate, 0.5), obs=y)
        return x, None

    scan(step, 0.0, Y)


V = np.array([0.5, -1.0, 0.25])
OUTSIDE = {
    "condition": (
        lambda m: m.condition({"x": V}),
        lambda m: m.condition({f"{t}/x": V[t] for t in range(T)}),
    ),
    "condition anew": (
        lambda m: m | {"y": V},
        lambda m: m | {f"{t}/y": V[t] for t in range(T)},
    ),
    "do": (lambda m: m.do({"x": V}), lambda m: m.do({f"{t}/x": V[t] for t in range(T)})),
    "do on data, undone": (lambda m: m.do({"y": V}).undo(), lambda m: m),
    "substitute": (
        lambda m: handlers.substitute(m, {"x": V}),
        lambda m: handlers.substitute(m, {f"{t}/x": V[t] for t in range(T)}),
    ),
    "uncondition": (
        lambda m: m.uncondition(["y"]) | {"x": V},
        lambda m: m.uncondition([f"{t}/y" for t in range(T)]) | {f"{t}/x": V[t] for t in range(T)},
    ),
    "lift": (
        lambda m: handlers.lift(m, {"rate": dist.Gamma(2.0, 1.0)}),
        lambda m: handlers.lift(m, {f"{t}/rate": dist.Gamma(2.0, 1.0) for t in range(T)}),
    ),
    "scope": (lambda m: handlers.scope(m, prefix="top"), lambda m: handlers.scope(m, prefix="top")),
    "scale": (lambda m: handlers.scale(m, scale=2.0), lambda m: handlers.scale(m, scale=2.0)),
}


@each(
    {name: list(pair) for name, pair in OUTSIDE.items()},
    slow=("condition anew", "do on data, undone", "scale", "scope", "substitute"),
)
def test_what_is_put_on_the_model_reaches_all_steps(pair):
    on_scan, on_loop = pair
    scan, loop = ac.model(lambda: noisy_walk(ac.scan))(), ac.model(lambda: noisy_walk(written_out))()
    same(on_scan(scan), on_loop(loop))


@each({"with the scan": [True], "written out": [False]})
def test_a_mask_and_a_scale_around_a_scan_are_over_its_steps(is_scan):
    seen = np.array([True, False, True])

    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous, 1.0))
        ac.sample("y", dist.Normal(x, 0.5), obs=y)
        return x, None

    def model():
        y = np.where(seen, Y, np.nan)
        if is_scan[0]:
            with handlers.mask(mask=seen), handlers.scale(scale=V**2):
                ac.scan(step, 0.0, y)
            return
        previous = 0.0
        for t in range(T):
            with (
                handlers.scope(prefix=str(t)),
                handlers.mask(mask=bool(seen[t])),
                handlers.scale(scale=V[t] ** 2),
            ):
                previous, _ = step(previous, y[t])

    density = ac.model(model)().log_density()
    value, gradient = compiled(density.value_and_grad)(np.array([0.3, -0.2, 0.8]))
    terms = [dist.Normal(m, 1.0).log_prob(x) for m, x in ((0.0, 0.3), (-0.2, 0.8))]
    terms += [dist.Normal(x, 0.5).log_prob(y) for x, y in ((0.3, Y[0]), (0.8, Y[2]))]
    weights = [V[0] ** 2, V[2] ** 2] * 2
    np.testing.assert_allclose(value, np.dot(weights, terms), rtol=1e-12)
    assert np.all(np.isfinite(gradient))


def trace_of(model, seed=0):
    return handlers.trace(handlers.seed(model, seed)).get_trace()


def test_a_seed_draws_each_step_anew_and_by_its_name_alone():
    def model(more):
        def step(previous, _):
            if more:
                ac.sample("first", dist.Normal(0.0, 1.0))
            return ac.sample("x", dist.Normal(previous, 1.0)), ac.prng_key("key")

        return ac.scan(step, 0.0, length=T)[1]

    sites = trace_of(ac.model(model)(False))
    assert len(np.unique(sites["x"].value)) == T
    assert len(np.unique(jax.random.key_data(sites["key"].value), axis=0)) == T
    np.testing.assert_array_equal(sites["x"].value, trace_of(ac.model(model)(True))["x"].value)
    again = handlers.trace(handlers.replay(lambda: model(False), sites))
    with pytest.raises(SiteError, match="random key 'key'"):
        again.get_trace()
    assert np.all(trace_of(ac.model(model)(False), 1)["x"].value != sites["x"].value)


def test_the_plates_and_labels_of_a_site_begin_with_the_steps():
    @ac.model
    def model():
        def step(previous, y):
            with ac.plate("place", 3, coords="abc"):
                x = ac.sample("x", dist.Normal(previous, jnp.ones(3)), dims=None)
                ac.deterministic("pairs", jnp.ones((2, 3)), dims="pair")
                ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, None

        ac.scan(step, jnp.zeros(3), PANEL, name="day", coords=["mo", "tu", "we"])
        ac.scan(lambda c, _: (ac.sample("z", dist.Normal(c, 1.0)), None), 0.0, length=2)

    layout = model().log_density().layout
    assert layout["x"].dims == ("day", "place") and layout["z"].dims == ("z_dim_0",)
    assert layout["pairs"].dims == ("day", "pair", "place")
    assert layout.coords["day"].tolist() == ["mo", "tu", "we"]
    assert str(layout["y"].distribution) == "Normal"


def test_a_longer_scan_is_no_larger_program():
    def size_of(length):
        model = ac.model(lambda y: autoregression_of(y))(np.zeros(length))
        density = model.log_density()
        return len(str(jax.make_jaxpr(density.value_and_grad)(np.zeros(density.dim))).splitlines())

    def autoregression_of(y):
        def step(previous, y):
            x = ac.sample("x", dist.Normal(previous, 1.0))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, None

        ac.scan(step, 0.0, y)

    assert size_of(5) == size_of(500)


def test_a_draw_of_one_step_depends_on_those_before_it():
    def model():
        return ac.scan(lambda c, _: (ac.sample("x", dist.Normal(c + 100.0, 0.001)), c), 0.0, length=T)[0]

    np.testing.assert_allclose(handlers.seed(model, 0)(), 300.0, atol=1.0)


def of_step(statement, **options):
    """A model with one statement in the step of a scan."""

    def model():
        ac.sample("first", dist.Normal(0.0, 1.0))
        ac.scan(lambda carry, x: (carry, statement(x)), 0.0, **{"xs": Y, **options})

    return ac.model(model)()


def draw_x(x, **options):
    ac.sample("x", dist.Normal(x, 1.0), **options)


MISTAKES = {
    "twice": (lambda: of_step(lambda x: (draw_x(x), draw_x(x))), SiteError, "'x' is defined twice"),
    "taken before": (
        lambda: of_step(lambda x: ac.sample("first", dist.Normal(x, 1.0))),
        SiteError,
        "'first' is defined twice",
    ),
    "data of another length": (
        lambda: of_step(draw_x) | {"x": np.zeros(2)},
        SiteError,
        r"'x'.*scan of 3 steps.*\(2,\).*handlers.scope",
    ),
    "data of another event": (
        lambda: of_step(draw_x) | {"x": np.zeros((3, 2))},
        SiteError,
        r"'x'.*value has shape \(2,\)",
    ),
    "a number": (lambda: of_step(draw_x) | {"x": 0.0}, SiteError, "'x'.*first axis must be the 3 steps"),
    "an unknown name": (lambda: of_step(draw_x) | {"z": np.zeros(3)}, SiteError, "no site 'z'"),
    "lengths that differ": (lambda: of_step(draw_x, length=4), OptionError, "length is 4"),
    "no length": (lambda: of_step(draw_x, xs=None), OptionError, "length="),
    "no steps": (lambda: of_step(draw_x, xs=Y[:0]), OptionError, "at least 1, got 0"),
    "a number to loop over": (lambda: of_step(draw_x, xs=1.0), OptionError, "no axis of steps"),
    "labels without a name": (lambda: of_step(draw_x, coords="abc"), OptionError, "no name"),
    "blocks of none": (lambda: of_step(draw_x, checkpoint=0), OptionError, "checkpoint.*at least 1"),
    "a misspelt option": (lambda: of_step(draw_x, checkpoints=2), OptionError, "'checkpoint'"),
    "the name of a site": (
        lambda: of_step(draw_x, name="first"),
        SiteError,
        "scan 'first' has the name of a site",
    ),
    "a count without end": (
        lambda: of_step(lambda x: ac.sample("k", dist.Poisson(0.5))),
        SiteError,
        "'k'.*Poisson has infinitely many values",
    ),
    "a mask that moves": (
        lambda: of_step(lambda x: draw_x(0.0, obs=x, obs_mask=x > 0)),
        ModelError,
        "obs_mask.*'x'.*same entries at each step.*handlers.mask",
    ),
    "a branch on a value": (
        lambda: of_step(lambda x: 1 if ac.sample("x", dist.Normal(x, 1.0)) > 0 else 0),
        ModelError,
        "'x'.*ac.cond",
    ),
}


@pytest.mark.parametrize(("model", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(model, error, words):
    with pytest.raises(error, match=words):
        model().log_density()


def test_a_step_returns_a_pair_and_a_scan_stands_in_a_model():
    with pytest.raises(OptionError, match="return carry, None"):
        handlers.seed(lambda: ac.scan(lambda carry, x: carry, 0.0, Y), 0)()
    with pytest.raises(ModelError, match="outside of any model"):
        ac.scan(lambda carry, x: (carry, x), 0.0, Y)
    with pytest.raises(OptionError, match="step must be a function"):
        handlers.seed(lambda: ac.scan(Y, 0.0), 0)()


@pytest.mark.parametrize("outer", [np.array([True, True, False]), True], ids=["some", "all"])
def test_a_mask_in_a_step_holds_under_one_around_the_scan(outer):
    y = np.array([1.0, np.nan, 2.0])

    @ac.model
    def masked():
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))

        def step(carry, inputs):
            value, is_seen = inputs
            with handlers.mask(mask=is_seen):
                ac.sample("y", dist.Normal(mean, 1.0), obs=value)
            return carry, None

        with handlers.mask(mask=outer), handlers.mask(mask=np.ones(3, bool)):
            ac.scan(step, 0.0, (y, ~np.isnan(y)))

    seen = y[~np.isnan(y) & outer]
    found = compiled(masked().log_density().site_terms)(np.array([0.5]))["y"]
    np.testing.assert_allclose(found, stats.norm.logpdf(seen, 0.5).sum(), rtol=1e-12)
