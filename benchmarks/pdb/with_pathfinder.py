"""Run the Pathfinder of a library on one posterior in this process, and write how good its draws are.

    python benchmarks/pdb/with_pathfinder.py --database FOLDER --posterior NAME --library BlackJAX --kept FOLDER
        --cpu-limit 300

It prints one line of JSON. Each library has eight paths at its defaults, and gives 1,000 draws, resampled by its own
weights. BlackJAX and PyMC have the log density from accord, Stan has the program of the database. Paths begin at
accord's default starts, but for those of PyMC, which draws its own, and of Stan for programs whose parameters have
other names. Pareto k is accord's, of the log weights as the library has them: over the mixture of all normals in
accord, of each draw by the normal of its own path elsewhere. Errors are in standard deviations of the posterior, the
largest over all scalars that the reference has. Seconds are of CPU, from the bound model to the draws; what g++ takes
is apart, and what it need do only once is in the folder `--kept`.
"""

import argparse
import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from accord import infer
from accord.mcmc.start.uniform import UniformPoints
from accord.report.weights import effective_size, pareto_k
from against_reference import compared, end_with, finite, parser_of_posterior, within_limit
from database import Database, read_data, read_text
from reference_draws import unknowns
from registry import problems

PATHS, DRAWS = 8, 1000

Ran = tuple[
    dict[str, Any], Mapping[str, np.ndarray]
]  # what is found of the draws, and the draws: `(1, draw, *site)`


def main() -> None:
    """Run, compare and print."""
    parser = parser_of_posterior()
    parser.add_argument("--library", choices=LIBRARIES, required=True)
    parser.add_argument("--kept", type=Path, required=True, help="folder of what is compiled once")
    options = parser.parse_args()
    model, known = within_limit(options)
    found, draws = LIBRARIES[options.library](model, options)
    end_with(finite(found) | compared(draws, known()))


def with_accord(model: Any, options: argparse.Namespace) -> Ran:
    """Run accord's."""
    began = time.process_time()
    paths = infer.pathfinder(model, paths=PATHS, draws=DRAWS, seed=options.seed, quiet=True, progress=False)
    draws = {name: np.asarray(paths[name]) for name in paths.sites}
    seconds = time.process_time() - began
    return {"pareto_k": paths.pareto_k, "effective": paths.effective_draws, "cpu_seconds": seconds}, draws


def with_blackjax(model: Any, options: argparse.Namespace, **limits: Any) -> Ran:
    """Run BlackJAX's."""
    from blackjax.vi import multipathfinder

    began = time.process_time()
    jax.config.update("jax_enable_x64", True)
    density = model.log_density()
    key, key_draw = jax.random.split(jax.random.key(options.seed))

    def go(starts: jax.Array) -> Any:
        method = multipathfinder.as_top_level_api(density)
        state, _ = method.init(key, starts, **limits)
        chosen = method.sample(key_draw, state, DRAWS)
        return state.logp - state.logq, jax.lax.map(density.constrain, chosen)

    starts = jnp.asarray(_starts(density, options.seed))
    log_weights, values = jax.block_until_ready(jax.jit(go)(starts))
    seconds = time.process_time() - began
    return _of_weights(log_weights) | {"cpu_seconds": seconds}, _with_one_chain(values)


def with_pymc(model: Any, options: argparse.Namespace) -> Ran:
    """Run PyMC's."""
    os.environ["PYTENSOR_FLAGS"] = f"base_compiledir={options.kept / 'pytensor'}"
    import pymc_pathfinder

    began, compiled = time.process_time(), _seconds_of_children()
    jax.config.update("jax_enable_x64", True)
    density = model.log_density()
    chosen, log_weights = pymc_pathfinder.run(density, PATHS, DRAWS, options.seed)
    values = jax.block_until_ready(jax.jit(jax.vmap(density.constrain))(jnp.asarray(chosen)))
    seconds = {
        "cpu_seconds": time.process_time() - began,
        "compile_seconds": _seconds_of_children() - compiled,
    }
    return _of_weights(log_weights) | seconds, _with_one_chain(values)


def with_stan(model: Any, options: argparse.Namespace) -> Ran:
    """Run Stan's."""
    import stan_pathfinder

    jax.config.update("jax_enable_x64", True)
    database = Database(options.database)
    problem = problems(database)[options.posterior]
    density = model.log_density()
    starts = [density.constrain(start) for start in _starts(density, options.seed)]
    once = stan_pathfinder.compiled_once(options.kept)
    compiled = _seconds_of_children()
    with stan_pathfinder.built(database.program_file(problem.model), once) as program:
        compiled, began = _seconds_of_children() - compiled, time.process_time()
        ran = program.run(read_text(problem.data), starts, DRAWS, options.seed)
        seconds = {"cpu_seconds": time.process_time() - began, "compile_seconds": compiled}
    draws = unknowns(problem.model, ran.draws, read_data(problem.data))
    return _of_weights(ran.log_weights) | seconds | {"own_starts": not ran.is_started}, _with_one_chain(draws)


def _starts(density: Any, seed: int) -> np.ndarray:
    """Where accord's paths begin, shape `(path, dim)`."""
    return np.stack([UniformPoints().position(seed, path, 0, density.dim) for path in range(PATHS)])


def _of_weights(log_weights: Any) -> dict[str, Any]:
    known = np.nan_to_num(np.asarray(log_weights).ravel(), nan=-np.inf, posinf=-np.inf)
    return {"pareto_k": pareto_k(known), "effective": effective_size(known)}


def _with_one_chain(values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(each)[None] for name, each in values.items()}


def _seconds_of_children() -> float:
    """CPU seconds of the compilers that this process has called."""
    times = os.times()
    return times.children_user + times.children_system


LIBRARIES = {
    "accord": with_accord,
    "BlackJAX": with_blackjax,
    # At its defaults, climbs end where a step raises the log density by less than 1e-5 of it, or after 30 steps.
    "BlackJAX, long": partial(with_blackjax, maxiter=200, ftol=1e-12),
    "Stan": with_stan,
    "PyMC": with_pymc,
}


if __name__ == "__main__":
    main()
