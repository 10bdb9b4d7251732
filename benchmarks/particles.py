"""Measure particles: variances of normal posteriors by dimension, moments of the eight schools, milliseconds a step.

    python benchmarks/particles.py [--numpyro PYTHON] [--particles 100]

Each fit is in a process of its own. Accord fits by its defaults, until it ends by itself. NumPyro's SVGD, by its radial
kernel (`RBFKernel`), takes as many steps of Adam (0.03), from its own start, in a jitted loop. Seconds of a step are
those of a second run of the compiled steps; of accord, those of the phase of particles, judgement left out.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

DIMS = (2, 10, 50, 100)
SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
SEEN = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
STEPS, RATE = 2000, 0.03


def statements(name: str, sample: Any, plate: Any, dist: Any) -> Any:
    """Return a model; both libraries have the same statements."""

    def normal() -> None:
        with plate("coordinate", int(name)):
            sample("x", dist.Normal(0, 1))

    def schools() -> None:
        mu, tau = sample("mu", dist.Normal(0, 5)), sample("tau", dist.HalfCauchy(5))
        with plate("school", 8):
            z = sample("z", dist.Normal(0, 1))
            sample("y", dist.Normal(mu + tau * z, SIGMA), obs=SEEN)

    return schools if name == "schools" else normal


def moments(sites: dict[str, np.ndarray]) -> dict[str, float]:
    """Return what is compared, of sites of shape `(draw, *site)`."""
    if "x" in sites:
        variances = sites["x"].var(axis=0)
        return {"variance": float(variances.mean()), "lowest": float(variances.min())}
    mu, log_tau, z = sites["mu"], np.log(sites["tau"]), sites["z"]
    named = {"mu": mu, "log tau": log_tau, "z[0]": z[:, 0]}
    found = {
        f"{what} of {name}": float(getattr(np, what)(each))
        for name, each in named.items()
        for what in ("mean", "std")
    }
    return {
        **found,
        "median of tau": float(np.median(sites["tau"])),
        "mean of tau": float(sites["tau"].mean()),
    }


def by_accord(name: str, number: int) -> dict[str, float]:
    """Fit by accord's defaults."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    model = ac.model(statements(name, ac.sample, ac.plate, dist))()
    fit = infer.fit(model, infer.guides.Particles(num_particles=number), quiet=True)
    drawn, steps = fit.draw(number), len(fit.losses[0])
    sites = {site: np.asarray(drawn[site][0]) for site in drawn}
    return {
        **moments(sites),
        "spread": fit.spread,
        "discrepancy": fit.discrepancy,
        "steps": steps,
        "milliseconds": 1e3 * fit.timings["fit"] / steps,
    }


def by_nuts() -> dict[str, float]:
    """Draw from the eight schools, for reference."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    model = ac.model(statements("schools", ac.sample, ac.plate, dist))()
    draws = infer.sample(model, draws=10_000, quiet=True)
    return moments({site: np.concatenate(np.asarray(draws[site])) for site in draws})


def by_numpyro(name: str, number: int) -> dict[str, float]:
    """Take steps of NumPyro's SVGD."""
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.contrib.einstein import SVGD, RBFKernel

    numpyro.enable_x64()
    model = statements(name, numpyro.sample, numpyro.plate, dist)
    made = SVGD(model, numpyro.optim.Adam(RATE), RBFKernel(), num_stein_particles=number)
    state = made.init(jax.random.key(0))
    run = jax.jit(lambda state: jax.lax.scan(lambda s, _: (made.update(s)[0], None), state, length=STEPS)[0])
    jax.block_until_ready(run(state))
    began = time.perf_counter()
    ended = jax.block_until_ready(run(state))
    seconds = time.perf_counter() - began
    values = made.get_params(ended)
    sites = {site.removesuffix("_auto_loc"): np.asarray(each) for site, each in values.items()}
    return {**moments(sites), "steps": STEPS, "milliseconds": 1e3 * seconds / STEPS}


def in_process(python: str, *arguments: str) -> dict[str, float]:
    """Run one part in a process of its own."""
    command = [python, str(Path(__file__).resolve()), "--one", *arguments]
    return json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    )


def main() -> None:
    """Print a line for each model and library, or run one part for `main`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numpyro", help="Python of an environment with NumPyro")
    parser.add_argument("--particles", default="100")
    parser.add_argument("--one", nargs="*")
    options = parser.parse_args()
    if options.one:
        library, *rest = options.one
        found = (
            by_nuts()
            if library == "nuts"
            else {"accord": by_accord, "numpyro": by_numpyro}[library](rest[0], int(rest[1]))
        )
        print(json.dumps(found))
        return
    jobs = [("accord", sys.executable)] + ([("numpyro", options.numpyro)] if options.numpyro else [])
    print("schools nuts   ", _shown(in_process(sys.executable, "nuts")), flush=True)
    for name in ("schools", *map(str, DIMS)):
        for library, python in jobs:
            found = in_process(python, library, name, options.particles)
            print(f"{name:7} {library:7}", _shown(found), flush=True)


def _shown(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in found.items())


if __name__ == "__main__":
    main()
