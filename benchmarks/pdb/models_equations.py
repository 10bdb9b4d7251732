"""Write the models of the database that solve differential equations, with the tolerances of `integrate_ode_rk45`."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from accord import ode
from entry import Entry, take

HALF_SATURATION = 1e6  # bacteria in the water at which half of the contacts infect


@ac.model
def sir(t, y0, stoi_hat, B_hat):
    """An epidemic that spreads by water.

    `t`: shape (n,), after 0; `y0`: susceptible, infected, recovered and bacteria at time 0, shape (4,); `stoi_hat`: the
    new infections until each time; `B_hat`: bacteria, shape (n,).
    """
    beta = ac.sample("beta", dist.HalfCauchy(2.5))
    gamma = ac.sample("gamma", dist.HalfCauchy(1))
    xi = ac.sample("xi", dist.HalfCauchy(25))
    delta = ac.sample("delta", dist.HalfCauchy(1))

    def slope(time, y, rates):
        beta, gamma, xi, delta = rates
        infected = beta * y[3] / (y[3] + HALF_SATURATION) * y[0]
        return jnp.stack([-infected, infected - gamma * y[1], gamma * y[1], xi * y[1] - delta * y[3]])

    y = ode.solve(slope, y0, 0.0, t, (beta, gamma, xi, delta), rtol=1e-6, atol=1e-6)
    susceptible = jnp.concatenate([y0[:1], y[:, 0]])
    ac.sample("stoi_hat", dist.Poisson(susceptible[:-1] - susceptible[1:]), obs=stoi_hat)
    ac.sample("B_hat", dist.LogNormal(jnp.log(y[:, 3]), 0.15), obs=B_hat)


@ac.model
def soil_incubation(totalC_t0, t0, ts, eCO2mean):
    """Carbon that soil gives off, from two pools that feed each other; `ts`, `eCO2mean`: shape (n,)."""
    k1 = ac.sample("k1", dist.HalfNormal(1))
    k2 = ac.sample("k2", dist.HalfNormal(1))
    alpha21 = ac.sample("alpha21", dist.HalfNormal(1))
    alpha12 = ac.sample("alpha12", dist.HalfNormal(1))
    gamma = ac.sample("gamma", dist.Beta(10, 1))
    sigma = ac.sample("sigma", dist.HalfCauchy(1))

    def slope(time, C, rates):
        k1, k2, alpha21, alpha12 = rates
        return jnp.stack([-k1 * C[0] + alpha12 * k2 * C[1], -k2 * C[1] + alpha21 * k1 * C[0]])

    start = totalC_t0 * jnp.stack([gamma, 1 - gamma])
    C = ode.solve(slope, start, t0, ts, (k1, k2, alpha21, alpha12), rtol=1e-6, atol=1e-6)
    eCO2_hat = ac.deterministic("eCO2_hat", totalC_t0 - C.sum(axis=1))
    ac.sample("eCO2mean", dist.Normal(eCO2_hat, sigma), obs=eCO2mean)


ENTRIES: dict[str, Entry] = {
    "sir": Entry(sir, take("t", "y0", "stoi_hat", "B_hat")),
    "soil_incubation": Entry(soil_incubation, take("totalC_t0", "t0", "ts", "eCO2mean")),
}
