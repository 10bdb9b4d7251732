"""Measure what it costs to write discrete unknowns as sites, in place of a sum by hand.

    python benchmarks/labelled.py [--chains 4] [--repeats 3] [--numpyro PYTHON]

Two posteriors of posteriordb, a mixture and a hidden Markov model, written both ways: `examples/` has the sums by hand,
`MODELS` below the labels. Each run is in a process of its own, with nothing compiled before (cold), and once more in
the same process (warm); both ways take turns, and medians of CPU seconds count, imports left out. With the Python of an
environment that has NumPyro and funsor, the mixture is also run by NumPyro, where `infer={"enumerate": "parallel"}`
sums the labels out: its default warm-up of as many draws as are kept, chains in a row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = ("low_dim_gauss_mix", "hmm_example")
WAYS = ("by hand", "labels")


def labelled(name: str) -> Any:
    """Return the function of a model with labels."""
    import jax.numpy as jnp

    import accord as ac
    import accord.distributions as dist

    @ac.model
    def low_dim_gauss_mix(y: Any) -> None:
        mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.ordered_vector, (), (2,)))
        ac.factor("mu_prior", dist.Normal(0, 2).log_prob(mu))
        with ac.plate("component", 2):
            sigma = ac.sample("sigma", dist.HalfNormal(2))
        theta = ac.sample("theta", dist.Beta(5, 5))
        with ac.plate("point", len(y)):
            z = ac.sample("z", dist.Bernoulli(1 - theta)).astype(int)
            ac.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)

    @ac.model
    def hmm_example(y: Any) -> None:
        theta1 = ac.sample("theta1", dist.Dirichlet(jnp.ones(2)))
        theta2 = ac.sample("theta2", dist.Dirichlet(jnp.ones(2)))
        mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.positive_ordered_vector, (), (2,)))
        ac.factor("mu_prior", dist.Normal(jnp.array([3.0, 10.0]), 1).log_prob(mu))
        rows = jnp.stack([theta1, theta2, jnp.full(2, 0.5)])  # the last: before the first step

        def step(before: Any, seen: Any) -> tuple[Any, None]:
            z = ac.sample("z", dist.Categorical(rows[before])).astype(int)
            ac.sample("y", dist.Normal(mu[z], 1), obs=seen)
            return z, None

        ac.scan(step, 2, y)

    return {"low_dim_gauss_mix": low_dim_gauss_mix, "hmm_example": hmm_example}[name]


def model_of(name: str, way: str) -> Any:
    """Return a model with its data."""
    from problems import data_of
    from problems import model_of as by_hand

    return by_hand(name) if way == "by hand" else labelled(name)(**data_of(name))


def measured(name: str, way: str, chains: int) -> list[dict[str, float]]:
    """Run a model twice in this process; CPU seconds, and the smallest bulk ESS of its parameters."""
    from accord import infer

    model, found = model_of(name, way), []
    for _ in range(2):
        began, wall = time.process_time(), time.perf_counter()
        draws = infer.sample(model, chains=chains, seed=1, progress=False, quiet=True)
        seconds = {"cpu": time.process_time() - began, "wall": time.perf_counter() - wall}
        table = draws.summary([site for site in draws if site != "z"]).to_dataframe()
        found.append(seconds | {"ess": float(table["ess_bulk"].min())})
    return found


NUMPYRO = """
import json, sys, time
import numpy as np, numpyro, jax.numpy as jnp, jax
numpyro.enable_x64()
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from numpyro.diagnostics import effective_sample_size
y = np.asarray(json.load(sys.stdin))
def model(y):
    mu = numpyro.sample("mu", dist.TransformedDistribution(
        dist.Normal(0, 2).expand([2]).to_event(1), dist.transforms.OrderedTransform()))
    sigma = numpyro.sample("sigma", dist.HalfNormal(2).expand([2]).to_event(1))
    theta = numpyro.sample("theta", dist.Beta(5, 5))
    with numpyro.plate("point", len(y)):
        z = numpyro.sample("z", dist.Bernoulli(1 - theta), infer={"enumerate": "parallel"})
        numpyro.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)
out = []
for seed in (0, 1):
    began, wall = time.process_time(), time.perf_counter()
    run = MCMC(NUTS(model), num_warmup=1000, num_samples=1000, num_chains=CHAINS, chain_method="sequential",
               progress_bar=False)
    run.run(jax.random.PRNGKey(seed), y)
    got = jax.device_get(run.get_samples(group_by_chain=True))
    ess = min(float(np.min(effective_sample_size(each))) for each in got.values())
    out.append({"cpu": time.process_time() - began, "wall": time.perf_counter() - wall, "ess": ess})
print(json.dumps(out))
"""


def in_a_process(command: list[str], given: str = "") -> list[dict[str, float]]:
    """Run a command that prints its figures as the last line."""
    environment = os.environ | {"ACCORD_COMPILATION_CACHE": "off"}
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=True, env=environment, cwd=HERE
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--numpyro", help="Python of an environment with NumPyro and funsor")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(*arguments.one, arguments.chains)))
        return
    rows: dict[tuple[str, str], list[list[dict[str, float]]]] = {}
    for _ in range(arguments.repeats):
        for name in NAMES:
            for way in WAYS:
                command = [sys.executable, __file__, "--chains", str(arguments.chains), "--one", name, way]
                rows.setdefault((name, way), []).append(in_a_process(command))
        if arguments.numpyro:
            from problems import data_of

            code = NUMPYRO.replace("CHAINS", str(arguments.chains))
            given = json.dumps([float(each) for each in data_of(NAMES[0])["y"]])
            rows.setdefault((NAMES[0], "NumPyro"), []).append(
                in_a_process([arguments.numpyro, "-W", "ignore", "-c", code], given)
            )
    print(
        "| posterior | way | cold, CPU s | cold, wall s | warm, CPU s | ESS | warm, CPU ms per effective draw |"
    )
    print("|---|---|---|---|---|---|---|")
    for (name, way), runs in rows.items():
        cold, wall = (statistics.median(run[0][key] for run in runs) for key in ("cpu", "wall"))
        warm = statistics.median(run[1]["cpu"] for run in runs)
        ess = statistics.median(run[1]["ess"] for run in runs)
        print(
            f"| {name} | {way} | {cold:.2f} | {wall:.2f} | {warm:.2f} | {ess:.0f} | {1000 * warm / ess:.3f} |"
        )


if __name__ == "__main__":
    main()
