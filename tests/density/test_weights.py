"""Hold the parts of log densities against their sum and closed forms, weighted in every way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each
from row_models import apart, density, effects, shared_out
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, reparam
from accord.core.errors import ModelError
from accord.core.tree import shapes
from accord.density import LogDensity
from accord.density.weights import MAP, MLE, POSTERIOR, Weights, tempered

Y = np.array([0.4, 1.9, -0.3, 2.2])
BETAS = [0.0, 0.1, 0.5, 1.0, 2.0]


@ac.model
def normal(y):
    mean = ac.sample("mean", dist.Normal(1.0, 2.0))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(mean, 0.5), obs=y)


@ac.model
def behind_a_site(y, sigma, chunk=None):
    """A prior that depends on the site to integrate out, of each row."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    with ac.plate("row", y.shape[0], chunk=chunk):
        level = ac.sample("level", dist.Normal(mu, 1.0))
        scale = ac.sample("scale", dist.Normal(level, 1.0))
        ac.sample("y", dist.Normal(scale, sigma), obs=y)


@ac.model
def positive(y):
    scale = ac.sample("scale", dist.HalfNormal(1.0))
    ac.factor("penalty", -scale)
    ac.sample("y", dist.Normal(0.0, scale).expand(y.shape).to_event(1), obs=y)


@ac.model
def walks(y):
    """A scan in a plate, of which one site is reparameterised and all are weighed; and a lifted parameter."""
    width = ac.param("width", 0.5, constraint=dist.constraints.positive)

    def step(previous, observed):
        x = ac.sample("x", dist.Normal(0.9 * previous, width))
        ac.sample("y", dist.Normal(x, 0.5), obs=observed)
        return x, None

    with ac.plate("place", 2), handlers.scale(scale=0.5):
        ac.scan(handlers.reparam(step, {"x": reparam.LocScale()}), jnp.zeros(2), y.reshape(-1, 2))


def lifted():
    return LogDensity.from_model(handlers.lift(walks(Y), dist.Gamma(2.0, 1.0)))


TARGETS = {
    "a scan in a plate, scaled, reparameterised and lifted": lifted,
    "a model": lambda: density(effects, []),
    "in chunks": lambda: density(effects, [], chunk=2),
    "shared out": lambda: shared_out(density(apart, [])),
    "integrated out": lambda: density(effects, ["theta"]),
    "integrated out, in chunks": lambda: density(apart, ["theta", "prior"], chunk=2),
}


@each(TARGETS, slow={"in chunks", "integrated out"})
def test_parts_sum_to_the_log_density_with_its_gradient(target):
    weights = Weights(0.5, 2.0, -1.5)

    def look(at):
        parts, slopes = target.parts(at), jax.jacobian(lambda at: jnp.stack(target.parts(at)))(at)
        return parts, slopes, target.value_and_grad(at), jax.value_and_grad(target.value)(at, weights)

    parts, slopes, (value, slope), weighted = compiled(look)(0.3 * np.sin(np.arange(target.dim)))
    assert_close(sum(parts), value, rtol=1e-10)
    assert_close(slopes.sum(axis=0), slope, rtol=1e-8, atol=1e-8)
    assert_close(weighted[0], np.dot(weights, parts), rtol=1e-10)
    assert_close(weighted[1], np.array(weights) @ slopes, rtol=1e-8, atol=1e-8)


@each({"in chunks": (effects, []), "integrated out": (apart, ["theta", "prior"])})
def test_each_part_of_rows_in_chunks_is_that_of_all_rows(case):
    plain, chunked = (density(*case, chunk) for chunk in (None, 2))
    both = compiled(lambda at: (plain.parts(at), chunked.parts(at)))
    assert_close(*map(np.stack, both(0.3 * np.sin(np.arange(plain.dim)))), rtol=1e-10)


def test_a_tempered_normal_is_that_of_the_formula_in_one_compilation():
    target, traces = LogDensity.from_model(normal(Y)), []

    @jax.jit
    def derivatives(at, beta):
        traces.append(None)
        value, slope = jax.value_and_grad(target.value)(at, tempered(beta))
        return value, slope[0], jax.hessian(target.value)(at, tempered(beta))[0, 0]

    for beta in BETAS:
        value, slope, curvature = derivatives(np.array([0.7]), beta)
        precision = 1 / 4 + beta * len(Y) / 0.25
        centre = (1 / 4 + beta * Y.sum() / 0.25) / precision
        expected = stats.norm(1, 2).logpdf(0.7) + beta * stats.norm(0.7, 0.5).logpdf(Y).sum()
        assert_close(
            np.array([value, slope, curvature]), np.array([expected, precision * (centre - 0.7), -precision])
        )
    assert len(traces) == 1


@pytest.mark.parametrize("beta", BETAS)
def test_the_likelihood_of_what_is_not_integrated_out_is_tempered(beta):
    target = density(apart, ["theta", "prior"])
    parts, value = compiled(lambda at: (target.parts(at), target.value(at, tempered(beta))))(np.array([0.3]))
    assert_close(parts.prior, stats.norm(0, 5).logpdf(0.3), rtol=1e-12)
    assert_close(value, parts.prior + beta * parts.likelihood, rtol=1e-12)


def test_factors_are_likelihood_and_each_estimator_has_its_parts():
    target, at = LogDensity.from_model(positive(Y)), np.array([0.2])
    scale = np.exp(0.2)
    prior = stats.halfnorm().logpdf(scale)
    likelihood = stats.norm(0, scale).logpdf(Y).sum() - scale
    expected = {POSTERIOR: prior + 0.2 + likelihood, MAP: prior + likelihood, MLE: likelihood}
    for weights, number in expected.items():
        assert_close(target.value(at, weights), number)


def test_a_likelihood_of_minus_infinity_does_not_count_at_a_temperature_of_zero():
    @ac.model
    def impossible():
        ac.sample("x", dist.Normal(0, 1))
        ac.factor("never", -jnp.inf)

    target = LogDensity.from_model(impossible())
    value = jax.jit(lambda at, beta: target.value(at, tempered(beta)))(np.zeros(1), 0.0)
    assert_close(value, stats.norm().logpdf(0.0))


def test_the_parts_of_a_scaled_reparameterised_scan_in_a_plate_are_those_of_the_formula():
    target, at = lifted(), 0.3 * np.cos(np.arange(5))
    layout, values = target.layout, target.constrain(at)
    assert [entry.name for entry in layout.entries] == ["width", "x_base"]
    width, x, base = values["width"], values["x"], at[layout["x_base"].start : layout["x_base"].stop]
    before = np.concatenate([np.zeros((1, 2)), np.asarray(x)[:-1]])
    density_of_x = stats.norm(0.9 * before, width).logpdf(x).sum()
    prior, jacobian, likelihood = compiled(target.parts)(at)
    np.testing.assert_allclose(x, 0.9 * before + width * base.reshape(2, 2), rtol=1e-12)
    # The weight is about the density of x itself, whose volume counts in full.
    assert_close(prior, stats.gamma(2.0).logpdf(width) + 0.5 * density_of_x, rtol=1e-10)
    assert_close(jacobian, np.log(width) + 4 * np.log(width), rtol=1e-10)
    assert_close(likelihood, 0.5 * stats.norm(x, 0.5).logpdf(Y.reshape(2, 2)).sum(), rtol=1e-10)


def test_whether_parts_can_be_told_apart_is_seen_from_shapes():
    target = shared_out(density(apart, ["theta"]))
    target.program.check_separate(shapes(dict(target.data)))
    behind = shared_out(density(behind_a_site, ["level"]))
    with pytest.raises(ModelError, match="prior of site 'scale' depends on 'level'"):
        behind.program.check_separate(shapes(dict(behind.data)))


def test_the_parts_of_a_function_are_not_told_apart():
    target = LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(2))
    assert_close(target.value(np.ones(2), MAP), -1.0)
    for call in (target.parts, lambda at: target.value(at, tempered(0.5))):
        with pytest.raises(ModelError, match="without sites"):
            call(np.ones(2))
