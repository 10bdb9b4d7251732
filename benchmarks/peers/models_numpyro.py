"""The nine models in NumPyro; BlackJAX and nutpie use their densities too."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.distributions import constraints


def eight_schools(sigma, y=None):
    """Non-centred hierarchical normal model."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("school", sigma.shape[0]):
        z = numpyro.sample("z", dist.Normal(0, 1))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def kidscore_interaction(kid_score, mom_hs, mom_iq):
    """Linear regression on two columns and their product."""
    beta = numpyro.sample("beta", dist.ImproperUniform(constraints.real, (4,), ()))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))
    mean = beta[0] + beta[1] * mom_hs + beta[2] * mom_iq + beta[3] * mom_hs * mom_iq
    numpyro.sample("kid_score", dist.Normal(mean, sigma), obs=kid_score)


def logearn_interaction(earn, height, male):
    """Linear regression of a logarithm, with flat priors."""
    beta = numpyro.sample("beta", dist.ImproperUniform(constraints.real, (4,), ()))
    sigma = numpyro.sample("sigma", dist.ImproperUniform(constraints.positive, (), ()))
    mean = beta[0] + beta[1] * height + beta[2] * male + beta[3] * height * male
    numpyro.sample("log_earn", dist.Normal(mean, sigma), obs=jnp.log(earn))


def nes(partyid7, real_ideo, race_adj, age_discrete, educ1, gender, income):
    """Linear regression with three indicators of age, with flat priors."""
    beta = numpyro.sample("beta", dist.ImproperUniform(constraints.real, (9,), ()))
    sigma = numpyro.sample("sigma", dist.ImproperUniform(constraints.positive, (), ()))
    mean = (
        beta[0]
        + beta[1] * real_ideo
        + beta[2] * race_adj
        + beta[3] * (age_discrete == 2)
        + beta[4] * (age_discrete == 3)
        + beta[5] * (age_discrete == 4)
        + beta[6] * educ1
        + beta[7] * gender
        + beta[8] * income
    )
    numpyro.sample("partyid7", dist.Normal(mean, sigma), obs=partyid7)


def garch11(y, sigma1):
    """GARCH(1,1) with flat priors where it is stationary."""
    mu = numpyro.sample("mu", dist.ImproperUniform(constraints.real, (), ()))
    alpha0 = numpyro.sample("alpha0", dist.ImproperUniform(constraints.positive, (), ()))
    alpha1 = numpyro.sample("alpha1", dist.Uniform(0, 1))
    # NumPyro freezes the bounds of an improper prior at its first trace; those of `Uniform` it follows. The factor
    # takes back the uniform's density, which the model does not have.
    beta1 = numpyro.sample("beta1", dist.Uniform(0, 1 - alpha1))
    numpyro.factor("flat", jnp.log1p(-alpha1))

    def step(variance, shock):
        variance = alpha0 + alpha1 * shock**2 + beta1 * variance
        return variance, variance

    first = jnp.asarray(sigma1) ** 2
    _, later = jax.lax.scan(step, first, y[:-1] - mu)
    variance = jnp.concatenate([first[None], later])
    numpyro.sample("y", dist.Normal(mu, jnp.sqrt(variance)), obs=y)


def arK(y, K):  # noqa: N802 - its name in posteriordb
    """Autoregression of order K."""
    alpha = numpyro.sample("alpha", dist.Normal(0, 10))
    with numpyro.plate("lag", K):
        beta = numpyro.sample("beta", dist.Normal(0, 10))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))
    lagged = jnp.stack([y[K - lag : len(y) - lag] for lag in range(1, K + 1)], axis=1)
    numpyro.sample("y", dist.Normal(alpha + lagged @ beta, sigma), obs=y[K:])


def blr(X, y):
    """Linear regression with normal priors."""
    with numpyro.plate("coefficient", X.shape[1]):
        beta = numpyro.sample("beta", dist.Normal(0, 10))
    sigma = numpyro.sample("sigma", dist.HalfNormal(10))
    numpyro.sample("y", dist.Normal(X @ beta, sigma), obs=y)


def low_dim_gauss_mix(y):
    """Mixture of two normals with ordered means."""
    mu = numpyro.sample("mu", dist.ImproperUniform(constraints.ordered_vector, (), (2,)))
    numpyro.factor("mu_prior", dist.Normal(0, 2).log_prob(mu).sum())
    with numpyro.plate("component", 2):
        sigma = numpyro.sample("sigma", dist.HalfNormal(2))
    theta = numpyro.sample("theta", dist.Beta(5, 5))
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with numpyro.plate("point", len(y)):
        numpyro.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, sigma)), obs=y)


def diamonds(X, Y):
    """Linear regression on 24 centred columns."""
    centred = X[:, 1:] - X[:, 1:].mean(axis=0)
    with numpyro.plate("coefficient", centred.shape[1]):
        b = numpyro.sample("b", dist.Normal(0, 1))
    intercept = numpyro.sample("Intercept", dist.StudentT(3, 8, 10))
    sigma = numpyro.sample("sigma", dist.FoldedDistribution(dist.StudentT(3, 0, 10)))
    numpyro.sample("Y", dist.Normal(intercept + centred @ b, sigma), obs=Y)
