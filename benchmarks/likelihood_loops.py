"""Time value and gradient of log densities in compiled loops: the same code for accord's interpreter and NumPyro's."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from likelihood_cases import CASES, log_density, predictors

SECONDS = 0.05  # that a round lasts
FEWEST = 3  # iterations of a round
NUM_ROUNDS = 3

Evaluate = Callable[[Any, jax.Array], tuple[jax.Array, jax.Array]]
"""From data and a position to value and gradient."""


def data_of(name: str, size: int) -> dict[str, np.ndarray]:
    """Draw the covariate and the observed values of a case, always the same."""
    rng = np.random.default_rng(3)
    return {"x": rng.normal(size=size), "y": CASES[name].draw(rng, size)}


def start() -> np.ndarray:
    """Return the position at which everything is measured."""
    return np.array([0.3, 0.2, 0.1, -0.2, 0.1, 0.2])


def written(name: str) -> Evaluate:
    """Return value and gradient of the textbook formula."""
    return _gradient_of(lambda p, data: CASES[name].written(data["y"], p))


def of_library(name: str, distributions: Any) -> Evaluate:
    """Return value and gradient of a library's `log_prob`."""
    return _gradient_of(lambda p, data: CASES[name].make(distributions, p).log_prob(data["y"]))


def _gradient_of(each: Callable[[Any, Any], jax.Array]) -> Evaluate:
    def value(position: jax.Array, data: Any) -> jax.Array:
        return log_density(position, each(predictors(position, data["x"]), data))

    return lambda data, position: jax.value_and_grad(value)(position, data)


def compiled_loop(
    evaluate: Evaluate,
    data: dict[str, np.ndarray],
    *,
    moves_data: bool = False,
    before: Callable[[Any], Any] | None = None,
    options: Any = None,
) -> Callable[[int], float]:
    """Compile a loop of gradients, each at a position that depends on the last, and bind it to data.

    **Arguments**
    - `moves_data`: let the observed values depend on the last step too, so that nothing can be computed ahead.
    - `before`: what is made of the data ahead of the loop, for `evaluate`.
    - `options`: of the compiler.

    **Returns** a function of the number of turns, which returns the sum of the values.
    """

    def loop(data: Any, position: Any, shift: Any, count: Any) -> Any:
        given = data if before is None else before(data)

        def body(_: Any, carry: Any) -> Any:
            position, total = carry
            now = given
            if moves_data:
                now = {**given, "y": given["y"] + (shift * total).astype(given["y"].dtype)}
            value, gradient = evaluate(now, position)
            return position + shift * gradient, total + value

        return jax.lax.fori_loop(0, count, body, (position, jnp.zeros(())))

    # The shift is 0, and an argument, so that the compiler cannot know it and move the gradient out of the loop.
    arguments = (data, start(), np.float64(0), np.int32(0))
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    compiled = jax.jit(loop).lower(*shapes).compile(compiler_options=options)
    on_device = jax.device_put(data)
    return lambda count: float(compiled(on_device, start(), np.float64(0), np.int32(count))[1])


def fastest(loops: Mapping[str, Callable[[int], Any]]) -> dict[str, float]:
    """Seconds of the CPU per iteration: the fastest of several rounds in which the loops take turns."""
    counts = {name: _count_for_a_round(run) for name, run in loops.items()}
    best = dict.fromkeys(loops, np.inf)
    for _ in range(NUM_ROUNDS):
        for name, run in loops.items():
            best[name] = min(best[name], _seconds(run, counts[name]) / counts[name])
    return best


def _count_for_a_round(run: Callable[[int], Any]) -> int:
    count = FEWEST
    while (taken := _seconds(run, count)) < SECONDS / 4:
        count *= 3
    return max(FEWEST, int(count * SECONDS / taken))


def _seconds(run: Callable[[int], Any], count: int) -> float:
    began = time.process_time()
    run(count)
    return time.process_time() - began
