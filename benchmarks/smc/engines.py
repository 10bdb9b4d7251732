"""Estimate evidence and posterior means of a problem by one library, several times in this process.

    python engines.py ENGINE PROBLEM REPEATS

Prints a line of JSON for each repetition: seconds of CPU, the log evidence, and the means. Tracing and compiling are in
the first one.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from problems import PROBLEMS, Problem

Run = Callable[[int], tuple[float, np.ndarray]]
"""Makes a run with a seed: log evidence, and means of the unknowns."""

PARTICLES = 1000
POPULATIONS = 4


def accord(problem: Problem) -> Run:
    """`infer.smc` at its defaults."""
    from accord import infer

    model = _model(problem)

    def run(seed: int) -> tuple[float, np.ndarray]:
        draws = infer.smc(model, seed=seed, quiet=True, progress=False)
        return draws.log_evidence.value, np.asarray(draws.summary()["mean"], float)

    return run


def accord_nested(problem: Problem) -> Run:
    """`infer.NestedSampling` at its defaults: two runs of 500 live points."""
    from accord import infer

    model = _model(problem)

    def run(seed: int) -> tuple[float, np.ndarray]:
        method = infer.NestedSampling(seed=seed, quiet=True, progress=False)
        found = infer.evidence(model, method)
        return found.value, np.asarray(found.draws.summary()["mean"], float)

    return run


def _model(problem: Problem) -> Any:
    """Return the problem as a model of accord."""
    import jax.numpy as jnp

    import accord as ac
    import accord.distributions as dist

    @ac.model
    def model() -> None:
        with ac.plate("unknown", problem.dim):
            u = ac.sample("u", dist.Normal(0, 1))
        ac.factor("likelihood", problem.log_likelihood(jnp, u))

    return model()


def blackjax(problem: Problem) -> Run:
    """Adaptive tempering with HMC, whose scales are those of the particles; four populations, as in accord."""
    import blackjax as bj
    import jax
    import jax.numpy as jnp
    from blackjax.smc import extend_params, resampling
    from blackjax.smc.inner_kernel_tuning import as_top_level_api

    jax.config.update("jax_enable_x64", True)

    def log_prior(u):
        return -0.5 * jnp.sum(u**2) - problem.dim / 2 * jnp.log(2 * jnp.pi)

    def log_likelihood(u):
        return problem.log_likelihood(jnp, u)

    def scales(key, state, info):
        return extend_params({"inverse_mass_matrix": state.particles.var(0)})

    start = extend_params({
        "inverse_mass_matrix": jnp.ones(problem.dim),
        "step_size": 0.2,
        "num_integration_steps": 10,
    })  # fmt: skip
    smc = as_top_level_api(
        smc_algorithm=bj.adaptive_tempered_smc,
        logprior_fn=log_prior,
        loglikelihood_fn=log_likelihood,
        mcmc_step_fn=bj.hmc.build_kernel(),
        mcmc_init_fn=bj.hmc.init,
        resampling_fn=resampling.systematic,
        mcmc_parameter_update_fn=lambda *words: start | scales(*words),
        initial_parameter_value=start,
        target_ess=0.5,
        num_mcmc_steps=10,
    )

    @jax.jit
    def whole(key):
        first, key = jax.random.split(key)
        state = smc.init(jax.random.normal(first, (PARTICLES, problem.dim)))

        def step(carry):
            key, state, evidence = carry
            now, key = jax.random.split(key)
            state, info = smc.step(now, state)
            return key, state, evidence + info.log_likelihood_increment

        carry = (key, state, jnp.zeros(()))
        _, state, evidence = jax.lax.while_loop(
            lambda carry: carry[1].sampler_state.tempering_param < 1, step, carry
        )
        return evidence, state.sampler_state.particles.mean(0)

    def run(seed: int) -> tuple[float, np.ndarray]:
        keys = jax.random.split(jax.random.key(seed), POPULATIONS)
        found = [whole(key) for key in keys]
        logs = np.array([float(evidence) for evidence, _ in found])
        weights = np.exp(logs - logs.max())
        means = np.stack([np.asarray(mean) for _, mean in found])
        return float(logs.max() + np.log(weights.mean())), weights @ means / weights.sum()

    return run


def pymc(problem: Problem) -> Run:
    """`pm.sample_smc` at its defaults, four populations in this process."""
    import pymc as pm
    import pytensor.tensor as pt

    class Names:
        """The functions that problems ask of an array library."""

        sum, tan, asarray = staticmethod(pt.sum), staticmethod(pt.tan), staticmethod(pt.as_tensor_variable)

        @staticmethod
        def logaddexp(zero, value):
            return pt.softplus(value)

        @staticmethod
        def normal_cdf(value):
            return pt.erfc(-value / np.sqrt(2)) / 2

    def run(seed: int) -> tuple[float, np.ndarray]:
        with pm.Model():
            u = pm.Normal("u", shape=problem.dim)
            pm.Potential("likelihood", problem.log_likelihood(Names, u))
            trace = pm.sample_smc(chains=POPULATIONS, cores=1, random_seed=seed, progressbar=False)
        # The values of all stages of a chain, the last one of the evidence.
        logs = np.array([float(np.asarray(each).ravel()[-1]) for each in _last(trace)])
        return float(np.logaddexp.reduce(logs) - np.log(len(logs))), trace.posterior["u"].mean(
            ("chain", "draw")
        ).values

    return run


def _last(trace):
    """Return the evidence of each chain, from the statistics of a run of PyMC."""
    values = trace.sample_stats["log_marginal_likelihood"].values
    return [np.asarray(list(chain)[-1] if np.ndim(chain) else chain).ravel()[-1:] for chain in values]


def particles(problem: Problem) -> Run:
    """Waste-free adaptive tempering of the package `particles`, four populations."""
    import particles as package
    from particles import distributions as laws
    from particles import smc_samplers

    class Static(smc_samplers.StaticModel):
        """The problem, as the package wants it."""

        def loglik(self, theta, t=None):
            return np.array([problem.log_likelihood(np, u) for u in theta["u"]])

    prior = laws.StructDist({"u": laws.MvNormal(loc=np.zeros(problem.dim), cov=np.eye(problem.dim))})

    def run(seed: int) -> tuple[float, np.ndarray]:
        np.random.seed(seed)
        logs, means = [], []
        for _ in range(POPULATIONS):
            steps = smc_samplers.AdaptiveTempering(Static(data=None, prior=prior), len_chain=10)
            smc = package.SMC(fk=steps, N=PARTICLES // 10, verbose=False)
            smc.run()
            logs.append(smc.logLt)
            means.append(smc.W @ smc.X.theta["u"])
        weights = np.exp(np.array(logs) - max(logs))
        return float(np.logaddexp.reduce(logs) - np.log(len(logs))), weights @ np.stack(means) / weights.sum()

    return run


def dynesty(problem: Problem) -> Run:
    """Static nested sampling at its defaults, 500 live points."""
    import dynesty as package
    from scipy.special import ndtri

    def run(seed: int) -> tuple[float, np.ndarray]:
        sampler = package.NestedSampler(
            lambda u: problem.log_likelihood(np, u), ndtri, problem.dim, rstate=np.random.default_rng(seed)
        )
        sampler.run_nested(print_progress=False)
        found = sampler.results
        return float(found.logz[-1]), found.importance_weights() @ found.samples

    return run


ENGINES: dict[str, Callable[[Problem], Run]] = {
    "accord": accord,
    "accord, nested": accord_nested,
    "BlackJAX": blackjax,
    "PyMC": pymc,
    "particles": particles,
    "dynesty": dynesty,
}


def main() -> None:
    """Print a line for each repetition."""
    engine, name, repeats = sys.argv[1:]
    warnings.simplefilter("ignore")
    run = ENGINES[engine](PROBLEMS[name]())
    for seed in range(int(repeats)):
        began = time.process_time()
        evidence, means = run(seed)
        spent = time.process_time() - began
        print(json.dumps({"cpu": spent, "log_evidence": evidence, "means": means.tolist()}), flush=True)


if __name__ == "__main__":
    main()
