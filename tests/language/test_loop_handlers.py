"""Check loops that a handler runs: by steps in Python, over particles, changed and handed on.

The evidence by particles is compared with its exact value, at fixed keys: a right filter fails with a chance of 6e-5,
its false-alarm rate, since the estimate must be within 4 of its standard deviations.
"""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError
from accord.density.reduction import log_prob_of
from accord.language import AbstractLoopHandler, Loop, LoopResult, Steps
from accord.reparam import LocScale

Y = np.array([0.3, -0.2, 1.9])
PANEL = np.arange(9.0).reshape(3, 3) / 10


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


class Unrolled(AbstractLoopHandler):
    """Run the steps in Python, one after the other; `ran` lists the names of the loops."""

    ran: list[str] = eqx.field(static=True, default_factory=list)

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        del default
        self.ran.append(loop.frame.name)
        steps, carry, kept = Steps.of(loop), loop.init, {}
        for t in range(loop.length)[:: -1 if loop.reverse else 1]:
            carry, output, sites = steps(carry, jax.tree.map(lambda a, t=t: a[t], steps.inputs))
            kept[t] = output, steps.arrays(sites)
        outputs, arrays = jax.tree.map(lambda *a: jnp.stack(a), *(kept[t] for t in range(loop.length)))
        return steps.result(carry, outputs, arrays)


def walk(previous, y):
    x = ac.sample("x", dist.Normal(previous, 1.0))
    rate = ac.param("rate", 0.5, constraint=dist.constraints.positive)
    ac.sample("y", dist.Normal(x * rate, 0.5), obs=y)
    return x, x


@ac.model
def plain(reverse=False):
    _, xs = ac.scan(walk, 0.0, Y, name="day", reverse=reverse)
    ac.factor("end", -(xs[0] ** 2))


@ac.model
def in_plates():
    with ac.plate("place", 3, coords=["a", "b", "c"]):
        scale = ac.sample("scale", dist.HalfNormal(1.0))

        def step(previous, y):
            x = ac.sample("x", dist.Normal(previous, scale))
            with ac.plate("hour", 2):
                ac.sample("z", dist.Normal(x[None, :], 1.0))
            ac.sample("y", dist.Normal(x, scale), obs=y)
            return x, None

        with handlers.mask(mask=np.array([True, False, True])):
            ac.scan(step, jnp.zeros(3), PANEL, name="day")


@ac.model
def nested():
    def outer(carry, row):
        level = ac.sample("level", dist.Uniform(carry - 1.0, carry + 1.0))

        def inner(previous, y):
            x = ac.sample("x", dist.Normal(previous, jnp.exp(level)))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, x

        last, xs = ac.scan(inner, level, row, name="inner", reverse=True)
        return last, xs.sum()

    _, sums = ac.scan(outer, 0.0, PANEL, name="outer")
    ac.factor("sums", -(sums**2).sum())


@ac.model
def in_a_branch():
    scale = ac.sample("scale", dist.HalfNormal(1.0))

    def wild():
        ac.scan(lambda x, y: (ac.sample("x", dist.Normal(x, scale)), None), 0.0, Y, name="day")

    def calm():
        ac.scan(lambda x, y: (ac.sample("x", dist.Normal(0.5 * x, 1.0)), None), 0.0, Y, name="day")

    ac.cond(scale > 1.0, wild, calm)


@ac.model
def partly_observed(checkpoint=None):
    """Steps of which some entries are observed, with their unobserved ones as unknowns."""
    scale = ac.sample("scale", dist.HalfNormal(1.0))

    def step(previous, y):
        with ac.plate("place", 2):
            x = ac.sample("x", dist.Normal(previous, scale))
            y = ac.sample("y", dist.Normal(x, 1.0), obs=y, obs_mask=np.array([True, False]))
        return x + 0.1 * y, None

    ac.scan(step, jnp.zeros(2), PANEL[:, :2], name="day", checkpoint=checkpoint)


def reparameterised(centered=0.0, checkpoint=None):
    @ac.model
    def model():
        scale = ac.sample("scale", dist.HalfNormal(1.0))

        def step(previous, y):
            x = ac.sample("x", dist.Normal(previous, scale))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x, x

        changed = handlers.reparam(step, {"x": LocScale(centered=centered)})
        ac.scan(changed, 0.0, Y, name="day", checkpoint=checkpoint)

    return model()


@ac.model
def with_a_coefficient(checkpoint=None):
    """A coefficient in front of the loop that can be integrated out."""
    noise = ac.sample("noise", dist.HalfNormal(1.0))
    slope = ac.sample("slope", dist.Normal(0.0, 1.0))

    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous, 1.0))
        ac.sample("y", dist.Normal(slope + x, noise), obs=y)
        return x, None

    ac.scan(step, 0.0, Y, name="day", checkpoint=checkpoint)


LOOPS = {
    "plain": (plain, ["day"]),
    "in reverse": (lambda: plain(True), ["day"]),
    "in plates": (in_plates, ["day"]),
    "nested": (nested, ["outer", "inner"]),
    "in a branch": (in_a_branch, ["day"]),
    "conditioned": (lambda: plain() | {"x": Y[::-1]}, ["day"]),
    "set": (lambda: plain().do({"x": Y}), ["day"]),
    "masked": (lambda: handlers.mask(plain(), mask=np.array([True, False, True])), ["day"]),
    "weighed": (lambda: handlers.scale(plain(), scale=Y**2), ["day"]),
    "lifted": (lambda: handlers.lift(plain(), dist.Gamma(2.0, 1.0)), ["day"]),
    "in a scope": (lambda: handlers.scope(plain(), prefix="a"), ["day"]),
    "partly observed": (partly_observed, ["day"]),
    "partly observed, checkpointed": (lambda: partly_observed(2), ["day"]),
    "reparameterised": (reparameterised, ["day"]),
    "reparameterised in part": (lambda: reparameterised(0.5), ["day"]),
    "reparameterised to no effect": (lambda: reparameterised(1.0), ["day"]),
    "reparameterised and checkpointed": (lambda: reparameterised(0.0, 2), ["day"]),
    "integrated out": (lambda: handlers.collapse(with_a_coefficient(), ["slope"]), ["day"]),
    "integrated out, checkpointed": (lambda: handlers.collapse(with_a_coefficient(2), ["slope"]), ["day"]),
}


@each({name: [*pair] for name, pair in LOOPS.items()}, slow=("set", "weighed", "in a scope", "in reverse"))
def test_a_loop_run_step_by_step_has_the_same_sites_density_and_draws(pair):
    model, names = pair
    handler = Unrolled()
    by_scan, by_step = model(), model().inside_of(handler)
    one, other = by_scan.log_density(), by_step.log_density()
    assert {*handler.ran} == {*names}
    assert one.layout == other.layout
    position = np.random.default_rng(1).normal(size=one.dim) / 2
    value, gradient = compiled(one.value_and_grad)(position)
    found, slope = compiled(other.value_and_grad)(position)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-10, atol=1e-12)
    drawn, again = (handlers.trace(handlers.seed(m, 3)).get_trace() for m in (by_scan, by_step))
    assert [*drawn] == [*again]
    for name, site in drawn.items():
        np.testing.assert_allclose(again[name].value, site.value, rtol=1e-12)


def test_steps_in_python_have_numbers():
    seen = []

    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous + y, 1.0))
        seen.append(x)
        return x, None

    model = ac.model(lambda: ac.scan(step, 0.0, Y))().inside_of(Unrolled())
    drawn = handlers.trace(handlers.seed(model, 0)).get_trace()["x"].value
    np.testing.assert_array_equal([float(x) for x in seen[-3:]], drawn)


class Changed(AbstractLoopHandler):
    """Change a loop, and hand it on."""

    name: str = eqx.field(static=True)
    called: list[str] = eqx.field(static=True)
    change: Callable[[Loop], Loop] = eqx.field(static=True)

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        self.called.append(self.name)
        return default(self.change(loop))


def test_the_innermost_handler_runs_a_loop_and_may_hand_it_to_the_next():
    called = []
    without_terms = Changed(
        "in", called, lambda loop: replace(loop, step=handlers.mask(loop.step, mask=False))
    )
    in_reverse = Changed("out", called, lambda loop: replace(loop, reverse=True))
    changed = plain().inside_of(without_terms).inside_of(in_reverse).log_density()
    assert called[:2] == ["in", "out"]
    masked = ac.model(lambda: handlers.mask(lambda: ac.scan(walk, 0.0, Y, reverse=True), mask=False)())()
    position = jnp.linspace(-1.0, 1.0, changed.dim)
    jacobian = masked.log_density()(position)
    end = changed.constrain(position)["x"][0]
    np.testing.assert_allclose(changed(position), jacobian - end**2, rtol=1e-12)


class Lossy(AbstractLoopHandler):
    """Forget a site."""

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        result = default(loop)
        return replace(result, sites={name: site for name, site in result.sites.items() if name != "y"})


def test_a_handler_returns_all_sites_of_a_loop():
    with pytest.raises(
        ModelError, match="returned the sites 'x', 'rate', and the steps have 'x', 'rate', 'y'"
    ):
        plain().inside_of(Lossy()).log_density()


class Filter(AbstractLoopHandler):
    """Put the evidence of the site `y`, by particles, in the place of the terms of a loop."""

    num: int = eqx.field(static=True)
    key: jax.Array

    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        del default

        def step(particle, y):
            state, key = particle
            state, output = handlers.block(handlers.seed(loop.step, key), expose=["y"])(state, y)
            return (state, key), output

        steps = Steps.of(replace(loop, step=step, init=(loop.init, self.key)))

        def move(carry, now):
            states, key = carry
            key, to_move, to_choose = jax.random.split(key, 3)

            def one(state, key):
                (state, _), _, sites = steps((state, key), now)
                return state, log_prob_of(sites.values(), jnp.float64), steps.arrays(sites)

            states, log_weights, arrays = jax.vmap(one)(states, jax.random.split(to_move, self.num))
            chosen = jax.random.categorical(to_choose, log_weights, shape=(self.num,))
            term = jax.nn.logsumexp(log_weights) - jnp.log(self.num)
            return (states[chosen], key), (term, [array[0] for array in arrays])

        first = (jnp.full(self.num, loop.init), self.key)
        (states, _), (terms, arrays) = jax.lax.scan(move, first, steps.inputs)
        ac.factor("evidence", terms.sum())
        result = steps.result(states.mean(), None, arrays)
        return replace(result, sites={name: replace(site, mask=False) for name, site in result.sites.items()})


@pytest.mark.parametrize("is_conditioned", [False, True])
def test_particles_estimate_the_evidence_of_a_loop(is_conditioned):
    num, sd = 4000, 0.9

    @ac.model
    def states():
        slope = ac.sample("slope", dist.Uniform(-1.0, 1.0))

        def step(previous, y):
            z = ac.sample("z", dist.Normal(slope * previous, 1.0))
            ac.sample("y", dist.Normal(z, sd), obs=y)
            return z, None

        ac.scan(step, 0.0, Y)

    data = Y[::-1] + 0.5 if is_conditioned else Y
    model = states() | {"y": data} if is_conditioned else states()
    density = model.inside_of(Filter(num, jax.random.key(4))).log_density()
    assert [(site.name, site.kind) for site in density.layout.sites] == [
        ("slope", "latent"),
        ("y", "observed"),
        ("evidence", "factor"),
    ]
    position = jnp.array([0.8])
    slope = float(density.constrain(position)["slope"])
    terms = density.site_terms(position)
    lower = np.array([[1, 0, 0], [slope, 1, 0], [slope**2, slope, 1]])
    exact = stats.multivariate_normal(np.zeros(3), lower @ lower.T + sd**2 * np.eye(3)).logpdf(data)
    assert abs(float(terms["evidence"]) - exact) < 4 * 2.0 / np.sqrt(num)
    assert [*terms] == ["slope", "evidence"]
