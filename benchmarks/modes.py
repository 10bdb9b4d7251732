"""Measure the search of `infer.find_mode` beside optax's L-BFGS: seconds to compile, steps, and how high they come.

    python benchmarks/modes.py [--models a,b]

Both climb the log posterior in the model's own space, from the same starts (the best of ten places each), as lanes of
one program. optax searches each line by its zoom (strong Wolfe conditions), in at most twenty points.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from accord.density import LogDensity
from accord.density.weights import MAP
from accord.optimise.climb import climb
from problems import MODELS, model_of

STARTS, PLACES, MAX_STEPS = 4, 10, 1000
_TOLERANCE = 1e-8  # of the gradient, for optax


def by_accord(density: LogDensity, places: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Heights reached, lines searched and evaluations."""
    found = climb(jax.value_and_grad(lambda x: density.value(x, MAP)), places, jnp.int32(MAX_STEPS))
    return found.state.point.log_density, found.state.num_lines, found.num_evaluations


def by_optax(density: LogDensity, places: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The same; evaluations are those that optax's search counts, and one for each step."""

    def loss(x: jax.Array) -> jax.Array:
        return -density.value(x, MAP)

    heights = jax.lax.map(loss, places)
    start = places[jnp.argmin(jnp.where(jnp.isfinite(heights), heights, jnp.inf))]
    search = optax.scale_by_zoom_linesearch(max_linesearch_steps=20, initial_guess_strategy="one")
    solver = optax.lbfgs(memory_size=10, linesearch=search)
    known = optax.value_and_grad_from_state(loss)

    def advance(carry: tuple) -> tuple:
        x, state, steps, evaluations, _, _ = carry
        value, gradient = known(x, state=state)
        updates, state = solver.update(gradient, state, x, value=value, grad=gradient, value_fn=loss)
        searched = optax.tree_utils.tree_get(state, "info").num_linesearch_steps
        return (
            optax.apply_updates(x, updates),
            state,
            steps + 1,
            evaluations + searched + 1,
            jnp.linalg.norm(gradient),
            value,
        )

    def goes_on(carry: tuple) -> jax.Array:
        return (carry[2] < MAX_STEPS) & (carry[4] > _TOLERANCE) & jnp.all(jnp.isfinite(carry[0]))

    begun = (start, solver.init(start), 0, PLACES, jnp.inf, jnp.inf)
    _, _, steps, evaluations, _, value = jax.lax.while_loop(goes_on, advance, begun)
    return -value, steps, evaluations


def measure(name: str) -> list[str]:
    """A row of the table."""
    density = model_of(name).log_density()
    places = np.random.default_rng(0).uniform(-2, 2, (STARTS, PLACES, density.dim))
    cells = [name]
    for way in (by_accord, by_optax):
        began = time.process_time()

        def run(data: dict, places: jax.Array, way=way) -> tuple:
            return jax.vmap(lambda each: way(density.with_data(data), each))(places)

        compiled = jax.jit(run).lower(density.data, places).compile()
        compiling, began = time.process_time() - began, time.process_time()
        heights, steps, evaluations = map(np.asarray, compiled(density.data, places))
        running = time.process_time() - began
        best = f"{np.nanmax(heights):.3f} ({int(np.sum(heights > np.nanmax(heights) - 0.01))} of {STARTS})"
        cells += [
            f"{compiling:.1f}",
            f"{running:.2f}",
            f"{np.median(steps):.0f}",
            f"{np.sum(evaluations)}",
            best,
        ]
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    jax.config.update("jax_enable_x64", True)
    print("| model |" + " compile s | run s | steps | evaluations | highest |" * 2)
    print("|---" * 11 + "|")
    for name in parser.parse_args().models.split(","):
        print(f"| {' | '.join(measure(name))} |", flush=True)


if __name__ == "__main__":
    main()
