"""Leave Python while a thread of accord compiles: the process ends well, and not by an abort of XLA's."""

import subprocess
import sys

SCRIPT = """
import threading
import jax, jax.numpy as jnp
from accord.executors import ThreadPool

begun = threading.Event()

def unrolled(x):
    for _ in range(100):
        x = jnp.sin(x) @ x
    return x

def compile_long():
    lowered = jax.jit(unrolled).lower(jnp.ones((3, 3)))
    begun.set()
    lowered.compile()

ThreadPool(2).submit(compile_long)
begun.wait()
print("leaving")
"""


def test_python_leaves_once_what_a_thread_compiles_is_compiled():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr
