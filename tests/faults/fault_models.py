"""Give the tests of faults a target, a way to run it in a process that may be killed, and what must be equal after.

Children come from a server that has imported JAX and started nothing of it: they begin in milliseconds, and each starts
its own backend. Nothing that has run JAX is ever forked.
"""

import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from paced import Paced

from accord import infer
from accord.density import LogDensity
from accord.executors import AbstractExecutor

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["accord.infer", "accord.density", "accord.reopen.resume"])

SEGMENT = 256
"""Draws of a segment, here and in children: short, so that a run of seconds has several to lose."""


def in_segments(executor: AbstractExecutor | None) -> Paced:
    """The executor, threads where none is given, at its own pace but for segments that are short."""
    executor = executor or infer.Threads()
    return Paced(executor, replace(executor.pace, most_rows=SEGMENT))


def sample(target, *, executor: AbstractExecutor | None = None, **options):
    """Do as `infer.sample`, in short segments."""
    return infer.sample(target, executor=in_segments(executor), **options)


def resume(folder: Path, target, *, executor: AbstractExecutor | None = None, **options):
    """Do as `infer.resume`, in short segments."""
    return infer.resume(folder, target, executor=in_segments(executor), **options)


QUIET = dict(progress=False, quiet=True)
RUN = dict(draws=600, warmup=300, chains=2, seed=3, **QUIET)

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


def wall(x):
    """Correlated, with a soft wall: no two chains adapt alike. A gradient takes long enough for a run to be caught."""
    slow = 1e-6 * jnp.mean(jnp.cos(x[0] + jnp.arange(2000) / 2000))
    return -0.5 * jnp.sum((x - 0.9 * jnp.roll(x, 1)) ** 2) - jnp.exp(x[0]) + slow


def target() -> LogDensity:
    return LogDensity.from_function(wall, np.zeros(3))


def watched(x):
    """A standard normal that shows every position to `watcher`, which may raise, sleep or end its process."""
    shown = jax.pure_callback(_watch, jax.ShapeDtypeStruct((), x.dtype), jax.lax.stop_gradient(x))
    return -0.5 * jnp.sum(x**2) + shown


def watched_target() -> LogDensity:
    return LogDensity.from_function(watched, np.zeros(2))


watcher = [lambda position: None]
"""What `watched` calls, in this process."""


_num_calls = 0


def _watch(position):
    global _num_calls
    _num_calls += 1
    position = np.asarray(position)
    watcher[0](position)
    _obey(position)
    return np.zeros((), position.dtype)


def _obey(position):
    """Do what the first order in the folder `ACCORD_TEST_ORDERS` says, once: a folder reaches any worker."""
    folder = os.environ.get("ACCORD_TEST_ORDERS")
    if not folder or position[0] <= 1.0:
        return
    for order in sorted(Path(folder).glob("*.order")):
        if not order.name.endswith("die.order") and _num_calls < 2000:
            continue  # the first task may take long, and is given its time
        try:
            order.rename(order.with_suffix(f".taken-{os.getpid()}"))
        except FileNotFoundError:
            continue  # another worker was faster
        if order.name.endswith("die.order"):
            os.kill(os.getpid(), signal.SIGKILL)
        if order.name.endswith("stop.order"):
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)
        order.with_suffix(".outlived").touch()


def give_orders(folder: Path, *orders: str) -> None:
    """Let the next workers that come to a certain region `die`, `sleep` or `stop`."""
    for number, order in enumerate(orders):
        (folder / f"{number}-{order}.order").touch()


def taken(folder: Path) -> int:
    """How many orders have been obeyed; a worker that hung must not have been waited for until it woke."""
    assert not list(folder.glob("*.outlived"))
    return len(list(folder.glob("*.taken-*")))


def slow(x):
    """A target of which each gradient takes a second."""
    shown = jax.pure_callback(_sleep, jax.ShapeDtypeStruct((), x.dtype), jax.lax.stop_gradient(x))
    return -0.5 * jnp.sum(x**2) + shown


def _sleep(position):
    if sign := os.environ.get("ACCORD_TEST_SIGN"):
        Path(sign).touch()
    time.sleep(1.0)
    return np.zeros((), np.asarray(position).dtype)


def assert_same(found, expected, draws: int | None = None) -> None:
    """Every array of two runs is equal, bit for bit; with `draws`, only the first that many, of samples alone."""
    for part in ("sites", "stats"):
        a, b = getattr(found, part), getattr(expected, part)
        assert a.keys() == b.keys()
        for name, array in b.items():
            np.testing.assert_array_equal(a[name], array[:, :draws], err_msg=f"{part}: {name}", strict=True)
    assert found.chains == expected.chains
    if draws is not None:
        return
    for part in ("warmup", "tuning"):
        for name, array in getattr(expected, part).items():
            np.testing.assert_array_equal(getattr(found, part)[name], array, err_msg=f"{part}: {name}")
    assert found.work == expected.work
    assert found.complete and expected.complete


def is_begun(folder: Path) -> bool:
    return (folder / "manifest.json").exists()


def finish(folder: Path, density: LogDensity, options: dict, executor=None):
    """What a user does after a crash: take the run up again, or begin it where it was not even begun."""
    if is_begun(folder):
        return resume(folder, density, executor=executor, **QUIET)
    return sample(density, store=infer.RunFolder(folder), executor=executor, **options)


@dataclass
class Child:
    """A process of its own that calls `function(*arguments)`, heard through a pipe."""

    process: Any
    pipe: Connection

    @staticmethod
    def start(cache: Path | str, function, *arguments) -> "Child":
        """Start it, and wait until it is about to call; `cache` is its folder of compiled programs, or `off`."""
        here, there = SERVER.Pipe()
        process = SERVER.Process(target=_call, args=(there, str(cache), function, arguments), daemon=False)
        process.start()
        there.close()
        child = Child(process, here)
        assert child.hear()[0] == "ready"
        return child

    def hear(self, timeout: float = 120.0):
        """The next message: a word, the time it was sent, and what comes with it."""
        assert self.pipe.poll(timeout), "the child is silent"
        return self.pipe.recv()

    def interrupt(self) -> None:
        """Ctrl-C as a terminal gives it: to the whole group of processes, if it has not ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def end(self) -> int | None:
        """Wait for its end; its exit code."""
        self.process.join(60)
        code = self.process.exitcode
        if code is None:
            self.process.kill()
            self.process.join()
        self.pipe.close()
        return code


voice: list[Connection] = []
"""In a child: where it speaks."""


def _call(pipe, cache, function, arguments):
    voice.append(pipe)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["ACCORD_COMPILATION_CACHE"] = cache
    pipe.send(("ready", time.monotonic(), None))
    try:
        result = function(*arguments)
    except BaseException as error:
        pipe.send(("raised", time.monotonic(), f"{type(error).__name__}: {error}"))
    else:
        pipe.send(("done", time.monotonic(), result))


def sample_here(folder, options, executor=None):
    """Run `wall` into a folder; how much came back, of what."""
    draws = sample(target(), store=infer.RunFolder(folder), executor=executor, **options)
    return draws.complete, draws.num_draws, [notice.code for notice in draws.notices]


def worker_pids(parent: int | str = "self") -> list[int]:
    """The worker processes of this process, or of another one."""
    found = []
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            pids = path.read_text().split()
        except OSError:
            continue  # a thread that has just ended
        for pid in pids:
            try:
                if b"ACCORD_WORKER=1" in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(int(pid))
            except OSError:
                continue  # it has just ended
    return found


def is_alive(pid: int) -> bool:
    """Whether a process exists, and is more than an exit status that waits to be read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition, seconds: float = 60.0) -> None:
    """Wait for something that must happen; the time only keeps a failure from hanging."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
