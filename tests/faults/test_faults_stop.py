"""Stop runs from another process, and go on with them to the same draws."""

import pytest
from fault_models import (
    QUIET,
    Child,
    assert_same,
    finish,
    needs_proc,
    resume,
    sample,
    sample_here,
    target,
    until,
)

from accord import infer
from accord.cli import main
from accord.storage import RunFolder, stopping
from accord.watch.watcher import Watcher

OPTIONS = dict(draws=20_000, warmup=500, chains=2, seed=5, progress=False, quiet=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


def stop(folder):
    with pytest.raises(SystemExit) as ending:
        main(("stop", str(folder)))
    assert ending.value.code == 0


@needs_proc
@pytest.mark.parametrize("name", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_run_that_is_stopped_elsewhere_is_resumed_to_the_same_draws(tmp_path, cache, name):
    folder, executor = tmp_path / "run", infer.Processes(2) if name == "processes" else None
    child = Child.start(cache, sample_here, folder, OPTIONS, executor)
    until(lambda: list(folder.glob("chain-0001/segment-000001.npz")))
    watcher = Watcher(folder, share=1e9)
    while watcher.step():
        pass
    assert watcher.view["state"] == "running"
    stop(folder)
    word, _, result = child.hear()
    assert word == "done" and child.end() == 0
    complete, num_draws, notices = result
    assert not complete and num_draws < OPTIONS["draws"] and notices[0] == "incomplete"
    assert not (folder / stopping.NAME).exists() and infer.load(folder).num_draws == num_draws
    while watcher.step():
        pass
    assert watcher.view["state"] == "stopped"
    assert_same(finish(folder, target(), OPTIONS), sample(target(), **OPTIONS))
    while watcher.step():
        pass
    assert watcher.view["state"] == "complete" and watcher.view["chains"][0]["done"] == OPTIONS["draws"]


@needs_proc
def test_a_run_that_is_killed_and_resumed_is_watched_on(tmp_path, cache):
    folder = tmp_path / "run"
    child = Child.start(cache, sample_here, folder, OPTIONS)
    until(lambda: list(folder.glob("chain-0001/segment-000001.npz")))
    watcher = Watcher(folder, share=1e9)
    child.kill()
    RunFolder(folder).load()
    stopping.ask(folder)  # of the one that was killed: the next one does not hear it
    while watcher.step():
        pass
    assert watcher.view["state"] == "killed"
    assert resume(folder, target(), **QUIET).complete
    while watcher.step():
        pass
    assert watcher.view["state"] == "complete" and watcher.view["problems"] == []
