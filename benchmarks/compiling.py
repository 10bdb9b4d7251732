"""Measure what compiling a run costs, beside the bare gradient, and how soon a second process draws.

    python benchmarks/compiling.py [--models a,b] [--output results/compiling.md] [--resume]
    python benchmarks/compiling.py --first-draws [--models a,b]

Seconds of CPU, each model once, nothing cached: tracing and lowering of both programs, compiling of each, and the same
of `jit(value_and_grad)` of the same flat density. What JAX does once in a process falls on the first model. A row of
the table is in the output as soon as it is measured, in place of the one that the model had; `--resume` measures those
that are missing. `--first-draws` instead starts a process twice, with one folder for compiled programs, and prints the
wall seconds of its first call of `infer.sample`, with one draw.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jax

from accord.core.pace import USUAL
from accord.core.precision import scope
from accord.density import LogDensity
from accord.kernels import NUTS
from accord.mcmc import compiled
from accord.mcmc.block import rows_for
from accord.mcmc.plan import Plan
from leftovers import ModelTable
from problems import MODELS, model_of

HERE = Path(__file__).resolve().parent
HEADER = (
    "model",
    "trace",
    "lower",
    "compile advance",
    "compile sites",
    "gradient: trace",
    "gradient: lower",
    "gradient: compile",
)
FIRST_DRAW = """
import sys, time
sys.path.insert(0, {folder!r})
from problems import model_of
from accord import infer
model = model_of({name!r})
began = time.perf_counter()
infer.sample(model, draws=1, warmup=0, chains=1, progress=False, quiet=True)
print(time.perf_counter() - began)
"""


def main() -> None:
    """Print one of the two tables, and keep the first."""
    parser = argparse.ArgumentParser(description="Measure what compiling costs.")
    parser.add_argument("--models", default=",".join(MODELS), help="separated by commas")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "compiling.md")
    parser.add_argument("--resume", action="store_true", help="measure the models that the output lacks")
    parser.add_argument("--first-draws", action="store_true", help="time first calls, cold and warm")
    chosen = parser.parse_args()
    names = chosen.models.split(",")
    if chosen.first_draws:
        print("| model | cold, s | warm, s |\n|---|---|---|")
        for name in names:
            _print_row([name, *(f"{seconds:.2f}" for seconds in first_draws(name))])
        return
    kept = ModelTable(chosen.output, HEADER)
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for name in names:
        if chosen.resume and name in kept.rows:
            continue
        row = [name, *(f"{seconds:.2f}" for seconds in costs(name))]
        kept.put(row)
        _print_row(row)


def first_draws(name: str) -> list[float]:
    """Seconds of the first call of a first process and of a second one."""
    script = FIRST_DRAW.format(folder=str(HERE), name=name)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ACCORD_COMPILATION_CACHE": folder}
        command = [sys.executable, "-c", script]
        runs = [
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for _ in range(2)
        ]
    return [float(run.stdout) for run in runs]


def costs(name: str) -> list[float]:
    """Seconds of CPU, in the order of the table."""
    whole: list[float] = []
    lowering: list[float] = []
    compiling: list[float] = []
    with scope("float64"):
        density = LogDensity.from_model(model_of(name), "float64")
        plan = Plan(
            kernel=NUTS(),
            num_warmup=10,
            num_kept=10,
            thinning=1,
            seed=0,
            lanes=1,
            precision="float64",
            dim=density.dim,
            segment=rows_for(density.dim, 1, USUAL),
        )
        jax.clear_caches()  # what was traced for another model
        with (
            patch.object(jax.stages.Traced, "lower", _timed(jax.stages.Traced.lower, lowering)),
            patch.object(compiled, "compile_lowered", _timed(compiled.compile_lowered, compiling)),
            patch.object(compiled, "gather", _one_after_the_other),
        ):
            _timed(compiled.compile_programs, whole)(density, plan)
        (lower_advance, lower_sites), (advance, sites) = lowering, compiling
        lower = lower_advance + lower_sites
        ours = [sum(whole) - lower - advance - sites, lower, advance, sites]
        jax.clear_caches()
        alone: list[float] = []
        gradient = jax.jit(lambda data, x: density.with_data(data).value_and_grad(x))
        position = jax.ShapeDtypeStruct((density.dim,), plan.dtype)
        traced = _timed(gradient.trace, alone)(density.data, position)
        lowered = _timed(traced.lower, alone)()
        _timed(lowered.compile, alone)()
    return [*ours, *alone]


def _timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """The same function, which adds each call's seconds of CPU to `spent`."""

    def run(*arguments: Any, **options: Any) -> Any:
        began = time.process_time()
        result = function(*arguments, **options)
        spent.append(time.process_time() - began)
        return result

    return run


def _one_after_the_other(calls: list[Callable[[], Any]]) -> list[Any]:
    """In place of side by side, where the seconds of CPU of one would be the other's too."""
    return [call() for call in calls]


def _print_row(row: list[str]) -> None:
    print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
