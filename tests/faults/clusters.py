"""Start the clusters of others on this machine, and look at what a worker finds around it."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jax

from accord.core.precision import Precision
from accord.executors import Surroundings, surroundings_here

STRANGE = {"JAX_ENABLE_X64": "0", "NPROC": "1", "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16", "XLA_FLAGS": ""}
"""Settings of a worker that are not those of any run here."""


@dataclass
class DaskCluster:
    """Processes of Dask on loopback. **Fields**: `address` of the scheduler; `processes`, that one first."""

    address: str
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, *options: str) -> subprocess.Popen[bytes]:
        arguments = (self.address, "--nthreads", "1", "--memory-limit", "0", "--no-dashboard", *options)
        process = _dask(self.folder, "worker", *arguments)
        self.processes.append(process)
        return process


@contextlib.contextmanager
def dask_cluster(folder: Path, num_workers: int, *options: str) -> Iterator[DaskCluster]:
    """A scheduler and workers of a thread each, without nannies unless `options` are those of workers that have one."""
    scheduler = _dask(folder, "scheduler", "--port", "0", "--no-dashboard")
    cluster = DaskCluster(_address(folder / "scheduler.log"), folder, [scheduler])
    try:
        for _ in range(num_workers):
            cluster.add_worker(*(options or ("--no-nanny",)))
        yield cluster
    finally:
        for process in reversed(cluster.processes):
            process.kill()
            process.wait()


def describe_here(precision: Precision) -> tuple[Surroundings, bool, str]:
    """The surroundings of this process, its default precision and its number of threads of BLAS."""
    return (
        surroundings_here(precision),
        bool(jax.config.read("jax_enable_x64")),
        os.environ["OMP_NUM_THREADS"],
    )


def _dask(folder: Path, role: str, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / f"{role}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", "--host", "127.0.0.1", *arguments],
            cwd=folder,
            env={**os.environ, **STRANGE},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _address(log: Path) -> str:
    """What the scheduler says of itself."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = re.search(r"Scheduler at:\s+(tcp://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise TimeoutError(f"the scheduler did not start: {log.read_text()}")
