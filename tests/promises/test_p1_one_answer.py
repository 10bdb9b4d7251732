"""Hold promise P1: the same run gives the same bits, however it was run."""

import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from models import regression, schools
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.executors import available_cores

MODELS = {"schools": schools, "regression": regression}
RUN = dict(draws=60, warmup=60, seed=3, progress=False, quiet=True)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def serial(model):
    return infer.sample(model, chains=4, executor=infer.Serial(), **RUN)


def assert_same(left, right):
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(left, kind).items():
            np.testing.assert_array_equal(array, getattr(right, kind)[name], err_msg=f"{kind} {name}")


def rows(draws, chains):
    """Every array of some chains of a run."""
    index = [draws.chains.index(chain) for chain in chains]
    kinds = (draws.sites, draws.stats, draws.tuning, draws.warmup)
    return [{name: array[index] for name, array in kind.items()} for kind in kinds]


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_threads_draw_what_serial_draws(model, serial, workers):
    assert_same(serial, infer.sample(model, chains=4, executor=infer.Threads(workers), **RUN))


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_processes_draw_what_threads_draw(precision):
    options = dict(chains=3, precision=precision, **RUN)
    processes = infer.sample(schools(), executor=infer.Processes(2), **options)
    assert_same(infer.sample(schools(), executor=infer.Threads(2), **options), processes)


@ac.model
def large(x, y):
    """A sum that XLA shares out among its threads, and a factor that a threaded BLAS does."""
    m = ac.sample("m", dist.Normal(0, 1))
    s = ac.sample("s", dist.HalfNormal(1))
    ac.factor("sum", -0.5e-3 * jnp.sum((x - m) ** 2))
    t = jnp.linspace(0, 3, y.shape[0])
    cov = jnp.exp(-5 * (t[:, None] - t) ** 2) + (0.1 + s**2) * jnp.eye(y.shape[0])
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(y.shape[0]), covariance_matrix=cov), obs=y)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("workers", [1, 2])
def test_large_sums_and_factors_are_the_same_in_processes(workers, lanes):
    rng = np.random.default_rng(5)
    target = large(rng.normal(size=400_000), rng.normal(size=400))
    options = {**RUN, "draws": 6, "warmup": 6, "chains": 2, "lanes": lanes}
    serial = infer.sample(target, executor=infer.Serial(), **options)
    assert_same(serial, infer.sample(target, executor=infer.Threads(2), **options))
    assert_same(serial, infer.sample(target, executor=infer.Processes(workers), **options))


FIRST = """
import numpy as np
from test_p1_one_answer import RUN, large
from accord import infer

rng = np.random.default_rng(5)
target = large(rng.normal(size=10), rng.normal(size=600))
options = {**RUN, "draws": 5, "warmup": 5, "chains": 1, "executor": infer.Serial()}
first, second = (infer.sample(target, infer.NUTS(max_tree_depth=2), **options) for _ in range(2))
assert all(np.array_equal(first[name], second[name]) for name in first)
"""


@pytest.mark.slow
@pytest.mark.skipif(available_cores() < 2, reason="a BLAS of one thread has one order")
def test_the_first_run_of_a_process_draws_what_the_second_draws():
    """In a process of its own, since what loads LAPACK is loaded once."""
    folder = str(Path(__file__).parent)
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([folder, *sys.path])}
    subprocess.run([sys.executable, "-c", FIRST], check=True, env=environment)


def test_a_chain_alone_is_that_chain_among_others(model, serial):
    alone = infer.sample(model, chains=[2], **RUN)
    assert alone.chains == (2,)
    np.testing.assert_equal(rows(alone, [2]), rows(serial, [2]))


def test_more_chains_leave_the_first_ones_alone(model, serial):
    more = infer.sample(model, chains=6, **RUN)
    np.testing.assert_equal(rows(more, range(4)), rows(serial, range(4)))


def test_blocks_of_any_size_give_the_same_bits(model, serial):
    where = paced(first_block=13, block_seconds=1e-5)
    assert_same(serial, infer.sample(model, chains=4, executor=where, **RUN))


def test_a_progress_bar_changes_nothing(model, serial, capsys):
    watched = infer.sample(model, chains=4, **{**RUN, "progress": True, "quiet": False})
    printed, shown = capsys.readouterr()
    assert_same(serial, watched)
    assert not printed
    # Sixty draws are too few, which must be said where the user looks.
    assert watched.notices
    assert all(str(notice) in shown for notice in watched.notices)


def test_a_rule_ends_the_run_at_the_same_draws(model, tmp_path):
    options = {**RUN, "draws": 500, "chains": 4, "until": infer.ESS(150)}
    first = infer.sample(model, executor=infer.Serial(), **options)
    assert first.stopping.held and first.num_draws < 500
    for executor in (infer.Threads(2), infer.Threads(8), infer.Processes(2)):
        store = infer.RunFolder(tmp_path / repr(executor))
        assert_same(first, infer.sample(model, executor=executor, store=store, **options))
    assert_same(first, infer.sample(model, **{**options, "draws": first.num_draws, "until": None}))


def test_a_store_changes_nothing(model, serial, tmp_path):
    stored = infer.sample(model, chains=4, store=infer.RunFolder(tmp_path / "run"), **RUN)
    assert_same(serial, stored)
    assert_same(serial, infer.load(tmp_path / "run"))


def test_lanes_are_a_class_of_their_own_in_which_the_same_holds(model):
    together = infer.sample(model, chains=4, lanes=4, **RUN)
    padded = infer.sample(model, chains=[3, 1], lanes=4, **RUN)
    np.testing.assert_equal(rows(padded, [1, 3]), rows(together, [1, 3]))


def test_lanes_draw_from_the_same_posterior(serial, model):
    """Bits may differ between widths, streams of random numbers do not: the first draws are equal to rounding."""
    together = infer.sample(model, chains=4, lanes=2, **RUN)
    np.testing.assert_allclose(
        together.warmup["position"][:, :5], serial.warmup["position"][:, :5], rtol=1e-6
    )


def test_thinning_keeps_every_nth_of_the_same_draws(model):
    """Known answer K18, counted from the first draw after warm-up: draws 0, 2, ..., 18 are kept."""
    options = {**RUN, "draws": 10}
    whole = infer.sample(model, chains=2, **{**options, "draws": 19})
    thinned = infer.sample(model, chains=2, thinning=2, **options)
    for name in whole:
        np.testing.assert_array_equal(thinned[name], whole[name][:, ::2])


def test_another_seed_gives_other_draws(model, serial):
    other = infer.sample(model, chains=4, **{**RUN, "seed": 4})
    assert all(not np.array_equal(serial[name], other[name]) for name in serial)
