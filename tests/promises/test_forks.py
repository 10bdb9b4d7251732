"""Hold promise P5 in processes that were forked: what would wait for ever is an error there."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")

SCRIPT = """
import multiprocessing, sys, warnings
warnings.simplefilter("ignore")  # JAX warns of forks
import numpy as np
import accord as ac, accord.distributions as dist
from accord import infer
from accord.executors import surroundings_here

@ac.model
def normal():
    ac.sample("x", dist.Normal(0, 1))

RUN = dict(draws=5, warmup=5, chains=1, quiet=True)
has_used_jax = sys.argv[1] == "after"
if has_used_jax:
    draws = infer.sample(normal(), store=infer.RunFolder(sys.argv[2]), **RUN)
    density = normal().log_density()
    pools = [each.open(1, surroundings_here("float64")) for each in (infer.Threads(1), infer.Processes(1))]
    CALLS = {
        "sample": lambda: infer.sample(normal(), **RUN),
        "sample, serial": lambda: infer.sample(normal(), executor=infer.Serial(), **RUN),
        "sample, processes": lambda: infer.sample(normal(), executor=infer.Processes(1), **RUN),
        "sample, a density": lambda: infer.sample(density, **RUN),
        "resume": lambda: infer.resume(sys.argv[2], normal(), quiet=True),
        "extend": lambda: draws.extend(10),
        "predict": lambda: infer.predict(draws, normal()),
        "prior_predictive": lambda: infer.prior_predictive(normal(), draws=5),
        "log_likelihood": lambda: infer.log_likelihood(draws, normal()),
        "find_mode": lambda: infer.find_mode(normal()),
        "check": lambda: infer.check(normal()),
        "log_density": lambda: normal().log_density(),
        "unconstrain": lambda: density.unconstrain({"x": 0.0}),
        "value": lambda: density(np.zeros(1)),
        "pool of threads": lambda: pools[0].submit(abs, -1).result(),
        "pool of processes": lambda: pools[1].submit(abs, -1).result(),
        "load": lambda: infer.load(sys.argv[2])["x"].mean(),
    }
else:
    CALLS = {"sample": lambda: infer.sample(normal(), **RUN)}

def attempt(name, pipe):
    try:
        CALLS[name]()
    except BaseException as error:
        pipe.send(f"{type(error).__name__}: {error}")
    else:
        pipe.send("fine")

fork = multiprocessing.get_context("fork")
children = {}
for name in CALLS:
    here, there = fork.Pipe()
    process = fork.Process(target=attempt, args=(name, there))
    process.start()
    there.close()
    children[name] = process, here
for name, (process, pipe) in children.items():
    print(name, "|", pipe.recv() if pipe.poll(10) else "silence", flush=True)
    process.kill()
"""


def outcomes(when, folder):
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, when, str(folder)]
    done = subprocess.run(command, check=True, env=environment, timeout=300, capture_output=True, text=True)
    return dict(line.split(" | ") for line in done.stdout.splitlines())


def test_what_would_wait_for_ever_in_a_fork_is_an_error_that_names_spawn(tmp_path):
    found = outcomes("after", tmp_path / "run")
    assert found.pop("load") == "fine"  # NumPy alone
    assert len(found) == 16
    for name, words in found.items():
        assert words.startswith("WorkerError: "), (name, words)
        assert '"spawn"' in words and "for ever" in words, (name, words)


def test_a_fork_of_a_process_that_has_not_used_jax_samples(tmp_path):
    """As the server does that starts the processes of other tests."""
    assert outcomes("before", tmp_path / "run") == {"sample": "fine"}
