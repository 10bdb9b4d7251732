"""Kill a process that has workers, whatever they are doing: none outlives it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import jax
import pytest
from fault_models import Child, is_alive, needs_proc, needs_signals, until, voice, worker_pids

from accord import infer
from accord.executors import surroundings_here
from accord.executors.parent import command

pytestmark = [needs_signals, needs_proc]

EXECUTORS = {
    "processes": lambda: infer.Processes(1),
    "a gang": lambda: infer.MultiHost(processes=2, shard={"x": 0}),
    "dask": lambda: infer.Dask(workers=1),
}


def compute_for_ever(sign):
    """Enter a compiled program that does not end."""
    forever = jax.jit(lambda: jax.lax.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 7, 0))
    compiled = forever.lower().compile()
    Path(f"{sign}-{os.getpid()}").touch()
    compiled()


def have_workers(name, sign, with_fork):
    pool = EXECUTORS[name]().open(1, surroundings_here("float64"))
    pool.submit(compute_for_ever, sign)
    until(lambda: any(Path(sign).parent.glob("sign-*")))
    held = os.fork() if with_fork else 0  # it has a copy of every pipe of this process
    if with_fork and held == 0:
        signal.pause()
    voice[0].send(("working", time.monotonic(), (worker_pids(), held)))
    signal.pause()


@pytest.mark.parametrize(
    ("name", "with_fork"),
    [
        ("processes", False),
        ("processes", True),
        pytest.param("a gang", False, marks=pytest.mark.slow),
        pytest.param("dask", False, marks=pytest.mark.slow),
    ],
)
def test_no_worker_outlives_its_parent_in_the_middle_of_a_program_that_does_not_end(
    tmp_path, name, with_fork
):
    child = Child.start("off", have_workers, name, str(tmp_path / "sign"), with_fork)
    word, _, result = child.hear()
    assert word == "working", result
    pids, held = result
    assert pids and all(map(is_alive, pids))
    child.kill()
    try:
        until(lambda: not any(map(is_alive, pids)))
    finally:
        for pid in (*pids, *([held] if held else [])):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def start_slowly(folder):
    """Start a worker whose imports take for ever."""
    process = subprocess.Popen(command("slow_module", path=[*sys.path, folder]))
    until(lambda: (Path(folder) / "importing").exists())
    voice[0].send(("working", time.monotonic(), process.pid))
    signal.pause()


def test_no_worker_outlives_its_parent_while_it_imports(tmp_path):
    (tmp_path / "slow_module.py").write_text(
        f"import time, pathlib; pathlib.Path({str(tmp_path / 'importing')!r}).touch(); time.sleep(3600)"
    )
    child = Child.start("off", start_slowly, str(tmp_path))
    word, _, pid = child.hear()
    assert word == "working", pid
    child.kill()
    try:
        until(lambda: not is_alive(pid))
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
