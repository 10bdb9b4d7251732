"""Models of rows of which sites are integrated out, rows evaluated in chunks, or shared out over devices."""

import jax
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.density import cut_arguments, sharded
from accord.density.rows.blocks import mesh_of

RNG = np.random.default_rng(5)
Y = RNG.normal(size=37)
SIGMA = np.exp(0.3 * RNG.normal(size=37))


@ac.model
def effects(y, sigma, chunk=None):
    """One site of each row to integrate out, and an unknown of each row that stays."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("row", y.shape[0], chunk=chunk):
        scale = ac.sample("scale", dist.Gamma(3.0, 3.0))
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma * scale), obs=y)
    ac.deterministic("spread", theta.max() - theta.min())


@ac.model
def flat(y, sigma, chunk=None):
    """A site of each row to integrate out whose own density is left out."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    with ac.plate("row", y.shape[0], chunk=chunk):
        with handlers.mask(mask=False):
            theta = ac.sample("theta", dist.Normal(mu, 1.0))
        ac.sample("y", dist.Normal(theta + mu, sigma), obs=y)


@ac.model
def pairs(y, sigma, chunk=None):
    """Two sites of each row that depend on each other, one of which a row may leave without data."""
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("row", y.shape[0], chunk=chunk):
        level = ac.sample("level", dist.Normal(0.0, tau))
        slope = ac.sample("slope", dist.Normal(0.5 * level, 1.0))
        with handlers.mask(mask=sigma > 1):
            ac.sample("y", dist.Normal(level + 2 * slope, sigma), obs=y)
        ac.factor("near", -0.1 * (level - slope) ** 2)


@ac.model
def apart(y, sigma, chunk=None):
    """A site on which no row depends, and one of each row."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    prior = ac.sample("prior", dist.Normal(mu, 2.0))
    ac.sample("guess", dist.Normal(prior, 1.0), obs=1.5)
    with ac.plate("row", y.shape[0], chunk=chunk):
        theta = ac.sample("theta", dist.Normal(mu, 1.0))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def shared_coefficient(y, sigma, chunk=None):
    noise = ac.sample("noise", dist.HalfNormal(1))
    slope = ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("row", y.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal(slope * sigma, noise), obs=y)


@ac.model
def summed(y, sigma, chunk=None):
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("row", y.shape[0], chunk=chunk):
        theta = ac.sample("theta", dist.Normal(0, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)
    ac.factor("sum", -(theta.sum() ** 2))


def density(model, names, chunk=None, rows=37):
    made = model(Y[:rows], SIGMA[:rows], chunk)
    return (handlers.collapse(made, names) if names else made).log_density()


def shared_out(whole):
    return sharded(whole, mesh_of(jax.devices()[:1]), dict(cut_arguments(whole, "row")))
