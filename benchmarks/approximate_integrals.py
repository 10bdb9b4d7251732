"""Compare counts with effects of groups: as written, non-centred, and with the effects integrated out approximately.

Each group has an effect, or with `--slopes` a level and a slope. Seconds of warm-up and sampling by effective draw of
the least certain site (`ess_bulk`), and gradients.
"""

import argparse
import time

import jax
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


@ac.model
def curves(group, num_groups, x, y):
    """Counts of rows, with a level and a slope for each group, which are correlated."""
    level = ac.sample("level", dist.Normal(0, 2))
    slope = ac.sample("slope", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    tau_slope = ac.sample("tau_slope", dist.HalfNormal(0.5))
    pull = ac.sample("pull", dist.Normal(0, 1))
    with ac.plate("group", num_groups):
        above = ac.sample("above", dist.Normal(0, tau))
        steeper = ac.sample("steeper", dist.Normal(pull * above, tau_slope))
    with ac.plate("row", len(y)):
        rate = jnp.exp(level + above[group] + (slope + steeper[group]) * x)
        ac.sample("y", dist.Poisson(rate), obs=y)


EFFECTS = {counts: ["effect"], curves: ["above", "steeper"]}
NODES = {counts: (25, 15), curves: (15,)}


def simulated(model, num_groups: int, rows: int, seed: int = 1) -> ac.Model:
    """Groups of so many rows, with effects of a standard deviation of 0.5, and slopes of 0.3."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(num_groups), rows)
    x = rng.normal(size=len(group))
    slopes = 0.3 * rng.normal(size=num_groups)[group] if model is curves else 0
    rate = np.exp((0.4 + slopes) * x + 0.5 * rng.normal(size=num_groups)[group])
    return model(group, num_groups, x, rng.poisson(rate))


def microseconds(density: ac.LogDensity) -> float:
    """The least CPU time of a gradient, of some."""
    position = np.zeros(density.dim)
    gradient, found = jax.jit(density.value_and_grad), []
    with jax.enable_x64(True):
        jax.block_until_ready(gradient(position))
        for _ in range(20):
            start = time.process_time()
            jax.block_until_ready(gradient(position))
            found.append(time.process_time() - start)
    return 1e6 * min(found)


def main() -> None:
    """Run every form, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--groups", type=int, nargs="*", default=[50, 500])
    parser.add_argument("--rows", type=int, default=3, help="of each group")
    parser.add_argument("--slopes", action="store_true", help="a level and a slope for each group")
    given = parser.parse_args()
    kind = curves if given.slopes else counts
    names = EFFECTS[kind]
    for num_groups in given.groups:
        model = simulated(kind, num_groups, given.rows)
        forms = {
            "written": model,
            "non-centred": handlers.reparam(model, dict.fromkeys(names, reparam.LocScale())),
            **{
                f"quadrature, {nodes}": handlers.collapse(model, names, by=handlers.Quadrature(nodes=nodes))
                for nodes in NODES[kind]
            },
            "Laplace": handlers.collapse(model, names, by=handlers.Laplace()),
        }
        print(f"{num_groups} groups of {given.rows} rows")
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
                f"gradients of {microseconds(draws.density):.0f} us, {1000 * seconds / smallest:8.2f} ms each, "
                f"{steps + draws.work['warmup']} gradients in {seconds:.2f} s, compiled in "
                f"{draws.timings['compile']:.1f} s, tau {table.loc['tau', 'mean']:.3f} "
                f"(sd {table.loc['tau', 'sd']:.3f}), R-hat {table['r_hat'].max():.3f} {' '.join(told)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
