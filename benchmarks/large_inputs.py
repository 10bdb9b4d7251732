"""Time models of very many sites, rows or unknowns: seconds until the first draw, and memory.

    python benchmarks/large_inputs.py [--sites 2000] [--rows 10000000] [--unknowns 100000]

Each case runs in a process of its own, without the cache of compiled programs, since its largest memory is asked for at
the end. `beyond` is what a run takes beside Python, its libraries and the user's own arrays. Trace and compile are what
passes before the first draw; CPU time is that of the whole call, on all cores, and says more on a busy machine.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

_MIB = 2**20


@ac.model
def sites(num, y):
    """One statement for each site."""
    x = 0.0
    for i in range(num):
        x = ac.sample(f"x{i}", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(x, 1), obs=y)


@ac.model
def rows(x, y):
    """A linear regression."""
    intercept, slope = ac.sample("intercept", dist.Normal(0, 1)), ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(intercept + slope * x, 1), obs=y)


@ac.model
def unknowns(y):
    """One statement for all unknowns."""
    with ac.plate("row", y.shape[0]):
        x = ac.sample("x", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(x, 1), obs=y)


def model_of(case: str, size: int) -> ac.Model:
    """Return the model of a case, with its data."""
    if case == "sites":
        return sites(size, 1.0)
    noise = np.random.default_rng(0).standard_normal(size)
    return unknowns(noise) if case == "unknowns" else rows(np.linspace(-1, 1, size), noise)


def run(case: str, size: int) -> None:
    """Run one case in this process, and print its line."""
    settings = dict(draws=2, warmup=2, chains=1, quiet=True)
    infer.sample(model_of("rows", 10), infer.NUTS(max_tree_depth=3), **settings)  # loads what every run needs
    model = model_of(case, size)
    before, began, cpu = _most_memory(), time.perf_counter(), time.process_time()
    draws = infer.sample(model, infer.NUTS(max_tree_depth=3), **settings)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    times = f"{draws.timings['trace']:8.1f} {draws.timings['compile']:8.1f} {seconds:8.1f} {cpu:8.1f}"
    print(f"{case:10} {size:10} {times} {_most_memory() - before:8.0f}", flush=True)


def _most_memory() -> float:
    """Return the largest memory of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MIB


def main() -> None:
    """Run each case in a process of its own."""
    parser = argparse.ArgumentParser(description="Time models of very many sites, rows and unknowns.")
    cases = {"sites": 2000, "rows": 10_000_000, "unknowns": 100_000}
    for case, size in cases.items():
        parser.add_argument(f"--{case}", type=int, default=size)
    parser.add_argument("--only", nargs=2, metavar=("CASE", "SIZE"), help="run one case in this process")
    chosen = parser.parse_args()
    if chosen.only:
        run(chosen.only[0], int(chosen.only[1]))
        return
    print("case             size  trace s compile s  total s   CPU s  beyond MiB", flush=True)
    surroundings = {**os.environ, "ACCORD_COMPILATION_CACHE": "off"}
    for case in cases:
        command = [sys.executable, __file__, "--only", case, str(getattr(chosen, case))]
        subprocess.run(command, check=True, env=surroundings)


if __name__ == "__main__":
    main()
