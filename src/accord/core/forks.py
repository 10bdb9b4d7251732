"""Refuse to compute in a process that was forked after JAX had started its threads.

A fork copies memory but no other thread. Work for the threads of JAX, or of a pool of accord, is then never done, and
waiting for it never ends. So a forked process raises an error before it waits.
"""

import os

import jax

from .errors import WorkerError

REMEDY = (
    'Start processes by multiprocessing.get_context("spawn") or by "forkserver", or use joblib, whose default starts '
    "them anew; concurrent.futures.ProcessPoolExecutor takes mp_context=."
)


class _Forked:
    """Whether a fork has left this process without JAX's threads; set once, in the first moment of the process."""

    is_without_threads = False

    def tell(self) -> None:
        """Find out, in a new forked process, whether JAX had been used before."""
        self.is_without_threads = self.is_without_threads or has_started()


_forked = _Forked()

if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_forked.tell)


def check_threads() -> None:
    """Raise `WorkerError` if this process was forked after JAX had been used, since JAX would hang here."""
    if _forked.is_without_threads:
        raise WorkerError(
            f"process {os.getpid()} was forked from a process that had already used JAX. A fork copies none of JAX's "
            f"threads, so that this call would wait for ever. {REMEDY}"
        )


def check_owner(owner: int, what: str) -> None:
    """Raise `WorkerError` unless this is the process with the id `owner`, which opened `what`."""
    if os.getpid() != owner:
        raise WorkerError(
            f"{what} was opened in process {owner} and is used in process {os.getpid()}, a fork of it, which has none "
            f"of its threads: the call would wait for ever. Open it after the fork. {REMEDY}"
        )


def has_started() -> bool:
    """Return whether JAX has started, by an option of JAX that may only be changed before."""
    name = "jax_num_cpu_devices"
    now = getattr(jax.config, name, None)
    if now is None:
        return False
    try:
        jax.config.update(name, now + 1)
    except RuntimeError:
        return True
    jax.config.update(name, now)
    return False
