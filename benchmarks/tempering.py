"""Find the weights of two modes that are 20 standard deviations apart, by tempering and SMC, beside BlackJAX.

    python benchmarks/tempering.py [--peers PYTHON] [--dims 10 50] [--seeds 5]

x ~ N(0, 10^2) in each dimension, and a likelihood of 0.3 N(x; -c, 1) + 0.7 N(x; c, 1) with |c| = 10. Each run is in a
process of its own, and its time is that from the model to the answer, compilation included, imports left out.
`infer.smc` gets several numbers of particles, of each of 4 populations, and moves them by its defaults; BlackJAX gets
one population, moved 5 times a stage by HMC of 10 steps in the metric of the particles. An error is the root mean
square over seeds: of the weight, 0.7, and of the log evidence.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
DISTANCE, WEIGHT = 10.0, 0.7
RUNGS = {10: 10, 50: 20}
PARTICLES = (1000, 4000, 16_000)
OF_EACH = (1000, 4000)  # of 4 populations


def exact(dim: int) -> float:
    """Return the log evidence: both modes have the same."""
    return -0.5 * dim * np.log(2 * np.pi * 101) - DISTANCE**2 / 202


def by_accord(dim: int, seed: int, kernel: str) -> dict[str, float]:
    """Run `infer.Tempered`, NUTS alone, or `infer.smc` with a number of particles."""
    import jax.numpy as jnp

    import accord as ac
    import accord.distributions as dist
    from accord import infer

    @ac.model
    def two_modes() -> None:
        x = ac.sample("x", dist.Normal(jnp.zeros(dim), 10.0).to_event(1))
        centre = DISTANCE / np.sqrt(dim)
        left, right = (-0.5 * jnp.sum((x - sign * centre) ** 2) for sign in (-1, 1))
        both = jnp.logaddexp(np.log(1 - WEIGHT) + left, np.log(WEIGHT) + right)
        ac.factor("likelihood", both - 0.5 * dim * np.log(2 * np.pi))
        ac.deterministic("right", jnp.sum(x) > 0)

    began = time.perf_counter()
    if kernel.isdigit():
        populations = infer.smc(two_modes(), particles=int(kernel), seed=seed, progress=False, quiet=True)
        weight, evidence = float(np.mean(populations["right"])), populations.log_evidence.value
        return {"weight": weight, "log_evidence": evidence, "seconds": time.perf_counter() - began}
    alone = infer.NUTS() if kernel == "NUTS" else infer.HMC()
    ladder = infer.Tempered(infer.HMC(), temperatures=RUNGS.get(dim, 2 * int(np.sqrt(dim)) + 4))
    sampler = ladder if kernel == "Tempered" else alone
    draws = infer.sample(two_modes(), sampler, draws=2000, seed=seed, progress=False, quiet=True)
    found = {"weight": float(np.mean(draws["right"])), "log_evidence": np.nan}
    if kernel == "Tempered":
        found["log_evidence"] = infer.evidence(draws).value
    return found | {"seconds": time.perf_counter() - began}


def by_blackjax(dim: int, seed: int, particles: int) -> dict[str, float]:
    """Run adaptive tempered SMC."""
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.smc import adaptive_tempered, resampling

    jax.config.update("jax_enable_x64", True)
    centre = DISTANCE / np.sqrt(dim)

    def log_prior(x: Any) -> Any:
        return -0.5 * jnp.sum((x / 10) ** 2) - dim * np.log(10) - 0.5 * dim * np.log(2 * np.pi)

    def log_likelihood(x: Any) -> Any:
        left, right = (-0.5 * jnp.sum((x - sign * centre) ** 2) for sign in (-1, 1))
        both = jnp.logaddexp(np.log(1 - WEIGHT) + left, np.log(WEIGHT) + right)
        return both - 0.5 * dim * np.log(2 * np.pi)

    began = time.perf_counter()
    step = jax.jit(
        adaptive_tempered.build_kernel(
            log_prior,
            log_likelihood,
            blackjax.hmc.build_kernel(),
            blackjax.hmc.init,
            resampling.systematic,
            target_ess=0.5,
        ),
        static_argnums=2,
    )
    key, start = jax.random.split(jax.random.key(seed))
    state = adaptive_tempered.init(10 * jax.random.normal(start, (particles, dim)))
    log_evidence = 0.0
    while float(state.tempering_param) < 1:
        key, own = jax.random.split(key)
        mean = jnp.sum(state.weights[:, None] * state.particles, 0)
        variance = jnp.sum(state.weights[:, None] * (state.particles - mean) ** 2, 0)
        parameters = {
            "step_size": jnp.full(1, 0.8 * dim**-0.25),
            "inverse_mass_matrix": variance[None],
            "num_integration_steps": jnp.full(1, 10),
        }
        state, info = step(own, state, 5, parameters)
        log_evidence += float(info.log_likelihood_increment)
    weight = float(jnp.sum(state.weights * (jnp.sum(state.particles, 1) > 0)))
    return {"weight": weight, "log_evidence": log_evidence, "seconds": time.perf_counter() - began}


def run(python: str, *arguments: Any) -> dict[str, float]:
    """Make one run in a process of its own."""
    command = [python, str(HERE), "--run", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _name(engine: str, option: str) -> str:
    return f"{engine} SMC, {option} particles" if option.isdigit() else f"{engine} {option}"


def main() -> None:
    """Print a table, or, with `--run`, the answer of one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="", help="Python of an environment that has BlackJAX")
    parser.add_argument("--dims", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--run", nargs=4, metavar=("ENGINE", "DIM", "SEED", "OPTION"))
    options = parser.parse_args()
    if options.run:
        engine, dim, seed, option = options.run
        found = (
            by_accord(int(dim), int(seed), option)
            if engine == "accord"
            else by_blackjax(int(dim), int(seed), int(option))
        )
        print(json.dumps(found))
        return
    ways = [("accord", each, sys.executable) for each in ("Tempered", "NUTS", *map(str, OF_EACH))]
    if options.peers:
        ways += [("blackjax", str(count), options.peers) for count in PARTICLES]
    print("| dimensions | engine | seconds | weight, by seed | error of the weight | of the log evidence |")
    print("|---|---|---|---|---|---|")
    for dim in options.dims:
        for engine, option, python in ways:
            found = [run(python, engine, dim, seed, option) for seed in range(options.seeds)]
            weights, heights, seconds = (
                np.array([each[name] for each in found]) for name in ("weight", "log_evidence", "seconds")
            )
            errors = (np.sqrt(np.mean(off**2)) for off in (weights - WEIGHT, heights - exact(dim)))
            of_weight, of_evidence = errors
            print(
                f"| {dim} | {_name(engine, option)} | {np.median(seconds):.1f} | {np.round(weights, 2).tolist()} "
                f"| {of_weight:.3f} | {of_evidence:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
