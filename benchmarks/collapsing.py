"""Compare hierarchies as they are written, non-centred, and with their effects integrated out.

Effective draws of the least certain site (`ess_bulk`) by gradients of sampling, and by seconds of warm-up and sampling.
"""

import argparse

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from centring import SIGMA, Y, schools


@ac.model
def groups(group, num_groups, y):
    """Groups of normal rows, whose means vary: scale and noise are unknown."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    noise = ac.sample("noise", dist.HalfNormal(2))
    with ac.plate("group", num_groups):
        theta = ac.sample("theta", dist.Normal(mu, tau))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(theta[group], noise), obs=y)


def simulated(num_groups: int, rows: int, seed: int = 1) -> ac.Model:
    """Groups of so many rows, with means of a standard deviation of 0.5 and a noise of 1."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(num_groups), rows)
    theta = 1.0 + 0.5 * rng.normal(size=num_groups)
    return groups(group, num_groups, theta[group] + rng.normal(size=len(group)))


def main() -> None:
    """Run every form of both models, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2)
    seed = parser.parse_args().seed
    for name, model in {
        "eight schools": schools(SIGMA, Y),
        "500 groups of 5 rows": simulated(500, 5),
    }.items():
        forms = {
            "written": model,
            "non-centred": handlers.reparam(model, {"theta": reparam.LocScale()}),
            "collapsed": handlers.collapse(model, ["theta"]),
        }
        print(name)
        for form, changed in forms.items():
            draws = infer.sample(changed, seed=seed, progress=False, quiet=True, executor=infer.Serial())
            table = draws.summary().to_dataframe()
            table = table[~table.index.str.contains("_base")]
            smallest, steps = float(table["ess_bulk"].min()), int(draws.stats["n_steps"].sum())
            seconds = draws.timings["warmup"] + draws.timings["sampling"]
            warmup = draws.work["warmup"]
            print(
                f"  {form:12} dim {draws.density.dim:3}, {int(draws.stats['diverging'].sum()):3} divergences, ESS "
                f"{smallest:5.0f}, {1000 * smallest / steps:6.1f} per 1000 gradients, {smallest / seconds:8.0f} per "
                f"second, {steps + warmup} gradients in {seconds:.2f} s, R-hat {table['r_hat'].max():.3f}"
            )


if __name__ == "__main__":
    main()
