"""Regress outcomes of yes and no: votes, and tumours on many genes (posteriordb)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take


@ac.model
def election88_full(y, black, female, v_prev_full, groups, sizes):
    """Polls of the election of 1988 (Gelman & Hill, 2007, section 14.2); `y`: 1 for Bush, shape (n,).

    `groups`: the group of each person by the name of its effect, each of shape (n,); `sizes`: the numbers of groups.
    """
    with ac.plate("coefficient", 5):
        beta = ac.sample("beta", dist.Normal(0, 100))
    logits = beta[0] + beta[1] * black + beta[2] * female + beta[4] * female * black + beta[3] * v_prev_full
    for name, size in sizes.items():
        scale = ac.sample(f"sigma_{name}", dist.Uniform(0, 100))
        with ac.plate(f"{name}_plate", size):
            effect = ac.sample(name, dist.Normal(0, scale))
        logits = logits + effect[groups[name]]
    ac.sample("y", dist.Bernoulli(logits=logits), obs=y)


def election88_arguments(data: Data) -> dict[str, object]:
    """Collect the five groupings by the names of their effects."""
    groupings = {"a": "age", "b": "edu", "c": "age_edu", "d": "state", "e": "region_full"}
    return take("y", "black", "female", "v_prev_full")(data) | {
        "groups": {name: data[grouping] - 1 for name, grouping in groupings.items()},
        "sizes": {name: data[f"n_{grouping}"] for name, grouping in groupings.items()},
    }


@ac.model
def logistic_regression_rhs(x, y, scale_icept, scale_global, nu_global, nu_local, slab_scale, slab_df):
    """Logistic regression under the regularised horseshoe (Piironen & Vehtari, 2017); `x`: shape (n, d)."""
    beta0 = ac.sample("beta0", dist.Normal(0, scale_icept))
    tau = ac.sample("tau", dist.HalfStudentT(nu_global, scale_global * 2))
    caux = ac.sample("caux", dist.InverseGamma(0.5 * slab_df, 0.5 * slab_df))
    with ac.plate("predictor", x.shape[1]):
        z = ac.sample("z", dist.Normal(0, 1))
        local = ac.sample("lambda", dist.HalfStudentT(nu_local, 1))
    c = slab_scale * jnp.sqrt(caux)
    shrunk = jnp.sqrt(c**2 * local**2 / (c**2 + tau**2 * local**2))
    ac.sample("y", dist.Bernoulli(logits=beta0 + x @ (z * shrunk * tau)), obs=y)


ENTRIES = {
    "election88_full": Entry(election88_full, election88_arguments),
    "logistic_regression_rhs": Entry(
        logistic_regression_rhs,
        take("x", "y", "scale_icept", "scale_global", "nu_global", "nu_local", "slab_scale", "slab_df"),
    ),
}
