"""Run chains of any length, keep means of batches only, and say how far an average is from the truth.

Batches are long beside the autocorrelation of every target here and many, so that their spread gives the Monte Carlo
error without an estimate of autocorrelations: error² = variance of batch means / number of batches, and the effective
number of draws is the variance of the quantity over error².
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from accord.core.precision import scope
from accord.kernels import AbstractKernel
from accord.mcmc.columns import Sites
from accord.mcmc.group import run_chains
from accord.mcmc.machine import Machine
from accord.mcmc.plan import Plan
from accord.mcmc.population_program import program_for
from accord.mcmc.stretch import Stretch

Quantities = Callable[[np.ndarray], np.ndarray]
"""From positions, shape `(draw, dim)`, to the quantities whose averages are wanted, shape `(draw, quantity)`."""


@dataclass(frozen=True)
class Average:
    """Averages over draws; every field has shape `(quantity,)`.

    **Fields**: `mean`; `error`, its Monte Carlo standard error; `effective`, the number of independent draws that
    would have the same error. `num_gradients`, shape `()`, without warm-up.
    """

    mean: np.ndarray
    error: np.ndarray
    effective: np.ndarray
    num_gradients: int

    def score(self, truth: np.ndarray) -> np.ndarray:
        """How many errors each average is from the truth."""
        return (self.mean - truth) / self.error


def plan_for(
    kernel: AbstractKernel,
    log_density: Callable[[jax.Array], jax.Array],
    dim: int,
    *,
    num_draws: int,
    lanes: int,
    seed: int = 0,
    num_warmup: int = 500,
) -> Machine:
    """What `infer.sample` would run, without a store."""
    rows = 256  # draws of a piece, whose mean is taken: many, and long beside the autocorrelation
    run = program_for(kernel, dim, np.dtype(float), lanes, rows)
    plan = Plan(
        kernel=kernel,
        num_warmup=num_warmup,
        num_kept=num_draws,
        seed=seed,
        lanes=lanes,
        segment=rows,
        thinning=1,
        precision="float64",
        dim=dim,
    )
    return Machine(
        plan,
        advance=jax.jit(
            lambda *arguments: run(lambda at: jax.value_and_grad(log_density)(at.free), *arguments)
        ),
        sites=Sites(lambda positions, *others: {}, 256),
    )


def average(machine: Machine, num_chains: int, quantities: Quantities, batch: int) -> Average:
    """Average over the draws of `num_chains` chains, a multiple of the lanes, in batches of `batch` pieces."""
    num_gradients, count = 0, 0
    batches: list[np.ndarray] = []
    total = square = np.zeros(())
    with scope("float64"):
        for first in range(0, num_chains, machine.plan.lanes):
            pending: dict[int, list[np.ndarray]] = {}
            for item in run_chains(machine, range(first, first + machine.plan.lanes), lambda: False):
                if not isinstance(item, Stretch) or item.phase == "warmup":
                    continue
                num_gradients += item.num_gradients
                values = quantities(item.arrays["position"])
                total, square, count = total + values.sum(0), square + (values**2).sum(0), count + len(values)
                mine = pending.setdefault(item.chain, [])
                mine.append(values.mean(0))
                if len(mine) == batch:
                    batches.append(np.mean(mine, axis=0))
                    mine.clear()
    means = np.stack(batches)
    mean = means.mean(0)
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    variance = square / count - (total / count) ** 2
    return Average(mean, error, variance / error**2, num_gradients)
