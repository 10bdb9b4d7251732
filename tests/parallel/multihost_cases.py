"""Give the tests of gangs a model, and functions that members call: they import this module, and nothing of pytest."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.density.rows.cutting import Cut
from accord.density.rows.file_blocks import FileBlocks
from accord.density.rows.row_files import FileRows
from accord.programs.placement import Placement

SHARD = {"y": 0}
RUN = dict(draws=300, warmup=200, chains=1, seed=4, progress=False, quiet=True)


def counts(num_rows: int) -> np.ndarray:
    return np.random.default_rng(16).poisson(np.linspace(20, 40, 10), size=(num_rows, 10))


@ac.model
def rates(y):
    """Founding case F4."""
    with ac.plate("group", y.shape[1], dim=-1):
        rate = ac.sample("rate", dist.Gamma(6.5, 1 / 2.25))
        with ac.plate("row", y.shape[0], dim=-2):
            ac.sample("y", dist.Poisson(rate), obs=y)


def num_processes() -> tuple[int, int, int]:
    return jax.process_count(), jax.device_count(), jax.local_device_count()


def length(constant: bytes, again: bytes) -> int:
    return len(constant) + len(again)


def num_rows_read(path: str) -> int:
    """How many rows each of two processes reads of 32 that are shared out."""
    read, counted = FileRows.read, []

    def counting(rows: FileRows, start: int, stop: int) -> np.ndarray:
        counted.append(stop - start)
        return read(rows, start, stop)

    blocks = FileBlocks(infer.rows(path), Cut.of(32))
    with mock.patch.object(FileRows, "read", counting):
        Placement(tuple(jax.devices())).put_data({"y": blocks}, ("y",))
    return sum(counted)


def rank() -> int:
    return jax.process_index()


def fail() -> None:
    raise ArithmeticError("no such number")


def fail_in_one() -> None:
    """The other one waits, as it would in a collective."""
    if jax.process_index() == 1:
        raise ArithmeticError("no such number")
    time.sleep(600)


def sleep_in_one() -> None:
    if jax.process_index() == 1:
        time.sleep(600)


def end_one() -> None:
    if jax.process_index() == 1:
        os._exit(7)
    time.sleep(600)


def children_of(pid: int) -> list[int]:
    """The members among the children of a process, by rank."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid and b"accord.executors.gangs.member" in words:
            found[int(words[-2])] = int(folder.name)
    return [found[number] for number in sorted(found)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main() -> None:
    """Run the model as a script does, for a test that kills it."""
    options: dict[str, Any] = json.loads(sys.argv[1])
    executor = infer.MultiHost(**options.pop("executor"))
    draws = infer.sample(rates(counts(37)), executor=executor, **(RUN | options))
    print(json.dumps(draws["rate"].tolist()))


if __name__ == "__main__":
    main()
