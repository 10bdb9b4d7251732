"""Evaluate a log density by compiled programs, on the devices of a run."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...core import precision as precisions
from ...core.precision import Precision
from ...core.versions import QUICK_CPU_OPTIONS
from ...density import LogDensity
from ...density.rows.blocks import using
from ...programs.placement import Placement

_ENOUGH = 0.3  # seconds spent on timing, after which there are no more repetitions
_REPETITIONS = 30


@dataclass(frozen=True)
class Evaluator:
    """A density with its programs, each of which is compiled when it is first used.

    Results are JAX's arrays, on the devices on which they were computed.

    **Fields**
    - `value_and_grad(position)`; `product(position, direction)`, of the Hessian; `terms(position)`, by site, as they
      are added up.
    """

    density: LogDensity
    devices: tuple[Any, ...]
    value_and_grad: Callable[[np.ndarray], tuple[jax.Array, jax.Array]]
    product: Callable[[np.ndarray, np.ndarray], jax.Array]
    terms: Callable[[np.ndarray], dict[str, jax.Array]]

    @staticmethod
    def of(density: LogDensity, precision: Precision, devices: Sequence[Any]) -> "Evaluator":
        """Make an evaluator on these devices; the data is put there once."""
        program = density.program
        is_cut = bool(program.cut_data)
        names = sorted(density.data)
        with precisions.scope(precision):
            # A single device is JAX's own choice: a model may itself spread what it computes.
            data = Placement(tuple(devices) if is_cut else ()).put_data(density.data, program.cut_data)

        options = dict(QUICK_CPU_OPTIONS) if jax.default_backend() == "cpu" else None

        def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
            def with_data(data: Any, *arguments: Any) -> Any:
                return function(density.with_data(dict(zip(names, data, strict=True))), *arguments)

            run = jax.jit(with_data, compiler_options=options)

            def call(*arguments: Any) -> Any:
                with precisions.scope(precision), using(devices):
                    return jax.block_until_ready(run(data, *arguments))

            return call

        def product(density: LogDensity, position: Any, direction: Any) -> Any:
            return jax.jvp(jax.grad(density.__call__), (position,), (direction,))[1]

        def terms(density: LogDensity, position: Any) -> Any:
            return program.summed_terms(position, density.data)

        return Evaluator(
            density,
            tuple(devices),
            compiled(LogDensity.value_and_grad),
            compiled(product),
            compiled(terms),
        )

    def seconds(self, position: np.ndarray) -> float:
        """Return the shortest time of one evaluation with its gradient, without compiling."""
        self.value_and_grad(position)
        began, best = time.perf_counter(), float("inf")
        for _ in range(_REPETITIONS):
            before = time.perf_counter()
            self.value_and_grad(position)
            now = time.perf_counter()
            best = min(best, now - before)
            if now - began > _ENOUGH:
                break
        return best
