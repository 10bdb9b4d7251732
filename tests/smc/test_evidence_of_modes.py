"""Hold the evidence of populations against known ones of hard targets: narrow peaks, thin shells and many modes.

Twenty populations tell their spread by 19 degrees of freedom, so that the evidence lies within 11 standard errors but
for a chance of 1e-9, a false alarm, and so do the shares of modes: 8 evidences, and 4 shares.
"""

import conjugate
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer

POPULATIONS, PARTICLES = 20, 2000
ERRORS = 11


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


# Model, kernel, log evidence, and the share of what has its first number above zero, if that is known.
CASES = {
    "F32, two modes": (two_modes, infer.RandomWalk(), -3.347460346, 0.8),
    "F42, precision and mean": (
        lambda: conjugate.normal_gamma(conjugate.Y), infer.NUTS(), conjugate.LOG_EVIDENCE, None,
    ),
    "F54, peak in 2 dimensions": (lambda: peak(2), infer.HMC(), -2 * np.log(2), None),
    "F54, peak in 10 dimensions": (lambda: peak(10), infer.HMC(), -10 * np.log(2), None),
    "F55, shells in 2 dimensions": (lambda: shells(2), infer.NUTS(), -1.745641872, 0.5),
    "F55, shells in 5 dimensions": (lambda: shells(5), infer.HMC(), -5.673601236, 0.5),
    "F55, shells in 10 dimensions": (lambda: shells(10), infer.HMC(), -14.590491074, 0.5),
    "F55, eggbox": (eggbox, infer.HMC(), 235.855940332, None),
}  # fmt: skip


@pytest.mark.slow
@each(CASES)
def test_the_evidence_of_a_hard_target_is_right(case):
    model, kernel, exact, share = case
    options = dict(populations=POPULATIONS, particles=PARTICLES, moves=20, seed=1, quiet=True, progress=False)
    draws = infer.smc(model(), kernel, **options)
    evidence = draws.log_evidence
    # So small an error would show a mode that is missed, or counted twice.
    assert abs(evidence.value - exact) < ERRORS * evidence.standard_error < np.log(2)
    if share is not None:
        weights = np.exp(draws.log_weights[:, 0])
        weights = weights / weights.sum()
        found = (draws.particles["x"][:, :, 0] > 0).mean(axis=1)
        error = np.sqrt(np.sum(weights**2 * (found - weights @ found) ** 2))
        assert abs(weights @ found - share) < ERRORS * error < 0.25
