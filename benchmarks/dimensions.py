"""Measure what a step of NUTS costs beyond its gradient in hundreds to thousands of dimensions, on one core.

    python benchmarks/dimensions.py [--dims 300,1000] [--lanes 1] [--output results/dimensions.md]

The target is a hierarchy of means, whose gradient costs a few nanoseconds a dimension. Chains stand in the typical set,
and their step size is fixed so that trajectories are of 15 to 31 steps. The bare loop takes value and gradient and does
nothing else. The loops take turns, and the fastest of several rounds counts, in seconds of the core's time.
"""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

if hasattr(os, "sched_setaffinity"):  # before JAX counts the cores
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["ACCORD_COMPILATION_CACHE"] = "off"

import jax
import jax.numpy as jnp

from accord.adaptation.metric import Choice, Metric
from accord.adaptation.tuning import FittedMetric
from accord.core import keys
from accord.core.pace import USUAL
from accord.core.position import Position
from accord.core.precision import scope
from accord.kernels import NUTS
from accord.kernels.point import Point
from accord.mcmc.block import ATTEMPTS, DRAW, Limits, item_key, rows_for, start_state
from accord.mcmc.program import advance_program
from accord.programs.compiler import compile_lowered
from leftovers import ModelTable

HERE = Path(__file__).resolve().parent
NUM_ROUNDS = 5
SECONDS = 0.2  # that a round lasts
RANK = 16
MAX_RATIO, MAX_PER_DIM = 1.5, 5.0  # the aim: times the gradient, and nanoseconds a dimension more
METRICS = ("diagonal", "low_rank")
HEADER = ("dimensions, metric", "gradient", "step", "ns a dimension", "steps a draw", "aim")


def main() -> None:
    """Print a table by dimension and metric; microseconds."""
    parser = argparse.ArgumentParser(description="Measure a step of NUTS in many dimensions.")
    parser.add_argument("--dims", default="100,300,1000,3000,10000", help="separated by commas")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "dimensions.md")
    options = parser.parse_args()
    kept = ModelTable(options.output, HEADER)
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    for dim in map(int, options.dims.split(",")):
        for form in METRICS:
            row = row_of(dim, form, options.lanes)
            kept.put(row)
            print(f"| {' | '.join(row)} |", flush=True)


def row_of(dim: int, form: str, lanes: int) -> list[str]:
    """Columns of the table; "ns a dimension" is what a step costs beyond 1.5 times its gradient."""
    with scope("float64"):
        program, arguments = _program(dim, form, lanes)
        rows = rows_for(dim, lanes, USUAL) - 1
        end, block = program(*arguments(rows, 2**30))
        num_steps = int(np.sum(np.asarray(block.num_gradients)))
        num_draws = int(np.sum(np.asarray(end.draw)))
        bare = _bare_loop(dim, lanes)

        def step(count: int) -> None:
            jax.block_until_ready(program(*arguments(rows, count)))

        # A block ends with its last row, so the count is bounded.
        gradient, cost = _fastest([bare, step], num_steps // lanes)
    extra = (cost - MAX_RATIO * gradient) / dim / lanes * 1e9
    name = f"{dim}, {form}" + (f", {lanes} lanes" if lanes > 1 else "")
    return [
        name,
        f"{gradient * 1e6:.2f}",
        f"{cost * 1e6:.2f}",
        f"{extra:.1f}",
        f"{num_steps / num_draws:.0f}",
        "met" if extra <= MAX_PER_DIM else "**missed**",
    ]


def _data(dim: int) -> np.ndarray:
    return np.random.default_rng(0).normal(scale=np.sqrt(2), size=dim - 2)


def _target(dim: int) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    y = _data(dim)

    def log_density(position: jax.Array) -> jax.Array:
        mean, log_sd, means = position[0], position[1], position[2:]
        prior = -0.02 * mean**2 - 0.5 * log_sd**2 - (dim - 2) * log_sd
        between = -0.5 * jnp.sum(((means - mean) * jnp.exp(-log_sd)) ** 2)
        return prior + between - 0.5 * jnp.sum((y - means) ** 2)

    return jax.value_and_grad(log_density)


def _program(dim: int, form: str, lanes: int) -> tuple[Any, Callable[[int, int], Any]]:
    """Compile the sampling loop; return it with a function from a last draw and a number of gradients to arguments."""
    kernel, evaluate = NUTS(), _target(dim)
    generator = np.random.default_rng(1)
    # The means and their data have standard deviations of one, so the mean of an effect is half of its data.
    position = np.concatenate([np.zeros(2), 0.5 * _data(dim) + np.sqrt(0.5) * generator.normal(size=dim - 2)])
    point: Any = (Position(position), *map(np.asarray, jax.jit(evaluate)(position)))
    state = start_state(kernel, Position(position))
    state = replace(
        state,
        kernel=replace(state.kernel, point=Point(*point)),
        learnt=replace(state.learnt, step_size=np.asarray(dim**-0.25)),
        mode=np.int32(DRAW),
    )
    scale = np.concatenate([[dim**-0.5, (2 * dim) ** -0.5], np.full(dim - 2, np.sqrt(0.5))])
    factor = np.linalg.qr(generator.normal(size=(dim, RANK)))[0]
    metrics = {
        "diagonal": Metric.diagonal(scale, RANK),
        "low_rank": Metric(scale, factor, generator.uniform(-0.1, 0.1, RANK), np.bool_(False)),
    }
    places = Position(np.zeros((ATTEMPTS, dim)))

    def arguments(stop: int, count: int) -> Any:
        trees = []
        for lane in range(lanes):
            key = keys.chain_key(0, lane)
            limits = Limits.at(stop, count, 0, places)
            trees.append(
                (
                    state,
                    kernel.adaptation.given(FittedMetric(metrics[form], Choice())),
                    key,
                    item_key(key, state),
                    limits,
                )
            )
        return trees[0] if lanes == 1 else jax.tree.map(lambda *leaves: np.stack(leaves), *trees)

    run = advance_program(kernel.compiled, dim, np.dtype(float), lanes, rows_for(dim, lanes, USUAL))
    return compile_lowered(
        jax.jit(lambda *rest: run(lambda at: evaluate(at.free), *rest)).lower(*arguments(0, 0))
    ), arguments


def _bare_loop(dim: int, lanes: int) -> Callable[[int], None]:
    evaluate = _target(dim) if lanes == 1 else jax.vmap(_target(dim))

    def loop(position: jax.Array, shift: jax.Array, count: jax.Array) -> Any:
        def body(_: Any, carry: Any) -> Any:
            position, total = carry
            value, gradient = evaluate(position)
            return position + shift * gradient, total + value

        return jax.lax.fori_loop(0, count, body, (position, jnp.zeros(position.shape[:-1])))

    position = np.zeros(dim) if lanes == 1 else np.zeros((lanes, dim))
    # The shift is 0, and an argument, so that the compiler cannot move the gradient out of the loop.
    program = compile_lowered(jax.jit(loop).lower(position, np.float64(0), np.int32(0)))
    return lambda count: jax.block_until_ready(program(position, np.float64(0), np.int32(count)))


def _fastest(loops: list[Callable[[int], Any]], most: int) -> list[float]:
    """Seconds per iteration of each loop, the fastest of several rounds in which they take turns."""
    best, counts = [np.inf] * len(loops), [min(100, most)] * len(loops)
    for _ in range(NUM_ROUNDS + 1):  # the first finds out how many iterations fill a round
        for number, run in enumerate(loops):
            began = time.process_time()
            run(counts[number])
            best[number] = min(best[number], (time.process_time() - began) / counts[number])
        counts = [max(10, min(most, int(SECONDS / each))) for each in best]
    return best


if __name__ == "__main__":
    main()
