"""Hold promise P2 where models meet parallel chains: a distribution built once serves every run and is not changed."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import numpy as np
import pytest
from laws import no_leaks

import accord as ac
import accord.distributions as dist
from accord import infer

BETWEEN = dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0)
DATA = np.array([1.1, 1.9, 1.5, 1.2])
RUN = dict(draws=40, warmup=40, chains=4, progress=False, quiet=True)


def latent_of(distribution):
    @ac.model
    def model(y):
        x = ac.sample("x", distribution())
        with ac.plate("row", 4):
            ac.sample("y", dist.Normal(x, 0.5), obs=y)

    return model(DATA)


def observed_by(distribution):
    @ac.model
    def model(y):
        ac.sample("m", dist.Normal(0, 1))
        with ac.plate("row", 4):
            ac.sample("y", distribution(), obs=y)

    return model(DATA)


WAYS = {
    "serial": dict(executor=infer.Serial()),
    "eight threads": dict(executor=infer.Threads(8)),
    "four lanes": dict(lanes=4),
}


@pytest.mark.parametrize("build", [latent_of, observed_by])
@pytest.mark.parametrize("way", WAYS)
def test_a_distribution_of_module_level_draws_as_one_built_inside(build, way):
    copy, bytes_before = pickle.loads(pickle.dumps(BETWEEN)), pickle.dumps(BETWEEN)
    outside = infer.sample(build(lambda: BETWEEN), **WAYS[way], **RUN)
    inside = infer.sample(
        build(lambda: dist.TruncatedNormal(0.3, 1.5, low=1.0, high=2.0)), **WAYS[way], **RUN
    )
    np.testing.assert_equal(outside.sites, inside.sites)
    assert eqx.tree_equal(BETWEEN, copy)
    assert pickle.dumps(BETWEEN) == bytes_before


def test_two_models_share_it_at_the_same_time():
    models = [latent_of(lambda: BETWEEN), observed_by(lambda: BETWEEN)]
    alone = [infer.sample(model, **RUN) for model in models]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda model: infer.sample(model, **RUN), models))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_equal(one.sites, other.sites)


def test_a_run_leaks_no_tracer():
    with no_leaks():
        infer.sample(latent_of(lambda: BETWEEN), **{**RUN, "chains": 1})
