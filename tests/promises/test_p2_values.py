"""Hold promise P2 where models meet parallel chains: what is built once serves every run and is not changed."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec
from laws import assert_close, compiled, no_leaks

import accord as ac
import accord.bijectors as bijectors
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import AccordError
from accord.core.precision import scope

BETWEEN = dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0)
BIJECTOR = bijectors.Affine(0.5, 2.0)
CONSTRAINT = dist.constraints.interval(-1.0, 3.0)
BUILT_ONCE = {"distribution": BETWEEN, "bijector": BIJECTOR, "constraint": CONSTRAINT}

DATA = np.array([1.1, 1.9, 1.5, 1.2])
RUN = dict(draws=40, warmup=40, chains=4, progress=False, quiet=True)


def built_anew():
    return {
        "distribution": dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0),
        "bijector": bijectors.Affine(0.5, 2.0),
        "constraint": dist.constraints.interval(-1.0, 3.0),
    }


def latent_of(parts):
    @ac.model
    def model(y):
        built = parts()
        x = ac.sample("x", built["distribution"])
        mapped = dist.TransformedDistribution(dist.Normal(0, 1), built["bijector"])
        z = ac.sample("z", mapped)
        flat = ac.sample("flat", dist.ImproperUniform(built["constraint"], (), ()))
        with ac.plate("row", 4):
            ac.sample("y", dist.Normal(x + 0.1 * z + 0.1 * flat, 0.5), obs=y)

    return model(DATA)


def observed_by(parts):
    @ac.model
    def model(y):
        ac.sample("m", dist.Normal(0, 1))
        with ac.plate("row", 4):
            ac.sample("y", parts()["distribution"], obs=y)

    return model(DATA)


def once():
    return BUILT_ONCE


MODELS = {"latent": latent_of, "observed": observed_by}
WAYS = {
    "serial": dict(executor=infer.Serial()),
    "eight threads": dict(executor=infer.Threads(8)),
    "four lanes": dict(lanes=4),
    "two processes": dict(executor=infer.Processes(2)),
}
PROCESSES = pytest.param("two processes", marks=pytest.mark.slow)


@pytest.fixture(autouse=True)
def _nothing_built_once_changes():
    """Leaf by leaf, and byte by byte of its pickle; whatever a test does with it."""
    copies = {name: pickle.loads(pickle.dumps(value)) for name, value in BUILT_ONCE.items()}
    before = {name: pickle.dumps(value) for name, value in BUILT_ONCE.items()}
    yield
    for name, value in BUILT_ONCE.items():
        assert eqx.tree_equal(value, copies[name]), name
        assert pickle.dumps(value) == before[name], name


@pytest.mark.parametrize(
    ("way", "build"),
    [(way, build) for way in WAYS for build in MODELS if (way, build) != ("two processes", "observed")]
    + [pytest.param("two processes", "observed", marks=pytest.mark.slow)],
)
def test_what_is_built_at_module_level_draws_as_what_is_built_inside(way, build):
    model, lanes = MODELS[build], WAYS[way].get("lanes", 1)
    outside = infer.sample(model(once), **WAYS[way], **RUN)
    inside = infer.sample(model(built_anew), lanes=lanes, **RUN)
    np.testing.assert_equal(dict(outside), dict(inside))


@pytest.mark.parametrize("way", [*(way for way in WAYS if way != "two processes"), PROCESSES])
def test_two_models_share_it_at_the_same_time(way):
    models = [build(once) for build in MODELS.values()]
    lanes = WAYS[way].get("lanes", 1)
    alone = [infer.sample(model, lanes=lanes, **RUN) for model in models]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda model: infer.sample(model, **WAYS[way], **RUN), models))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_equal(dict(one), dict(other))


def test_simulating_before_and_after_a_run_gives_the_same_values():
    """From the prior, and from the posterior, which here is a value taken from the run."""

    def simulate(values):
        simulated = handlers.condition(built_free(once), values) if values else built_free(once)
        sites = handlers.trace(handlers.seed(simulated, 3)).get_trace()
        return {name: np.asarray(site.value) for name, site in sites.items()}

    before = simulate({})
    draws = infer.sample(latent_of(once), **RUN)
    values = {name: float(draws[name][0, -1]) for name in ("x", "z")}
    posterior = simulate(values)
    again = infer.sample(latent_of(once), **RUN)
    np.testing.assert_equal(simulate({}), before)
    np.testing.assert_equal(simulate(values), posterior)
    np.testing.assert_equal(dict(again), dict(draws))
    assert all(1 <= each["x"] <= 2 for each in (before, posterior))


def built_free(parts):
    """The model without data and without its improper prior, which cannot be drawn from."""

    def model():
        x = ac.sample("x", parts()["distribution"])
        z = ac.sample("z", dist.TransformedDistribution(dist.Normal(0, 1), parts()["bijector"]))
        with ac.plate("row", 4):
            ac.sample("y", dist.Normal(x + 0.1 * z, 0.5))

    return model


def test_densities_that_share_it_go_through_every_transformation_twice():
    with scope("float64"):
        densities = [build(once).log_density() for build in MODELS.values()]
        expected = [
            np.asarray(build(built_anew).log_density()(np.full(d.dim, 0.3)))
            for build, d in zip(MODELS.values(), densities, strict=True)
        ]
        mesh = Mesh(np.array(jax.devices()[:1]), ("row",))
        by_row = PartitionSpec("row")
        for density, value in [*zip(densities, expected, strict=True)] * 2:
            rows = np.full((2, density.dim), 0.3)

            def everything(rows, density=density):
                over_rows = jax.vmap(density)
                split = jax.shard_map(over_rows, mesh=mesh, in_specs=by_row, out_specs=by_row)
                return density(rows[0]), over_rows(rows), split(rows), jax.vmap(jax.grad(density))(rows)

            with no_leaks():
                plain, mapped, sharded, slopes = compiled(everything)(rows)
            assert_close(plain, value)
            assert_close(mapped, np.stack([value, value]))
            assert_close(sharded, mapped)
            assert np.isfinite(slopes).all()


def test_a_run_leaks_no_tracer():
    with no_leaks():
        infer.sample(latent_of(once), **{**RUN, "chains": 1})


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap])
def test_sampling_inside_of_another_trace_is_refused_by_name(transform):
    @ac.model
    def model(y):
        ac.sample("y", dist.Normal(ac.sample("x", dist.Normal(0, 1)), 1), obs=y)

    with pytest.raises(AccordError, match=r"infer\.sample.*jit"):
        transform(lambda y: infer.sample(model(y), **RUN)["x"])(np.zeros(3))
