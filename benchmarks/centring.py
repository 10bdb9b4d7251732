"""Compare hierarchies as they are written, non-centred, and as `reparam.propose` has them: ESS per 1000 gradients."""

import argparse

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam

SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])


@ac.model
def schools(sigma, y):
    """Eight schools, centred."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def groups(group, num_groups, x, y):
    """A regression whose intercept varies by group."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    noise = ac.sample("noise", dist.HalfNormal(2))
    slope = ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("group", num_groups):
        theta = ac.sample("theta", dist.Normal(mu, tau))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(theta[group] + slope * x, noise), obs=y)


@ac.model
def walk(y, is_centred):
    """A level that walks, by `ac.scan`, and is observed with noise at each step; `y`: shape (steps,)."""
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    noise = ac.sample("noise", dist.HalfNormal(1.0))

    def step(level, observed):
        level = ac.sample("level", dist.Normal(level, scale))
        ac.sample("y", dist.Normal(level, noise), obs=observed)
        return level, None

    ac.scan(step if is_centred else handlers.reparam(step, {"level": reparam.LocScale()}), 0.0, y)


def simulated(counts: list[int], tau: float, seed: int) -> ac.Model:
    """Groups of so many rows, with a noise of 1."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(counts)), counts)
    x = rng.normal(size=len(group))
    theta = 1.0 + tau * rng.normal(size=len(counts))
    return groups(group, len(counts), x, theta[group] + 0.5 * x + rng.normal(size=len(group)))


def main() -> None:
    """Run every form of every model, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2)
    seed = parser.parse_args().seed
    models = {
        "eight schools": schools(SIGMA, Y),
        "40 groups of 2 rows": simulated([2] * 40, 0.3, 2),
        "20 groups of 50 rows": simulated([50] * 20, 1.0, 1),
        "30 groups of 1 row, 10 of 200": simulated([1] * 30 + [200] * 10, 0.5, 3),
    }
    for name, model in models.items():
        proposal = reparam.propose(model)
        print(f"{name}\n{proposal}")
        forms = {
            "written": model,
            "non-centred": handlers.reparam(model, {"theta": reparam.LocScale()}),
            "proposed": handlers.reparam(model, proposal),
        }
        for form, changed in forms.items():
            report(form, changed, seed)
    rng = np.random.default_rng(0)
    y = np.cumsum(0.05 * rng.normal(size=100)) + 0.5 * rng.normal(size=100)
    print("walk of 100 steps")
    for form, is_centred in (("written", True), ("non-centred", False)):
        report(form, walk(y, is_centred), seed)


def report(form: str, model: ac.Model, seed: int) -> None:
    """Run one form of a model, and print what it took."""
    draws = infer.sample(model, seed=seed, progress=False, quiet=True)
    table = draws.summary().to_dataframe()
    table = table[~table.index.str.contains("_base")]
    smallest, steps = float(table["ess_bulk"].min()), int(draws.stats["n_steps"].sum())
    print(
        f"  {form:12} {len(draws.chains)} chains, {int(draws.stats['diverging'].sum()):3} divergences, ESS "
        f"{smallest:5.0f}, {1000 * smallest / steps:6.1f} per 1000 gradients, R-hat {table['r_hat'].max():.3f}"
    )


if __name__ == "__main__":
    main()
