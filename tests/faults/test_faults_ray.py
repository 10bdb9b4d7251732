"""Kill, stop and misconfigure what a run under Ray stands on: it draws the same, or says why it cannot go on."""

import ast
import importlib.util
import os
import subprocess
import sys
import time
from importlib import metadata

import jax
import pytest
from clusters import describe_here
from fault_models import (
    QUIET,
    assert_same,
    give_orders,
    sample,
    taken,
    target,
    watched_target,
)
from paced import IMPATIENT, Paced

from accord import infer
from accord.core.errors import OptionError
from accord.executors import Surroundings

RUN = dict(draws=400, warmup=200, chains=2, seed=6, **QUIET)

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
pytestmark = needs_ray


@pytest.fixture(scope="module")
def expected():
    return sample(watched_target(), executor=infer.Serial(), **RUN)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster that this process has joined before any run, and whose actors find a folder of orders."""
    from accord.executors.clusters.ray_head import RayHead, on_loopback

    folder = tmp_path_factory.mktemp("orders")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACCORD_TEST_ORDERS", str(folder))
        patch.setenv("JAX_ENABLE_X64", "0")
        head = RayHead(2)
    with on_loopback():
        import ray

        ray.init(head.address, logging_level="ERROR", log_to_driver=False)
    yield folder
    ray.shutdown()
    head.close()


@pytest.fixture
def orders(cluster):
    for each in cluster.iterdir():
        each.unlink()
    return cluster


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_whose_actors_die_draws_the_same(orders, expected, count):
    give_orders(orders, *["die"] * count)
    draws = sample(watched_target(), executor=infer.Ray(workers=1), **RUN)
    assert taken(orders) == count
    assert_same(draws, expected)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sleep", "stop"])
def test_an_actor_that_hangs_is_found_and_replaced(orders, expected, order):
    """It sleeps for an hour in a callback, or is stopped by a signal."""
    give_orders(orders, order)
    draws = sample(watched_target(), executor=Paced(infer.Ray(workers=1), IMPATIENT), **RUN)
    assert taken(orders) == 1
    assert_same(draws, expected)


def test_two_actors_draw_the_same_and_the_cluster_stays(orders, expected):
    import ray

    draws = sample(watched_target(), executor=infer.Ray(workers=2), **RUN)
    assert ray.is_initialized()
    assert_same(draws, expected)


def test_an_actor_is_configured_by_the_run_alone(cluster):
    wanted = Surroundings("float32", jax.default_backend(), 3)
    pool = infer.Ray().open(1, wanted)
    try:
        assert pool.submit(describe_here, "float32").result(60) == (wanted, False, "1")
    finally:
        pool.close()


ALONE = """
import os, psutil
from accord import infer
from accord.executors import surroundings_here

if __name__ == "__main__":
    pool = infer.Ray(workers=1).open(1, surroundings_here("float64"))
    pool.submit(os.getpid).result(60)
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = {each.laddr.ip for process in family for each in process.net_connections() if each.status == "LISTEN"}
    print(sorted(listening))
    os._exit(0)
"""


@pytest.mark.slow
def test_a_cluster_of_its_own_is_on_loopback_and_ends_with_the_process(tmp_path):
    psutil = pytest.importorskip("psutil")
    (tmp_path / "alone.py").write_text(ALONE)
    environment = {**os.environ, "ACCORD_TEST_ORDERS": str(tmp_path)}
    command = [sys.executable, "-W", "error", str(tmp_path / "alone.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=200)
    assert set(ast.literal_eval(ran.stdout)) <= {"127.0.0.1", "::ffff:127.0.0.1"}
    until = time.monotonic() + 60
    while any(_is_told(process, tmp_path) for process in psutil.process_iter()):
        assert time.monotonic() < until, "something of the cluster is left"
        time.sleep(0.1)


def _is_told(process, folder) -> bool:
    import psutil

    try:
        return process.environ().get("ACCORD_TEST_ORDERS") == str(folder)
    except psutil.Error:
        return False


WRONG = [
    (dict(workers=0), "workers must be at least 1"),
    (dict(address="ray://10.0.0.5:10001"), r"another machine.*insecure=True"),
    (dict(adress="auto"), "no option 'adress'"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_a_wrong_option_is_refused_with_what_to_write_instead(options, words):
    with pytest.raises(OptionError, match=words):
        infer.Ray(**options)


def test_another_cluster_than_the_one_joined_is_refused(cluster):
    with pytest.raises(OptionError, match=r"in a Ray cluster already.*Ray\(\) runs there"):
        sample(target(), executor=infer.Ray("127.0.0.1:1"), **RUN)


def test_an_old_ray_is_refused(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda package: "2.51.2")
    with pytest.raises(OptionError, match=r"ray >= 2\.52, and 2\.51\.2 is installed"):
        infer.Ray()


def test_ray_inside_of_a_worker_is_refused(monkeypatch):
    monkeypatch.setenv("ACCORD_WORKER", "1")
    with pytest.raises(OptionError, match=r"executor=Ray\(\).*inside of a worker process"):
        sample(target(), executor=infer.Ray(), **RUN)
