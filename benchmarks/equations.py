"""Measure the two ways to differentiate the solution of an equation: back through its steps, and beside the states.

    python benchmarks/equations.py [--sizes 2x6,50x16]

A size is states by numbers that the solution depends on. Prints what it takes to trace and to compile the gradient of
a sum of squares over twenty times, and microseconds for each gradient, the fastest of twenty-five rounds.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

from accord import ode
from accord.core.precision import scope
from accord.ode import sensitivities

SIZES = "1x3,2x6,2x16,2x32,10x16,10x32,50x16,50x32,200x8,200x16"
WAYS = {"back": 0, "beside": 10**6}  # numbers up to which derivatives are solved for beside the states
NUM_GRADIENTS, NUM_ROUNDS = 20, 25
TIMES = np.linspace(0.5, 10, 20)


def main() -> None:
    """Print a line for each size and way."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sizes", default=SIZES)
    print("| states | numbers | way | trace, s | compile, s | a gradient, us |")
    print("|---|---|---|---|---|---|")
    for size in options.parse_args().sizes.split(","):
        num_states, num_numbers = (int(each) for each in size.split("x"))
        for way, most in WAYS.items():
            sensitivities.MAX_NUMBERS = sensitivities.MAX_DERIVATIVES = most
            with scope("float64"):
                trace, compiling, gradient = measure(num_states, num_numbers)
            print(
                f"| {num_states} | {num_numbers} | {way} | {trace:.1f} | {compiling:.1f} | {gradient * 1e6:.0f} |",
                flush=True,
            )


def measure(num_states: int, num_numbers: int) -> tuple[float, float, float]:
    """Seconds to trace and lower, to compile, and for a gradient."""
    rng = np.random.default_rng(0)
    rates = rng.normal(size=(num_states, num_numbers)) / np.sqrt(num_numbers)
    couplings = 0.3 * rng.normal(size=(num_states, num_states)) / np.sqrt(num_states)

    def slope(t: jax.Array, y: jax.Array, numbers: jax.Array) -> jax.Array:
        return -y * jax.nn.sigmoid(rates @ numbers) + jnp.tanh(couplings @ y)

    def loss(numbers: jax.Array) -> jax.Array:
        return jnp.sum(ode.solve(slope, jnp.ones(num_states), 0.0, TIMES, numbers) ** 2)

    def many(numbers: jax.Array) -> jax.Array:
        """Gradients in a loop, each where the one before has led."""
        return jax.lax.fori_loop(
            0, NUM_GRADIENTS, lambda _, x: x - 1e-9 * jnp.tanh(jax.grad(loss)(x)), numbers
        )

    start = np.ones(num_numbers)
    began = time.perf_counter()
    lowered = jax.jit(many).lower(start)
    traced = time.perf_counter()
    compiled = lowered.compile()
    done = time.perf_counter()
    rounds = []
    for _ in range(NUM_ROUNDS):
        round_began = time.perf_counter()
        jax.block_until_ready(compiled(start))
        rounds.append(time.perf_counter() - round_began)
    return traced - began, done - traced, min(rounds) / NUM_GRADIENTS


if __name__ == "__main__":
    main()
