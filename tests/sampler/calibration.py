"""Rank true parameters among posterior draws, for many data sets made from the prior, through one compiled program.

**Source**: Talts et al. (2018), "Validating Bayesian inference algorithms with simulation-based calibration"; the log
likelihood among the quantities ranked: Modrak et al. (2023), "Simulation-based calibration checking for Bayesian
computation: the choice of test quantities shapes sensitivity".
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import monitoring
from scipy import stats

from accord import LogDensity
from accord.core.pace import USUAL
from accord.core.precision import scope
from accord.kernels import AbstractKernel
from accord.language import Model
from accord.mcmc.block import rows_for
from accord.mcmc.columns import Sites
from accord.mcmc.group import run_chains
from accord.mcmc.machine import Machine
from accord.mcmc.plan import Plan
from accord.mcmc.population_program import program_for
from accord.mcmc.stretch import Stretch

NUM_RANKED = 127  # draws that a truth is ranked among, so that there are 128 ranks
_NUM_BINS = 16
_NUM_TOGETHER = 16  # chains that learn from each other

Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Experiment:
    """A model, and how to make parameters and data from its prior without it.

    **Fields**
    - `model(data)`: the model given data.
    - `simulate(generator)`: parameters from the prior, and data given them.
    - `quantities(parameters, data)`: what is ranked, each of shape `(draw,)`, from parameters of shape `(draw, ...)`.
    - `thinning`: draws between two that are nearly independent.
    """

    model: Callable[[Values], Model]
    simulate: Callable[[np.random.Generator], tuple[Values, Values]]
    quantities: Callable[[Values, Values], Values]
    thinning: int


def ranks(experiment: Experiment, kernel: AbstractKernel, num_data_sets: int, seed: int = 0) -> Values:
    """The rank of each quantity's truth in each data set, shape `(data set,)`, in 0 to `NUM_RANKED`."""
    found: dict[str, list[int]] = {}
    lanes = _NUM_TOGETHER if kernel.is_ensemble else 1
    with scope("float64"):
        density = LogDensity.from_model(experiment.model(experiment.simulate(np.random.default_rng(0))[1]))
        rows = rows_for(density.dim, lanes, USUAL)
        run = program_for(kernel, density.dim, np.dtype(float), lanes, rows)

        @jax.jit
        def advance(data: Any, *rest: Any) -> Any:
            return run(lambda position: density.with_data(data).value_and_grad(position), *rest)

        @jax.jit
        def constrain(data: Any, positions: Any) -> Any:
            return jax.vmap(density.with_data(data).constrain)(positions)

        for index in range(num_data_sets):
            truth, data = experiment.simulate(np.random.default_rng([seed, index]))
            plan = Plan(
                kernel=kernel,
                num_warmup=250 if lanes == 1 else 100,
                num_kept=-(-NUM_RANKED // lanes) * experiment.thinning,
                seed=index,
                lanes=lanes,
                segment=rows,
                thinning=1,
                precision="float64",
                dim=density.dim,
            )
            machine = Machine(
                plan,
                advance=partial(advance, data),
                sites=Sites(lambda positions, *others: {}, 256),
            )
            items = run_chains(machine, range(lanes), lambda: False)
            pieces = [item for item in items if isinstance(item, Stretch) and item.phase == "sample"]
            chains = [[each for each in pieces if each.chain == chain] for chain in range(lanes)]
            kept = [np.concatenate([piece.arrays["position"] for piece in chain]) for chain in chains]
            thinned = np.concatenate([each[:: experiment.thinning] for each in kept])[:NUM_RANKED]
            drawn = {k: np.asarray(v) for k, v in constrain(data, thinned).items()}
            at_truth = experiment.quantities({name: value[None] for name, value in truth.items()}, data)
            for name, values in experiment.quantities(drawn, data).items():
                found.setdefault(name, []).append(int(np.sum(values < at_truth[name][0])))
    return {name: np.array(values) for name, values in found.items()}


def smallest_p_values(found: Values) -> dict[str, float]:
    """For each quantity, the smaller p-value of two tests that its ranks are uniform.

    Chi-square on 16 bins sees local faults; Kolmogorov and Smirnov's, on ranks spread within their own width, shifts.
    """
    generator = np.random.default_rng(1)
    result: dict[str, float] = {}
    for name, values in found.items():
        counts = np.bincount(values * _NUM_BINS // (NUM_RANKED + 1), minlength=_NUM_BINS)
        spread = (values + generator.uniform(size=len(values))) / (NUM_RANKED + 1)
        result[name] = min(stats.chisquare(counts).pvalue, stats.kstest(spread, "uniform").pvalue)
    return result


@contextmanager
def counting_compilations() -> Iterator[list[str]]:
    """Every compilation that JAX asks of its backend within the block."""
    events: list[str] = []

    def listen(event: str, duration: float, **details: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            events.append(str(details))

    monitoring.register_event_duration_secs_listener(listen)
    try:
        yield events
    finally:
        monitoring.unregister_event_duration_listener(listen)


def log_normal_density(y: Any, mean: Any, sd: Any) -> Any:
    """Summed over the last axis, without the constant."""
    return np.sum(-0.5 * ((y - mean) / sd) ** 2 - np.log(sd), -1)


def log_sigmoid(x: np.ndarray) -> np.ndarray:
    """The logarithm of 1 / (1 + exp(-x))."""
    return -np.logaddexp(0.0, -x)
