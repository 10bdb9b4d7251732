"""Kill, stop and misconfigure what a run under Dask stands on: it draws the same, or says why it cannot go on."""

import asyncio
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from unittest import mock

import jax
import numpy as np
import pytest
from clusters import dask_cluster, describe_here
from fault_models import (
    QUIET,
    assert_same,
    give_orders,
    is_begun,
    resume,
    sample,
    taken,
    target,
    watched_target,
)
from paced import IMPATIENT, Paced

from accord import infer
from accord.core.errors import OptionError, WorkerError
from accord.executors import Surroundings, surroundings_here
from accord.storage.memory import MemoryRun
from accord.storage.run_folder import RunFolderRun

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")  # comes with it

RUN = dict(draws=400, warmup=200, chains=2, seed=6, **QUIET)
LONG = dict(draws=20_000, warmup=500, chains=2, seed=6, **QUIET)


@pytest.fixture(scope="module")
def expected():
    return sample(watched_target(), executor=infer.Serial(), **RUN)


@pytest.fixture(scope="module")
def long_expected():
    return sample(target(), executor=infer.Serial(), **LONG)


def wait_for(folder, num_draws):
    """Until a run has stored more than that many draws of each chain; a run that has failed never does."""
    last = time.monotonic() + 300
    while not is_begun(folder) or infer.load(folder).num_draws <= num_draws:
        assert time.monotonic() < last, "the run stores no draws"
        time.sleep(0.05)


# Losses


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_whose_children_die_draws_the_same(orders, expected, count):
    give_orders(orders, *["die"] * count)
    draws = sample(watched_target(), executor=infer.Dask(workers=1), **RUN)
    assert taken(orders) == count
    assert_same(draws, expected)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_a_run_whose_dask_workers_are_killed_draws_the_same(tmp_path, long_expected, count):
    """Each is followed by another, as a batch queue would have it."""
    folder = tmp_path / "run"
    with dask_cluster(tmp_path, 2) as cluster, ThreadPoolExecutor(1) as beside:

        def kill():
            for number in range(count):
                wait_for(folder, number * 5_000)
                cluster.processes[1 + number].kill()
                cluster.add_worker("--no-nanny")

        killed = beside.submit(kill)
        store = infer.RunFolder(folder)
        draws = sample(target(), executor=infer.Dask(cluster.address), store=store, **LONG)
        killed.result(1)
    assert_same(draws, long_expected)


@pytest.mark.slow
def test_a_run_whose_scheduler_is_killed_says_so_and_is_resumed_elsewhere(tmp_path, long_expected):
    folder, longer = tmp_path / "run", LONG | dict(draws=100_000)
    with dask_cluster(tmp_path, 1) as cluster, ThreadPoolExecutor(1) as beside:

        def kill():
            wait_for(folder, 0)
            cluster.processes[0].kill()

        killed = beside.submit(kill)
        with (
            distributed.Client(cluster.address, set_as_default=False) as client,
            pytest.raises(WorkerError, match=r"connection to the Dask scheduler .* was lost.*infer\.resume"),
        ):
            sample(target(), executor=infer.Dask(client), store=infer.RunFolder(folder), **longer)
        killed.result()
        for where in (client, client, cluster.address):  # as often as it is asked
            with pytest.raises(
                WorkerError, match=r"Dask cluster at tcp.* does not answer|no Dask scheduler|is closed"
            ):
                sample(target(), executor=infer.Dask(where), **RUN)
    loaded = infer.load(folder)
    assert not loaded.problems and 0 < loaded.num_draws < longer["draws"]
    resumed = resume(folder, target(), executor=infer.Serial(), **QUIET)
    assert resumed.complete and resumed.num_draws == longer["draws"]
    np.testing.assert_array_equal(resumed["x"][:, : loaded.num_draws], loaded["x"])
    np.testing.assert_array_equal(resumed["x"][:, : LONG["draws"]], long_expected["x"])


@contextmanager
def lost_client(client, number):
    """Close a client once that many segments have been stored, by whatever store."""
    stored, appends = [], {kind: kind.append for kind in (MemoryRun, RunFolderRun)}

    def counting(run, segment):
        appends[type(run)](run, segment)
        stored.append(segment)
        if len(stored) == number:
            client.close()

    with ExitStack() as patches:
        for kind in appends:
            patches.enter_context(mock.patch.object(kind, "append", counting))
        yield


@pytest.fixture
def client():
    options = dict(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


LEFT = {
    "a folder": (lambda path: infer.RunFolder(path), r"What was stored in .*run is intact: infer\.resume"),
    "memory": (lambda path: None, r"Its draws were in memory alone and are lost with it.*RunFolder"),
}


@pytest.mark.parametrize("left", LEFT)
def test_a_lost_client_tells_what_is_left_of_the_run_and_stays_an_error_in_words(left, client, tmp_path):
    store, words = LEFT[left]
    with lost_client(client, 3), pytest.raises(WorkerError, match=rf"Dask.*{words}") as caught:
        sample(target(), executor=infer.Dask(client), store=store(tmp_path / "run"), **LONG)
    assert ("RunFolder" in str(caught.value)) == (left == "memory")
    for _ in range(2):
        with pytest.raises(WorkerError, match=r"the Dask client that was given is closed\. Make a new one"):
            sample(target(), executor=infer.Dask(client), **RUN)


# The stuck


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sleep", "stop"])
def test_a_child_that_hangs_is_found_and_replaced(orders, expected, order):
    """It sleeps for an hour in a callback, or is stopped by a signal."""
    give_orders(orders, order)
    draws = sample(watched_target(), executor=Paced(infer.Dask(workers=1), IMPATIENT), **RUN)
    assert taken(orders) == 1
    assert_same(draws, expected)


@pytest.mark.slow
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_dask_worker_that_hangs_is_given_up(tmp_path, long_expected, nanny):
    """Stopped by a signal, it ends no child: where there is a nanny it is restarted, otherwise left out."""
    folder = tmp_path / "run"
    with dask_cluster(tmp_path, 2, nanny) as cluster, ThreadPoolExecutor(1) as beside:

        def stop():
            with distributed.Client(cluster.address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=60)
                pids = list(client.run(os.getpid).values())
            wait_for(folder, 0)
            os.kill(pids[0], signal.SIGSTOP)
            return pids[0]

        stopped = beside.submit(stop)
        store = infer.RunFolder(folder)
        # The other worker must not be given up, however busy the machine: without a nanny, none would be left.
        where = Paced(infer.Dask(cluster.address), replace(IMPATIENT, patience=15.0, patience_at_first=600.0))
        draws = sample(target(), executor=where, store=store, **LONG)
        with suppress(ProcessLookupError):
            os.kill(stopped.result(), signal.SIGKILL)
    assert_same(draws, long_expected)


@pytest.mark.slow
def test_answers_that_are_long_on_their_way_arrive():
    """Half a second each, as over a thin wire, and more of them at a time than Dask fetches."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=8, processes=False, dashboard_address=None
    ) as cluster:
        gather = cluster.scheduler.handlers["gather"]

        async def gather_slowly(*arguments, **options):
            await asyncio.sleep(0.5)
            return await gather(*arguments, **options)

        cluster.scheduler.handlers["gather"] = gather_slowly
        with distributed.Client(cluster, set_as_default=False) as client:
            pool = infer.Dask(client).open(8, surroundings_here("float64"))
            try:
                answers = [pool.submit(abs, -number) for number in range(16)]
                assert [each.result(60) for each in answers] == list(range(16))
            finally:
                pool.close()


# Surroundings


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A worker of others, in float32 and with a pool of one thread."""
    with dask_cluster(tmp_path_factory.mktemp("dask"), 1) as cluster:
        yield cluster


def test_a_worker_of_others_in_float32_draws_the_same_and_keeps_nothing(cluster, expected):
    with distributed.Client(cluster.address, set_as_default=False) as client:
        draws = sample(watched_target(), executor=infer.Dask(client), **RUN)
        (plugins,) = client.run(lambda dask_worker: list(dask_worker.plugins)).values()
        assert not [name for name in plugins if "accord" in name]
    assert_same(draws, expected)


def test_a_child_is_configured_by_the_run_alone(cluster):
    wanted = Surroundings("float32", jax.default_backend(), 3)
    pool = infer.Dask(cluster.address).open(1, wanted)
    try:
        assert pool.submit(describe_here, "float32").result(60) == (wanted, False, "1")
    finally:
        pool.close()


@pytest.mark.slow
def test_a_worker_without_accord_is_named(tmp_path):
    (tmp_path / "accord").mkdir()
    (tmp_path / "accord" / "__init__.py").write_text("raise ImportError('there is none')")
    with (
        dask_cluster(tmp_path, 1) as cluster,
        pytest.raises(WorkerError, match=r"there is none.*must have accord"),
    ):
        sample(target(), executor=infer.Dask(cluster.address), **RUN)


@pytest.mark.slow
def test_a_worker_with_another_jax_is_refused(cluster):
    wanted = replace(surroundings_here("float64"), software="jax 0.1")
    pool = infer.Dask(cluster.address).open(1, wanted)
    try:
        with pytest.raises(WorkerError, match=r"software='jax 0\.1'.*another JAX on that machine"):
            pool.submit(os.getpid).result(60)
    finally:
        pool.close()


def test_a_cluster_of_this_process_listens_nowhere():
    pool = infer.Dask(workers=1).open(1, surroundings_here("float64"))
    try:
        assert pool.submit(os.getpid).result(60) != os.getpid()
        listening = [each for each in psutil.Process().net_connections() if each.status == "LISTEN"]
        assert not listening
    finally:
        pool.close()
        pool.close()


# Options

WRONG = [
    (dict(workers=0), "workers must be at least 1"),
    (dict(cluster=8786), "the address of a scheduler, a distributed.Client or None, got int"),
    (dict(cluster=""), "address is empty"),
    (dict(cluster="tcp://10.0.0.5:8786"), r"another machine.*insecure=True"),
    (dict(cluster="scheduler.example.org:8786"), r"another machine.*tls://"),
    (dict(adress="tcp://127.0.0.1:8786"), "no option 'adress'"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_a_wrong_option_is_refused_with_what_to_write_instead(options, words):
    with pytest.raises(OptionError, match=words):
        infer.Dask(**options)


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("tls://10.0.0.5:8786", {}),
        ("tcp://10.0.0.5:8786", dict(insecure=True)),
        ("tcp://[::1]:8786", {}),
        ("localhost:8786", {}),
        ("tcp://127.0.0.1:8786", {}),
    ],
)
def test_an_address_is_taken_that_is_near_or_encrypted_or_asked_for(address, options):
    assert infer.Dask(address, **options).cluster == address


@pytest.mark.parametrize(
    ("executor", "package", "extra"), [(infer.Dask, "distributed", "dask"), (infer.Ray, "ray", "ray")]
)
def test_a_missing_extra_is_named(monkeypatch, executor, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=rf'pip install "accord\[{extra}\]"'):
        executor()


def test_dask_inside_of_a_worker_is_refused(monkeypatch):
    monkeypatch.setenv("ACCORD_WORKER", "1")
    with pytest.raises(OptionError, match=r"executor=Dask\(\).*inside of a worker process"):
        sample(target(), executor=infer.Dask(), **RUN)
