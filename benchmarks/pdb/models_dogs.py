"""Learn how dogs learn to avoid shocks (posteriordb, Gelman & Hill, 2007, section 24.2).

`y`: 1 where a dog got a shock, else 0, by dog and trial; shape (dogs, trials).
"""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take


def earlier(happened):
    """Count how often it happened in the trials before each one."""
    return jnp.cumsum(happened, axis=1) - happened


@ac.model
def dogs(y):
    """Log odds that are linear in the numbers of earlier avoidances and shocks."""
    with ac.plate("coefficient", 3):
        beta = ac.sample("beta", dist.Normal(0, 100))
    logits = beta[0] + beta[1] * earlier(1 - y) + beta[2] * earlier(y)
    ac.sample("y", dist.Bernoulli(logits=logits), obs=y)


@ac.model
def dogs_log(y):
    """Log odds without an intercept, which fall with each avoidance and rise with each shock."""
    with ac.plate("coefficient", 2):
        beta = ac.sample("beta", dist.Uniform(jnp.array([-100.0, 0.0]), jnp.array([0.0, 100.0])))
    # Stan's program computes the probabilities first, which round to 0 in most of the support of the prior.
    ac.sample("y", dist.Bernoulli(logits=beta[0] * earlier(1 - y) + beta[1] * earlier(y)), obs=y)


@ac.model
def dogs_hierarchical(y):
    """Each shock multiplies the probability of the next by `a`, each avoidance by `b`."""
    a = ac.sample("a", dist.Uniform(0, 1))
    b = ac.sample("b", dist.Uniform(0, 1))
    ac.sample("y", dist.Bernoulli(probs=a ** earlier(y) * b ** earlier(1 - y)), obs=y)


@ac.model
def dogs_nonhierarchical(y):
    """The same, where every dog has its own `a` and `b`, correlated on the scale of log odds."""
    with ac.plate("effect", 2):
        mu_logit_ab = ac.sample("mu_logit_ab", dist.Logistic(0, 1))
        sigma_logit_ab = ac.sample("sigma_logit_ab", dist.HalfNormal(1))
    L_logit_ab = ac.sample("L_logit_ab", dist.LKJCholesky(2, 2.0))
    with ac.plate("dog", y.shape[0], dim=-2), ac.plate("effect_of_dog", 2, dim=-1):
        z = ac.sample("z", dist.Normal(0, 1))
    # The factor is not transposed, as in the program.
    logit_ab = mu_logit_ab + z @ (sigma_logit_ab[:, None] * L_logit_ab)
    a, b = jax.nn.sigmoid(logit_ab[:, :1]), jax.nn.sigmoid(logit_ab[:, 1:])
    ac.sample("y", dist.Bernoulli(probs=a ** earlier(y) * b ** earlier(1 - y)), obs=y)


ENTRIES = {
    "dogs": Entry(dogs, take("y")),
    "dogs_log": Entry(dogs_log, take("y")),
    "dogs_hierarchical": Entry(dogs_hierarchical, take("y")),
    "dogs_nonhierarchical": Entry(dogs_nonhierarchical, take("y")),
}
