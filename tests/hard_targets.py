"""Targets that are hard to explore, of which the evidence is known: narrow peaks, thin shells and many modes."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist

TWO_MODES, EGGBOX = -3.347460346, 235.855940332
SHELLS = {2: -1.745641872, 5: -5.673601236, 10: -14.590491074}
"""Log evidences: of `shells`, by dimension; of `peak`, it is minus the dimension times log 2."""


@ac.model
def two_modes():
    """A prior that covers two narrow modes of unequal weight."""
    x = ac.sample("x", dist.Normal(0.0, 10.0).expand((1,)).to_event(1))
    left, right = (dist.Normal(place, 0.5).log_prob(x[0]) for place in (-5.0, 5.0))
    ac.factor("f", jnp.logaddexp(jnp.log(0.2) + left, jnp.log(0.8) + right))


@ac.model
def peak(dim):
    """A normal of width 0.1 in a cube of side 2."""
    x = ac.sample("x", dist.Uniform(-1.0, 1.0).expand((dim,)).to_event(1))
    ac.factor("f", jnp.sum(dist.Normal(0.0, 0.1).log_prob(x)))


@ac.model
def shells(dim):
    """Two thin shells of radius 2, far apart (Feroz, Hobson & Bridges 2009, MNRAS 398(4), section 6.2)."""
    x = ac.sample("x", dist.Uniform(-6.0, 6.0).expand((dim,)).to_event(1))

    def shell(place):
        distance = jnp.sqrt(jnp.sum((x - jnp.zeros(dim).at[0].set(place)) ** 2))
        return dist.Normal(2.0, 0.1).log_prob(distance)

    ac.factor("f", jnp.logaddexp(shell(-3.5), shell(3.5)))


@ac.model
def eggbox():
    """Eighteen modes in a square (Feroz, Hobson & Bridges 2009, section 6.1)."""
    x = ac.sample("x", dist.Uniform(0.0, 10 * np.pi).expand((2,)).to_event(1))
    ac.factor("f", (2 + jnp.prod(jnp.cos(x / 2))) ** 5)
