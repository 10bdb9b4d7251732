"""Fit the Lotka-Volterra equations to pelts of hares and lynxes, 1900 to 1920 (Carpenter, 2018, Stan case study)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from accord import ode

RATES = ("hare_birth", "hare_predation", "lynx_death", "lynx_growth")
SPECIES = ("hare", "lynx")


@ac.model
def lotka_volterra(ts, y_init, y):
    """`ts`: years after 1900, shape (n,); `y_init`: pelts in 1900, shape (2,); `y`: pelts later, shape (n, 2)."""
    with ac.plate("rate", 4, coords=RATES):
        loc = jnp.array([1.0, 0.05, 1.0, 0.05])
        scale = jnp.array([0.5, 0.05, 0.5, 0.05])
        theta = ac.sample("theta", dist.TruncatedNormal(loc, scale, low=0.0))
    with ac.plate("species", 2, coords=SPECIES):
        z_init = ac.sample("z_init", dist.LogNormal(jnp.log(10.0), 1.0))
        sigma = ac.sample("sigma", dist.LogNormal(-1.0, 1.0))
        ac.sample("y_init", dist.LogNormal(jnp.log(z_init), sigma), obs=y_init)
    with ac.plate("year", len(ts), dim=-2), ac.plate("species", 2, dim=-1, coords=SPECIES):
        ac.sample("y", dist.LogNormal(log_populations(theta, z_init, ts), sigma), obs=y)


def log_populations(theta, z_init, ts):
    """Solve for the logarithms, which never turn negative; shape (n, 2). Not finite where the solver gives up."""

    def slope(t, log_z, theta):
        hare, lynx = jnp.exp(log_z)
        return jnp.stack([theta[0] - theta[1] * lynx, -theta[2] + theta[3] * hare])

    return ode.solve(slope, jnp.log(z_init), 0.0, ts, theta, rtol=1e-6, atol=1e-6, max_steps=500)
