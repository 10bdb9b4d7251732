"""Hold particles to what is known of them: fields by automatic derivatives, fixed points, and posteriors' moments.

Particles of these seeds move without noise: nothing here fails by chance.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.core.errors import OptionError
from accord.vi.interaction import inverse_multiquadric, linear, spread

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
MEAN, COVARIANCE = np.array([1.0, -1.0]), np.array([[2.0, 0.8], [0.8, 1.0]])


@ac.model
def normal(mean: Any, covariance: Any) -> None:
    ac.sample("x", dist.MultivariateNormal(mean, covariance_matrix=covariance))


@ac.model
def banana() -> None:
    a = ac.sample("a", dist.Normal(0, 1))
    ac.sample("b", dist.Normal(a**2, 0.5))


@ac.model
def rows(x: Any, y: Any, size: int | None = None) -> None:
    slope = ac.sample("slope", dist.Normal(np.zeros(2), 1.0).to_event(1))
    with ac.plate("row", len(x), subsample_size=size):
        ac.sample("y", dist.Normal(ac.subsample(x, 1) @ slope, 1.0), obs=ac.subsample(y))


def particles_of(fit: Any, site: str) -> np.ndarray:
    """Every particle once."""
    return fit.draw(fit.guide.num_particles)[site][0]


def multiquadric_at(x: Any, y: Any, h: float) -> Any:
    return (1 + jnp.sum((x - y) ** 2) / h) ** -0.5


@each(
    {
        "inverse multiquadric": (lambda x, s: inverse_multiquadric(x, s, 3.0), multiquadric_at),
        "linear": (linear, lambda x, y, h: 1 + jnp.sum(x * y)),
    }
)
def test_the_field_and_the_discrepancy_are_those_of_the_kernel_by_derivatives(case: Any) -> None:
    interact, kernel_of = case
    with precision.scope("float64"):
        x = np.random.default_rng(0).normal(size=(7, 3))
        x = jnp.asarray(x - x.mean(axis=0))
        s = jnp.asarray(np.random.default_rng(1).normal(size=(7, 3)))
        h = 3.0 * float(((x[:, None] - x) ** 2).sum()) / (7 * 6)

        def kernel(one: Any, other: Any) -> Any:
            return kernel_of(one, other, h)

        def pair(a: Any, b: Any, s_a: Any, s_b: Any) -> Any:
            by_a, by_b = jax.grad(kernel, 0)(a, b), jax.grad(kernel, 1)(a, b)
            turns = jnp.trace(jax.jacobian(jax.grad(kernel, 0), 1)(a, b))
            return s_a @ s_b * kernel(a, b) + s_a @ by_b + s_b @ by_a + turns

        def by_pairs(function: Any, *arguments: Any) -> Any:
            """Of each particle with every other one, which come first in `arguments`."""
            rows = [jnp.repeat(each, 7, axis=0) for each in arguments]
            columns = [jnp.tile(each, (7, 1)) for each in arguments]
            both = [each for two in zip(rows, columns, strict=True) for each in two]
            return np.asarray(jax.jit(jax.vmap(function))(*both)).reshape(7, 7, -1)

        all_pairs = by_pairs(pair, x, s)
        attraction = by_pairs(lambda a, b, p, q: kernel(b, a) * q, x, s).mean(axis=1)
        repulsion = by_pairs(lambda a, b: jax.grad(kernel, 0)(b, a), x).mean(axis=1)
        found = interact(x, s)
    assert np.allclose(found.attraction, attraction, rtol=0, atol=1e-12)
    assert np.allclose(found.repulsion, repulsion, rtol=0, atol=1e-12)
    assert np.isclose(found.pairs, all_pairs.mean(), rtol=1e-10)
    assert np.isclose(found.own, np.diag(all_pairs[..., 0]).mean(), rtol=1e-10)


@pytest.mark.parametrize(("sign", "low", "high"), [(1, 0.9, 1.0), (0, 0.0, 1e-3), (-1, 0.0, 0.6)])
def test_particles_collapse_unless_they_repel_each_other(sign: int, low: float, high: float) -> None:
    with precision.scope("float64"):

        def step(_: Any, x: Any) -> Any:
            found = inverse_multiquadric(x, -x, 5.0)
            return x + 0.3 * (found.attraction + sign * found.repulsion)

        start = jnp.asarray(np.random.default_rng(0).normal(size=(50, 2)))
        variance = np.asarray(jax.jit(lambda x: jax.lax.fori_loop(0, 500, step, x))(start)).var(axis=0)
    assert np.all(low <= variance) and np.all(variance <= high)


@pytest.mark.parametrize("number", [6, 100])
def test_moments_of_particles_by_a_linear_kernel_are_exact_for_a_normal(number: int) -> None:
    guide = infer.guides.Particles(num_particles=number)
    fit = infer.fit(normal(MEAN, COVARIANCE), guide, objective=infer.SteinMoments(), **QUIET)
    x = particles_of(fit, "x")
    assert np.allclose(x.mean(axis=0), MEAN, rtol=0, atol=1e-9)
    assert np.allclose(np.cov(x.T, bias=True), COVARIANCE, rtol=0, atol=1e-9)
    assert np.isclose(fit.spread, 1, atol=1e-9) and fit.discrepancy < 1 and not fit.notices


@pytest.mark.slow
def test_two_particles_by_a_linear_kernel_have_the_mean_of_a_normal() -> None:
    fit = infer.fit(
        normal(MEAN, COVARIANCE),
        infer.guides.Particles(num_particles=2),
        objective=infer.SteinMoments(),
        **QUIET,
    )
    assert np.allclose(particles_of(fit, "x").mean(axis=0), MEAN, rtol=0, atol=1e-9)
    assert "narrow_particles" in [notice.code for notice in fit.notices]


def test_particles_of_a_normal_in_two_dimensions_have_its_moments() -> None:
    fit = infer.fit(normal(MEAN, COVARIANCE), infer.guides.Particles(), **QUIET)
    x = particles_of(fit, "x")
    sd = np.sqrt(np.diag(COVARIANCE))
    assert np.all(np.abs(x.mean(axis=0) - MEAN) < 0.01 * sd)
    assert np.all(np.abs(x.std(axis=0) / sd - 1) < 0.01)
    assert abs(np.corrcoef(x.T)[0, 1] - 0.8 / np.sqrt(2)) < 0.01
    assert fit.converged and fit.discrepancy < 1 and 0.98 < fit.spread < 1.01 and not fit.notices
    table = fit.summary()
    assert np.allclose(table["mean"], x.mean(axis=0)) and np.allclose(table["sd"], x.std(axis=0))
    assert np.isnan([fit.pareto_k, fit.log_evidence_bound, fit.effective_draws, *table["mean_psis"]]).all()


@pytest.mark.slow
def test_particles_follow_a_banana() -> None:
    fit = infer.fit(banana(), infer.guides.Particles(), **QUIET)
    a, b = particles_of(fit, "a"), particles_of(fit, "b")
    # By integration: means 0 and 1, standard deviations 1 and 1.5, and b - a ** 2 is apart from a.
    assert abs(a.mean()) < 0.05 and abs(b.mean() - 1) < 0.15
    assert abs(a.std() - 1) < 0.1 and abs(b.std() / 1.5 - 1) < 0.15
    assert abs(np.corrcoef(a**2, b)[0, 1] - np.sqrt(2) / 1.5) < 0.05
    assert not fit.notices


@pytest.mark.slow
def test_too_few_particles_are_told_to_be_near_to_each_other_where_they_are() -> None:
    model = normal(np.zeros(30), np.eye(30))
    few = infer.fit(model, infer.guides.Particles(num_particles=20), steps=1000, **QUIET)
    (told,) = [notice for notice in few.notices if notice.code == "narrow_particles"]
    assert told.sites == ("x",) and "20 particles are few for 30" in told.message
    assert few.spread < 0.8 and particles_of(few, "x").var(axis=0).mean() < 0.7
    enough = infer.fit(model, infer.guides.Particles(num_particles=100), **QUIET)
    variance = particles_of(enough, "x").var(axis=0)
    assert 0.9 < variance.mean() < 1 and np.isclose(enough.spread, variance.min(), atol=0.02)


def test_spread_is_the_ratio_of_variances_around_a_normal() -> None:
    with precision.scope("float64"):
        x = jnp.asarray(np.random.default_rng(0).normal(size=(40, 3)))
        sd = np.array([1.0, 2.0, 0.5])
        assert np.allclose(spread(x, -x / sd**2), x.var(axis=0) / sd**2)


def test_particles_that_have_not_moved_are_worth_as_many_draws() -> None:
    """The mean of the squared discrepancy of independent draws is one, by its scale; a half and twice are far."""
    with precision.scope("float64"):
        draws = np.random.default_rng(0).normal(size=(200, 50, 4))
        found = jax.jit(jax.vmap(lambda x: inverse_multiquadric(x, -x, 0.2).relative))(jnp.asarray(draws))
    assert 0.8 < np.mean(np.asarray(found)) < 1.2


@pytest.mark.slow
def test_particles_of_parts_of_the_data_have_the_moments_of_all() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    y = x @ np.array([0.5, -1.0]) + rng.normal(size=1000)
    covariance = np.linalg.inv(x.T @ x + np.eye(2))
    fit = infer.fit(rows(x, y, 100), infer.guides.Particles(num_particles=50), **QUIET)
    found, sd = particles_of(fit, "slope"), np.sqrt(np.diag(covariance))
    assert np.all(np.abs(found.mean(axis=0) - covariance @ x.T @ y) < 0.1 * sd)
    assert np.all(np.abs(found.std(axis=0) / sd - 1) < 0.05)


@pytest.mark.slow
def test_particles_are_draws_for_all_that_takes_draws() -> None:
    model = rows(np.eye(2), np.ones(2))
    fit: Any = infer.fit(model, infer.guides.Particles(num_particles=30), steps=500, **QUIET)
    assert infer.predict(fit, rows(np.eye(2), None), quiet=True)["y"].shape == (1, 1000, 2)
    assert fit.draw(30).to_arviz().posterior["slope"].shape == (1, 30, 2)
    assert fit.draw(7)["slope"].shape == (1, 7, 2)
    drawn = infer.sample(model, init=fit, draws=50, warmup=100, chains=2, **QUIET)
    assert drawn["slope"].shape == (2, 50, 2)
    assert "30 draws" in repr(fit) and "bound" not in repr(fit)
    with pytest.raises(OptionError, match="a Particles is not known as a one-to-one map"):
        _ = fit.bijector


@pytest.mark.slow
def test_restarts_in_other_modes_are_told_by_their_means() -> None:
    @ac.model
    def two_modes() -> None:
        x = ac.sample("x", dist.Normal(0, 10))
        ac.factor("modes", jnp.logaddexp(-((x - 3) ** 2) / 0.32, -((x + 3) ** 2) / 0.32))

    fit = infer.fit(two_modes(), infer.guides.Particles(num_particles=20), restarts=4, steps=400, **QUIET)
    assert "restarts_disagree" in [notice.code for notice in fit.notices]
    assert fit.best in fit.losses and np.isnan(list(fit.bounds.values())).all()
