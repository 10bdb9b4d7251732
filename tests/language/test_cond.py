"""Check that a branch on a traced value has the density and the draws of the side that is taken, and of no other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, OptionError, SiteError

Y = np.array([0.3, -0.2, 1.9])


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def of_one_law_or_another(cond, z):
    x = cond(
        z > 0,
        lambda: ac.sample("x", dist.Normal(z, 1.0)),
        lambda: ac.sample("x", dist.StudentT(3.0, 0.0, 2.0)),
    )
    ac.sample("y", dist.Normal(x, 1.0), obs=0.5)


def with_bounds_that_differ(cond, z):
    def low(z):
        return ac.sample("x", dist.Uniform(0.0, 1.0)) + z

    def high(z):
        return ac.sample("x", dist.Uniform(-1.0, jnp.exp(z)))

    ac.factor("end", -cond(z > 0, low, high, z))


def with_other_data_laws(cond, z):
    def one(z):
        scale = ac.sample("scale", dist.HalfNormal(1.0))
        with ac.plate("row", 3), handlers.scale(scale=2.0):
            ac.sample("y", dist.Normal(z, scale), obs=np.abs(Y))

    def other(z):
        scale = ac.sample("scale", dist.LogNormal(z, 1.0))
        with ac.plate("row", 3), handlers.mask(mask=np.array([True, False, True])):
            ac.sample("y", dist.Gamma(1.0, scale), obs=np.abs(Y))

    cond(z > 0, one, other, z)


def with_a_factor_in_one(cond, z):
    def one(z):
        ac.factor("more", -(z**2) * Y)

    cond(z > 0, one, lambda z: None, z)


def where_the_other_side_is_not_finite(cond, z):
    def positive(z):
        return ac.sample("x", dist.Normal(jnp.log(z), jnp.sqrt(z)))

    def negative(z):
        return ac.sample("x", dist.Normal(0.0, 1 / jnp.sqrt(-z)))

    cond(z > 0, positive, negative, z)


def nested(cond, z):
    def inner(z):
        return cond(
            z > 0.1,
            lambda: ac.sample("x", dist.Normal(0.0, 1.0)),
            lambda: ac.sample("x", dist.Normal(z, 2.0)),
        )

    def other(z):
        return ac.sample("x", dist.Cauchy(z, 1.0))

    cond(z > 0, inner, other, z)


def around_a_scan(cond, z):
    def step(previous, y):
        x = ac.sample("x", dist.Normal(previous, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y)
        return x, None

    def other(previous, y):
        x = ac.sample("x", dist.StudentT(4.0, previous, 1.0))
        ac.sample("y", dist.Laplace(x, 1.0), obs=y)
        return x, None

    last = cond(
        z > 0,
        lambda z: ac.scan(step, z, Y, name="day")[0],
        lambda z: ac.scan(other, z, Y, name="day")[0],
        z,
    )
    ac.factor("end", -(last**2))


def inside_of_a_scan(cond, z):
    def step(previous, y):
        def calm(previous):
            x = ac.sample("x", dist.Normal(previous, 1.0))
            ac.sample("y", dist.Normal(x, 1.0), obs=y)
            return x

        def wild(previous):
            x = ac.sample("x", dist.StudentT(2.0, 0.0, 5.0))
            ac.sample("y", dist.Laplace(x, jnp.exp(-previous)), obs=y)
            return x

        return cond(z > 0, calm, wild, previous), None

    ac.scan(step, 0.5, Y)


@ac.model
def part(z, width):
    """A part of a branch."""
    x = ac.sample("x", dist.Normal(z, width))
    ac.sample("fixed", dist.Normal(x, 1.0))
    rate = ac.param("rate", 0.5, constraint=dist.constraints.positive)
    return ac.deterministic("product", x * rate)


def of_submodels(cond, z):
    def run(width):
        return lambda z: ac.submodel(part(z, width).condition({"fixed": 0.3}), prefix="a")

    ac.sample("y", dist.Normal(cond(z > 0, run(1.0), run(2.0), z), 1.0), obs=0.2)


MODELS = {
    "one law or another": of_one_law_or_another,
    "bounds that differ": with_bounds_that_differ,
    "other laws of the data": with_other_data_laws,
    "a factor in one": with_a_factor_in_one,
    "the other side is not finite": where_the_other_side_is_not_finite,
    "nested": nested,
    "around a scan": around_a_scan,
    "inside of a scan": inside_of_a_scan,
    "submodels": of_submodels,
}


def written(body, cond=ac.cond):
    """A model of the body; `z` decides."""
    return ac.model(lambda: body(cond, ac.sample("z", dist.Normal(0.0, 1.0))))()


def evaluated(density):
    """The log density at a position, its gradient, the values there, and the position of these."""

    def evaluate(position):
        values = density.constrain(position)
        back = density.unconstrain({entry.name: values[entry.name] for entry in density.layout.entries})
        return density.value_and_grad(position), values, back

    return compiled(evaluate)


@each(MODELS, slow=("one law or another", "around a scan", "nested", "submodels", "other laws of the data"))
def test_the_density_and_gradient_are_those_of_the_side_that_is_taken(body):
    def alone(side):
        def choose(pred, true_fun, false_fun, *operands):
            del pred
            return (true_fun if side else false_fun)(*operands)

        return written(body, choose).log_density()

    both = written(body).log_density()
    positions = np.random.default_rng(0).normal(size=(2, both.dim)) / 2
    positions[:, 0] = 0.7, -0.6
    evaluate = evaluated(both)
    side_by_side = compiled(jax.vmap(both.value_and_grad))(positions)
    for lane, position in enumerate(positions):
        one = alone(position[0] > 0)
        assert [(e.name, e.shape, e.dims) for e in both.layout.entries] == [
            (e.name, e.shape, e.dims) for e in one.layout.entries
        ]
        wanted, its_values, _ = evaluated(one)(position)
        found, values, back = evaluate(position)
        for numbers in (found, jax.tree.map(lambda each, lane=lane: each[lane], side_by_side)):
            for number, other in zip(numbers, wanted, strict=True):
                np.testing.assert_allclose(number, other, rtol=1e-12, atol=1e-13)
        for name, value in its_values.items():
            np.testing.assert_allclose(values[name], value, rtol=1e-13)
        np.testing.assert_allclose(back, position, rtol=1e-9, atol=1e-9)


def test_a_bool_of_python_is_an_if():
    def model(flag):
        return ac.cond(flag, lambda a: ac.sample("x", dist.Normal(a, 1.0)), lambda a: 2.0 * a, 3.0)

    assert handlers.seed(model, 0)(False) == 6.0
    assert list(handlers.trace(handlers.seed(model, 0)).get_trace(np.bool_(True))) == ["x"]


@pytest.mark.parametrize("z", [0.7, -0.6])
def test_draws_are_those_of_the_side_that_is_taken(z):
    def model(pred):
        return ac.cond(
            pred,
            lambda: ac.sample("x", dist.Normal(10.0, 1.0)),
            lambda: ac.sample("x", dist.StudentT(3.0, -10.0, 1.0)),
        )

    plain, traced = (handlers.seed(model, 1)(pred) for pred in (z > 0, jnp.asarray(z > 0)))
    np.testing.assert_allclose(plain, traced, rtol=1e-14)  # one is compiled, with another order of operations


def sampled(law, **options):
    return lambda: ac.sample("x", law, **options)


def nothing():
    return jnp.zeros(())


def named(value):
    return lambda: ac.deterministic("x", value)


NORMAL = dist.Normal(0.0, 1.0)
MISTAKES = {
    "latent in one": (sampled(NORMAL), nothing, "'x'.*is latent in true_fun.*alone.*before `ac.cond`"),
    "observed in one": (
        nothing,
        sampled(NORMAL, obs=0.5),
        "'x'.*is observed in false_fun.*alone.*handlers.mask",
    ),
    "computed in one": (named(0.5), nothing, "'x'.*in true_fun.*alone.*value in both"),
    "of two kinds": (sampled(NORMAL), named(0.5), "'x' is latent in.*and a deterministic site in"),
    "observed in one of two": (sampled(NORMAL), sampled(NORMAL, obs=0.5), "'x' is latent.*and observed"),
    "of two shapes": (
        lambda: ac.sample("x", dist.Normal(jnp.zeros(2), 1.0)).sum(),
        sampled(NORMAL),
        r"'x' has shape \(2,\) in true_fun.*and \(\) in",
    ),
    "of two event shapes": (
        lambda: ac.sample("x", dist.Normal(jnp.zeros(2), 1.0)).sum(),
        lambda: ac.sample("x", dist.Normal(jnp.zeros(2), 1.0).to_event(1)).sum(),
        r"'x' has batch shape \(2,\).*and \(\)",
    ),
    "in two spaces": (sampled(NORMAL), sampled(dist.HalfNormal(1.0)), "'x' must be.*unknown is searched"),
}


@pytest.mark.parametrize(("true_fun", "false_fun", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_sites_that_differ_are_refused_by_name(true_fun, false_fun, words):
    def model():
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        ac.cond(z > 0, true_fun, false_fun)

    with pytest.raises(SiteError, match=words):
        ac.model(model)().log_density()


def test_what_decides_is_one_bool_within_a_model():
    for pred in (jnp.zeros(3) > 0, jnp.asarray(1), 1.0):
        with pytest.raises(OptionError, match=r"pred must be one bool.*jnp.where"):
            handlers.seed(lambda pred=pred: ac.cond(pred, nothing, nothing), 0)()
    with pytest.raises(OptionError, match="a branch must be a function"):
        handlers.seed(lambda: ac.cond(True, 1.0, nothing), 0)()
    with pytest.raises(ModelError, match="outside of any model"):
        ac.cond(True, nothing, nothing)
