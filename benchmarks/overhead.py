"""Measure what a step of NUTS costs beyond its gradient, on one core.

    python benchmarks/overhead.py [--models a,b] [--output results/overhead.md] [--resume]

Both sides are loops inside one compiled program of one process: the bare one takes value and gradient of the same flat
density and does nothing else; accord's is the very program that `infer.sample` runs, from the state and the metric that
a default warm-up leaves. They take turns, and the fastest of seven counts for each, in seconds of the core's time: what
other programs take of it does not count. A row of the table is in the output as soon as it is measured, in place of the
one that the model had; `--resume` measures those that are missing.
"""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if hasattr(os, "sched_setaffinity"):  # before JAX counts the cores
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["ACCORD_COMPILATION_CACHE"] = "off"

import jax
import jax.numpy as jnp

from accord.core.defaults import DEFAULT_WARMUP
from accord.core.pace import USUAL
from accord.core.precision import scope
from accord.density import LogDensity
from accord.kernels import NUTS
from accord.mcmc.block import Limits, item_key, rows_for
from accord.mcmc.compiled import compile_programs
from accord.mcmc.group import Machine, run_chains
from accord.mcmc.plan import Plan
from accord.mcmc.prepare import MAX_WARMUP
from accord.mcmc.stretch import Stretch
from accord.programs.compiler import is_large_gradient, options_for
from leftovers import ModelTable, Step
from problems import MODELS, model_of

HERE = Path(__file__).resolve().parent
# Beside the examples: a matrix product in the gradient, one that takes a millisecond, and thousands of dimensions.
SIMULATED = ("logistic", "hierarchical_logistic", "stochastic_volatility")
NUM_ROUNDS = 7
FEWEST = 10  # iterations of a round
SECONDS = 0.1  # that a round lasts
FOREVER = np.int32(2**30)

WAYS = ("as accord compiles", "XLA's defaults")
HEADER = (
    "model",
    *(f"gradient, {way}" for way in WAYS),
    "step",
    "extra",
    "ratio",
    "aim",
    "metric",
    "steps a draw",
)


@dataclass(frozen=True)
class Cost:
    """Seconds per gradient: `bare`, by how it was compiled, and `step`, of accord; `form`, of its metric."""

    bare: dict[str, float]
    step: float
    form: str
    mean_steps: float

    @property
    def ratio(self) -> float:
        """Of a step to the faster of the bare gradients."""
        return self.step / min(self.bare.values())


def main() -> None:
    """Print a table of all models."""
    parser = argparse.ArgumentParser(description="Measure what a step of NUTS costs beyond its gradient.")
    parser.add_argument("--models", default=",".join([*MODELS, *SIMULATED]), help="separated by commas")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "overhead.md")
    parser.add_argument("--resume", action="store_true", help="measure the models that the output lacks")
    options = parser.parse_args()
    kept = ModelTable(options.output, HEADER)
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    for name in options.models.split(","):
        if options.resume and name in kept.rows:
            continue
        row = row_of(name, measure(LogDensity.from_model(model_of(name), "float64")))
        kept.put(row)
        print(f"| {' | '.join(row)} |", flush=True)


def row_of(name: str, cost: Cost) -> list[str]:
    """Of the table; microseconds."""
    bare, step = [seconds * 1e6 for seconds in cost.bare.values()], cost.step * 1e6
    is_met = Step(name, min(bare), step).is_met
    return [
        name,
        *(f"{each:.2f}" for each in bare),
        f"{step:.2f}",
        f"{step - min(bare):.2f}",
        f"{cost.ratio:.2f}",
        "met" if is_met else "**missed**",
        cost.form,
        f"{cost.mean_steps:.1f}",
    ]


def measure(density: LogDensity) -> Cost:
    """Time both loops; see the module."""
    kernel = NUTS()
    with scope("float64"):
        plan = Plan(
            kernel=kernel,
            num_warmup=DEFAULT_WARMUP,
            max_warmup=MAX_WARMUP,
            num_kept=100,
            seed=0,
            lanes=1,
            segment=rows_for(density.dim, 1, USUAL),
            thinning=1,
            precision="float64",
            dim=density.dim,
        )
        programs = compile_programs(density, plan)
        machine = Machine(plan, programs.advance, programs.sites)
        stretches = [item for item in run_chains(machine, [0], lambda: False) if isinstance(item, Stretch)]
        fitted = plan.adaptation.restored(stretches[-1].fitted, plan.dim, plan.dtype)
        state, given = stretches[-1].end_state, plan.adaptation.given(fitted)
        key = np.zeros(2, np.uint32)
        position = np.asarray(state.kernel.point.position.free)
        places = plan.no_places(plan.num_places)
        loops: dict[str, Callable[[int], None]] = {}
        traced = jax.make_jaxpr(density.value_and_grad)(position)
        options = options_for(is_large_gradient(traced, 1)), {}
        for way, each in zip(WAYS, options, strict=True):
            loops[way] = _bare_loop(density, position, each)

        def step(count: int) -> None:
            limits = Limits.at(FOREVER, count, DEFAULT_WARMUP, places)
            jax.block_until_ready(programs.advance(state, given, key, item_key(key, state), limits))

        loops["step"] = step
        seconds = _fastest(loops)
    steps = np.concatenate([piece.arrays["stat/n_steps"] for piece in stretches if piece.phase == "sample"])
    bare = {way: seconds[way] for way in WAYS}
    return Cost(bare, seconds["step"], fitted.choice.form, float(steps.mean()))


def _bare_loop(density: LogDensity, position: np.ndarray, options: Any) -> Callable[[int], None]:
    """Compile a loop of `count` gradients, each of a position that depends on the last, and bind it to the data."""

    def loop(data, position, shift, count):
        def body(_, carry):
            position, total = carry
            value, gradient = density.with_data(data).value_and_grad(position)
            return position + shift * gradient, total + value

        return jax.lax.fori_loop(0, count, body, (position, jnp.zeros(())))

    # The shift is 0, and an argument, so that the compiler cannot know it and move the gradient out of the loop.
    arguments = (density.data, position, np.float64(0), np.int32(0))
    lowered = jax.jit(loop).lower(
        *jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    )
    compiled = lowered.compile(compiler_options=options)
    data = jax.device_put(density.data)

    def run(count: int) -> None:
        jax.block_until_ready(compiled(data, position, np.float64(0), np.int32(count)))

    return run


def _fastest(loops: dict[str, Callable[[int], None]]) -> dict[str, float]:
    """Seconds per iteration of each loop, the fastest of several rounds in which they take turns."""
    best, counts = dict.fromkeys(loops, np.inf), dict.fromkeys(loops, 100)
    for _ in range(NUM_ROUNDS + 1):  # the first finds out how many iterations fill a round
        for name, run in loops.items():
            began = time.process_time()
            run(counts[name])
            best[name] = min(best[name], (time.process_time() - began) / counts[name])
        counts = {name: max(FEWEST, int(SECONDS / best[name])) for name in loops}
    return best


if __name__ == "__main__":
    main()
