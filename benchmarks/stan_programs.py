"""Compare Stan programs, as accord samples them, with accord's own models of the same posteriors.

Needs httpstan and g++. Run `python benchmarks/stan_programs.py [NAME ...]`. Both sample four chains of 1000 draws in
threads, twice: the seconds of the first run have tracing and compiling by XLA, those of the second have not. What g++
takes for a program is counted apart, once.
"""

import argparse
import json
import re
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from accord import infer
from accord.core.precision import scope
from accord.interop import stan
from problems import MODELS, data_of, model_of

PROGRAMS = Path(__file__).resolve().parent / "peers" / "stan"
STEPS = 200


def main() -> None:
    """Print a line of JSON for each model."""
    names = argparse.ArgumentParser(description=__doc__)
    names.add_argument("names", nargs="*", choices=[*MODELS, []], default=[*MODELS])
    for name in names.parse_args().names:
        print(json.dumps({"model": name, **compared(name)}), flush=True)


def compared(name: str) -> dict:
    """Measure one model."""
    theirs, build = timed(lambda: target_of(name))
    ours = model_of(name).log_density()
    found = {"build": round(build, 1)}
    for word, density in (("stan", theirs), ("accord", ours)):
        found[word] = {"gradient_us": round(gradient_microseconds(density), 1)}
        draws, first = timed(lambda density=density: sampled(density))
        found[word] |= {"first": round(first, 1), "again": round(timed(lambda d=density: sampled(d))[1], 1)}
        found[word] |= {"min_ess": least_ess(draws, theirs)}
    return found


def target_of(name: str):
    """The Stan program of a model, with its data."""
    data = data_of(name)
    sizes = {f"{key}_{axis}": n for key, value in data.items() for axis, n in enumerate(np.shape(value))}
    program = PROGRAMS / f"{name}.stan"
    declared = re.findall(r"(\w+);", program.read_text().partition("parameters {")[0])
    return stan.target(program, {key: each for key, each in {**data, **sizes}.items() if key in declared})


def sampled(density):
    """Sample by the defaults."""
    return infer.sample(density, draws=1000, chains=4, quiet=True, progress=False)


def least_ess(draws, target) -> int:
    """Return the least bulk effective sample size of the parameters that both have."""
    summary = draws.summary().to_dataframe()
    names = tuple(entry.name for entry in target.layout.unknowns)
    rows = [label for label in summary.index if label.partition("[")[0] in names]
    return round(float(summary.loc[rows, "ess_bulk"].min()))


def gradient_microseconds(density) -> float:
    """Return the time of one gradient within a compiled loop: the fastest of five rounds, by CPU time."""
    with scope("float64"):

        def loop(x, count):
            return jax.lax.fori_loop(0, count, lambda _, x: x + 1e-12 * density.value_and_grad(x)[1], x)

        run, x = jax.jit(loop), jnp.zeros(density.dim) + 0.1
        run(x, 1).block_until_ready()
        rounds = []
        for _ in range(5):
            began = time.process_time()
            run(x, STEPS).block_until_ready()
            rounds.append((time.process_time() - began) / STEPS)
    return 1e6 * min(rounds)


def timed(function):
    """Return what a function returns, and its seconds."""
    began = time.perf_counter()
    found = function()
    return found, time.perf_counter() - began


if __name__ == "__main__":
    main()
