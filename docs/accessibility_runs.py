"""Make the runs whose pages `docs/accessibility.py` looks at."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

RNG = np.random.default_rng(0)
X = np.linspace(0, 1, 30)
Y = 1 + 2 * X + 0.3 * RNG.normal(size=30)


@ac.model
def line(x, y=None):
    """Fit a line."""
    intercept = ac.sample("intercept", dist.Normal(0, 5))
    slope = ac.sample("slope", dist.Normal(0, 5))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(intercept + slope * jnp.asarray(x), noise), obs=y)


@ac.model
def thousand(y):
    """Estimate a thousand unknowns."""
    mean = ac.sample("mean", dist.Normal(0, 1))
    spread = ac.sample("spread", dist.HalfNormal(1))
    with ac.plate("unit", len(y)):
        effect = ac.sample("effect", dist.Normal(mean, spread))
        ac.sample("y", dist.Normal(effect, 1), obs=y)


@ac.model
def funnel():
    """Sample what chains get stuck in."""
    scale = ac.sample("scale", dist.Normal(0, 3))
    with ac.plate("unit", 9):
        ac.sample("value", dist.Normal(0, jnp.exp(scale / 2)))


def write_reports(folder: Path) -> dict[str, Path]:
    """Write report pages, and return their files by name."""
    draws = infer.sample(line(X, Y), draws=300, quiet=True)
    predictions = (
        infer.predict(draws, quiet=True),
        infer.log_likelihood(draws),
        infer.prior_predictive(line(X, Y), quiet=True),
    )
    many = infer.sample(thousand(RNG.normal(size=998)), draws=200, warmup=200, quiet=True)
    bad = infer.sample(funnel(), draws=100, warmup=50, quiet=True)
    fit = infer.fit(line(X, Y), steps=500, quiet=True)
    files = {name: folder / f"{name}.html" for name in ("3 unknowns", "1000 unknowns", "a bad run", "a fit")}
    draws.report(files["3 unknowns"], *predictions)
    many.report(files["1000 unknowns"])
    bad.report(files["a bad run"])
    fit.report(files["a fit"])
    return files


def write_runs(folder: Path) -> dict[str, Path]:
    """Write folders of runs, and return them by name."""
    runs = {name: folder / name for name in ("a bad run", "a fit")}
    infer.sample(funnel(), draws=100, warmup=50, store=infer.RunFolder(runs["a bad run"]), quiet=True)
    infer.fit(line(X, Y), steps=500, store=infer.RunFolder(runs["a fit"]), quiet=True)
    return runs
