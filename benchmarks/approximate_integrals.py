"""Compare counts with effects of groups: as written, non-centred, and with the effects integrated out approximately.

Seconds of warm-up and sampling by effective draw of the least certain site (`ess_bulk`), and gradients.
"""

import argparse

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam


@ac.model
def counts(group, num_groups, x, y):
    """Counts of rows, with a slope and an effect for each group."""
    level = ac.sample("level", dist.Normal(0, 2))
    slope = ac.sample("slope", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("group", num_groups):
        effect = ac.sample("effect", dist.Normal(0, tau))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Poisson(jnp.exp(level + slope * x + effect[group])), obs=y)


def simulated(num_groups: int, rows: int, seed: int = 1) -> ac.Model:
    """Groups of so many rows, with effects of a standard deviation of 0.5."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(num_groups), rows)
    x = rng.normal(size=len(group))
    rate = np.exp(0.4 * x + 0.5 * rng.normal(size=num_groups)[group])
    return counts(group, num_groups, x, rng.poisson(rate))


def main() -> None:
    """Run every form, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--groups", type=int, nargs="*", default=[50, 500])
    given = parser.parse_args()
    for num_groups in given.groups:
        model = simulated(num_groups, 3)
        forms = {
            "written": model,
            "non-centred": handlers.reparam(model, {"effect": reparam.LocScale()}),
            "quadrature, 25": handlers.collapse(model, ["effect"], by=handlers.Quadrature()),
            "quadrature, 15": handlers.collapse(model, ["effect"], by=handlers.Quadrature(nodes=15)),
            "Laplace": handlers.collapse(model, ["effect"], by=handlers.Laplace()),
        }
        print(f"{num_groups} groups of 3 rows")
        for form, changed in forms.items():
            draws = infer.sample(
                changed,
                draws=given.draws,
                seed=given.seed,
                progress=False,
                quiet=True,
                executor=infer.Serial(),
            )
            table = draws.summary().to_dataframe()
            table = table[~table.index.str.contains("_base")]
            smallest, steps = float(table["ess_bulk"].min()), int(draws.stats["n_steps"].sum())
            seconds = draws.timings["warmup"] + draws.timings["sampling"]
            told = [note.message for note in draws.notices if note.code in ("few_nodes", "laplace_poor")]
            print(
                f"  {form:15} dim {draws.density.dim:3}, ESS {smallest:5.0f}, {1000 * smallest / steps:6.1f} per 1000 "
                f"gradients, {1000 * seconds / smallest:8.2f} ms each, {steps + draws.work['warmup']} gradients in "
                f"{seconds:.2f} s, compiled in {draws.timings['compile']:.1f} s, tau {table.loc['tau', 'mean']:.3f} "
                f"(sd {table.loc['tau', 'sd']:.3f}), R-hat {table['r_hat'].max():.3f} {' '.join(told)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
