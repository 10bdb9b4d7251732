"""Start workers time and again while JAX is at work in this process, and count those that never answer.

    python benchmarks/pool_starts.py [--starts 500]

A worker that was forked from a process with threads may hang at a lock that no thread is left to release; accord's are
started anew. Each is asked for its process id.
"""

import argparse
import os
import threading
import time
from concurrent.futures import wait

import jax
import jax.numpy as jnp

from accord import infer
from accord.executors import surroundings_here

PATIENCE = 60.0  # seconds


def main() -> None:
    """Print how many starts there were, how many hung, and how long one took."""
    parser = argparse.ArgumentParser(description="Start workers time and again.")
    parser.add_argument("--starts", type=int, default=500)
    options = parser.parse_args()
    is_over = threading.Event()
    busy = threading.Thread(target=_keep_busy, args=(is_over,))
    busy.start()
    here, hung, began = surroundings_here("float64"), 0, time.perf_counter()
    for _ in range(options.starts):
        pool = infer.Processes(1).open(1, here)
        hung += bool(wait([pool.submit(os.getpid)], timeout=PATIENCE).not_done)
        pool.close()
    seconds = (time.perf_counter() - began) / max(options.starts, 1)
    is_over.set()
    busy.join()
    print(f"{options.starts} starts of a worker, {seconds:.2f} s each: {hung} hung")


def _keep_busy(is_over: threading.Event) -> None:
    square = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.full((200, 200), 0.01)
    while not is_over.is_set():
        x = jax.block_until_ready(square(x))
        time.sleep(0.01)


if __name__ == "__main__":
    main()
