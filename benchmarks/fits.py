"""Compare variational fits with those of NumPyro: cold seconds to the same evidence lower bound.

    python benchmarks/fits.py --numpyro PYTHON [--repeats 3] [--models schools,groups,logistic]

Each fit is in a process of its own, with nothing compiled before; both libraries take turns, and medians count, imports
left out. Accord fits by its defaults, until it ends by itself and has judged the fit. NumPyro's SVI takes steps of Adam
(0.01, ten draws each, float64) in a jitted loop of 250 at a time, without a display, until its bound by 2,000 draws is
within 0.1 nats of the one that accord ended at; what it takes to evaluate the bound is left out. A minute is the
limit: a ratio from there is a lower bound.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

NEAR = 0.1  # nats
BLOCK, LIMIT = 250, 60.0
GUIDES = {"MeanField": "AutoNormal", "FullRank": "AutoMultivariateNormal"}
MODELS = ("schools", "groups", "logistic")


def data_of(name: str) -> dict[str, Any]:
    """Return the data of a model."""
    rng = np.random.default_rng(0)
    if name == "schools":
        return {
            "sigma": np.array([15, 10, 16, 11, 9, 11, 10, 18.0]),
            "y": np.array([28, 8, -3, 7, -1, 1, 18, 12.0]),
        }
    if name == "groups":
        group = rng.integers(0, 100, 5000)
        x = rng.normal(size=5000)
        y = 1 + 0.5 * x + 0.8 * rng.normal(size=100)[group] + rng.normal(size=5000)
        return {"group": group, "x": x, "y": y}
    x = rng.normal(size=(20_000, 50))
    y = rng.random(20_000) < 1 / (1 + np.exp(-x @ (0.3 * rng.normal(size=50))))
    return {"x": x, "y": y.astype(int)}


def statements(name: str, sample: Any, plate: Any, dist: Any) -> Any:
    """Return a model as a function of its data; both libraries have the same statements."""

    def schools(sigma: Any, y: Any) -> None:
        mu = sample("mu", dist.Normal(0, 5))
        tau = sample("tau", dist.HalfCauchy(5))
        with plate("school", 8):
            z = sample("z", dist.Normal(0, 1))
            sample("y", dist.Normal(mu + tau * z, sigma), obs=y)

    def groups(group: Any, x: Any, y: Any) -> None:
        mu, slope = sample("mu", dist.Normal(0, 5)), sample("slope", dist.Normal(0, 5))
        tau, noise = sample("tau", dist.HalfNormal(2)), sample("noise", dist.HalfNormal(2))
        with plate("group", 100):
            z = sample("z", dist.Normal(0, 1))
        with plate("row", 5000):
            sample("y", dist.Normal(mu + tau * z[group] + slope * x, noise), obs=y)

    def logistic(x: Any, y: Any) -> None:
        scale = sample("scale", dist.HalfNormal(1))
        with plate("column", 50):
            z = sample("z", dist.Normal(0, 1))
        with plate("row", 20_000):
            sample("y", dist.Bernoulli(logits=x @ (scale * z)), obs=y)

    return {"schools": schools, "groups": groups, "logistic": logistic}[name]


def by_accord(name: str, guide: str) -> dict[str, float]:
    """Fit by accord's defaults."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    model, data = ac.model(statements(name, ac.sample, ac.plate, dist)), data_of(name)
    infer.fit  # noqa: B018 - imports it
    made = getattr(infer.guides, guide)()
    began = time.perf_counter()
    fit = infer.fit(model(**data), made, quiet=True)
    return {
        "seconds": time.perf_counter() - began,
        "bound": fit.log_evidence_bound,
        "k": fit.pareto_k,
        "steps": sum(len(losses) for losses in fit.losses.values()),
    }


def by_numpyro(name: str, guide: str, target: float) -> dict[str, float]:
    """Fit by NumPyro until the bound is near the target."""
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO, autoguide

    numpyro.enable_x64()
    model, data = statements(name, numpyro.sample, numpyro.plate, dist), data_of(name)
    made = getattr(autoguide, GUIDES[guide])(model)
    svi = SVI(model, made, numpyro.optim.Adam(1e-2), Trace_ELBO(num_particles=10))
    judge, key = Trace_ELBO(num_particles=2000), jax.random.key(1)
    evaluate = jax.jit(lambda state: judge.loss(key, svi.get_params(state), model, made, **data))
    began = time.perf_counter()
    state = svi.init(jax.random.key(0), **data)
    run = jax.jit(lambda state: jax.lax.scan(lambda s, _: svi.update(s, **data), state, length=BLOCK))
    spent, steps, bound = time.perf_counter() - began, 0, -np.inf
    while spent < LIMIT and bound < target - NEAR:
        began = time.perf_counter()
        state = jax.block_until_ready(run(state)[0])
        spent, steps = spent + time.perf_counter() - began, steps + BLOCK
        bound = -float(evaluate(state))
    return {"seconds": spent, "bound": bound, "steps": steps}


def in_process(script: str, python: str, *arguments: str) -> Any:
    """Run one fit of a script in a process of its own, with an empty folder for compiled programs."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [python, str(Path(script).resolve()), "--one", *arguments],
            env={**os.environ, "JAX_COMPILATION_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    """Compare the libraries on each model and guide, or make one fit for `main`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numpyro", help="Python of an environment with NumPyro")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--one", nargs="*")
    options = parser.parse_args()
    if options.one:
        name, guide, *target = options.one
        found = by_numpyro(name, guide, float(target[0])) if target else by_accord(name, guide)
        print(json.dumps(found))
        return
    ratios = []
    for name in options.models.split(","):
        for guide in GUIDES:
            ours, theirs = [], []
            for _ in range(options.repeats):
                ours.append(in_process(__file__, sys.executable, name, guide))
                if options.numpyro:
                    theirs.append(in_process(__file__, options.numpyro, name, guide, str(ours[0]["bound"])))
            own, other = (
                statistics.median(each["seconds"] for each in runs) if runs else float("nan")
                for runs in (ours, theirs)
            )
            first, last = ours[0], (theirs or [{"bound": float("nan"), "steps": 0}])[0]
            ratios.append(other / own)
            print(
                f"{name:9} {guide:10} accord {own:6.2f} s, bound {first['bound']:.2f}, k {first['k']:.2f}; "
                f"NumPyro {other:6.2f} s, bound {last['bound']:.2f} in {last['steps']} steps; ratio {other / own:.1f}",
                flush=True,
            )
    print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.1f}")


if __name__ == "__main__":
    main()
