"""Run the Pathfinder of a library on one posterior in this process, and write how good its draws are.

    python benchmarks/pdb/with_pathfinder.py --database FOLDER --posterior NAME --library BlackJAX --cpu-limit 300

It prints one line of JSON. Each library has eight paths at its defaults, which begin at accord's default starts, and
gives 1,000 draws, resampled by its own weights. BlackJAX has the log density from accord. Pareto k is accord's, of the
log weights as the library has them: over the mixture of all normals in accord, of each draw by the normal of its own
path in BlackJAX. Errors are in standard deviations of the posterior, the largest over all scalars that the reference
has. Seconds are of CPU, from the bound model to the draws.
"""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from accord import infer
from accord.mcmc.start.uniform import UniformPoints
from accord.report.weights import effective_size, pareto_k
from against_reference import compared, end_with, finite, parser_of_posterior, within_limit

PATHS, DRAWS = 8, 1000


def main() -> None:
    """Run, compare and print."""
    parser = parser_of_posterior()
    parser.add_argument("--library", choices=LIBRARIES, required=True)
    options = parser.parse_args()
    model, known = within_limit(options)
    run = LIBRARIES[options.library]
    began = time.process_time()
    found, draws, finished = run(model, options.seed)
    end_with(finite(found) | {"cpu_seconds": finished - began} | compared(draws, known()))


def with_accord(model: Any, seed: int) -> tuple[dict[str, Any], Mapping[str, np.ndarray], float]:
    """Return what is found of the draws, the draws, and the CPU time at which they were there."""
    paths = infer.pathfinder(model, paths=PATHS, draws=DRAWS, seed=seed, quiet=True, progress=False)
    draws = {name: np.asarray(paths[name]) for name in paths.sites}
    return {"pareto_k": paths.pareto_k, "effective": paths.effective_draws}, draws, time.process_time()


def with_blackjax(
    model: Any, seed: int, **options: Any
) -> tuple[dict[str, Any], Mapping[str, np.ndarray], float]:
    """As `with_accord`, by multi-path Pathfinder."""
    from blackjax.vi import multipathfinder

    jax.config.update("jax_enable_x64", True)
    density = model.log_density()
    key, key_draw = jax.random.split(jax.random.key(seed))
    points = UniformPoints()
    starts = np.stack([points.position(seed, path, 0, density.dim) for path in range(PATHS)])

    def go(starts: jax.Array) -> Any:
        method = multipathfinder.as_top_level_api(density)
        state, _ = method.init(key, starts, **options)
        chosen = method.sample(key_draw, state, DRAWS)
        return state.logp - state.logq, jax.lax.map(density.constrain, chosen)

    log_weights, values = jax.block_until_ready(jax.jit(go)(jnp.asarray(starts)))
    finished = time.process_time()
    log_weights = np.nan_to_num(np.asarray(log_weights).ravel(), nan=-np.inf, posinf=-np.inf)
    found = {"pareto_k": pareto_k(log_weights), "effective": effective_size(log_weights)}
    return found, {name: np.asarray(each)[None] for name, each in values.items()}, finished


LIBRARIES = {
    "accord": with_accord,
    "BlackJAX": with_blackjax,
    # At its defaults, climbs end where a step raises the log density by less than 1e-5 of it, or after 30 steps.
    "BlackJAX, long": partial(with_blackjax, maxiter=200, ftol=1e-12),
}


if __name__ == "__main__":
    main()
