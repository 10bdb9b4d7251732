"""The models in NumPyro; BlackJAX and nutpie use their densities too."""

import diffrax
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.distributions import constraints

# By name, like those below.
from large_numpyro import (  # noqa: F401
    hierarchical_logistic,
    horseshoe,
    item_response,
    logistic,
    stochastic_volatility,
)


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


def logmesquite(weight, diam1, diam2, canopy_height, total_height, density, group):
    """Linear regression of a logarithm on logarithms, with flat priors."""
    beta = numpyro.sample("beta", dist.ImproperUniform(constraints.real, (7,), ()))
    sigma = numpyro.sample("sigma", dist.ImproperUniform(constraints.positive, (), ()))
    sizes = jnp.stack([diam1, diam2, canopy_height, total_height, density], axis=1)
    mean = beta[0] + jnp.log(sizes) @ beta[1:6] + beta[6] * group
    numpyro.sample("log_weight", dist.Normal(mean, sigma), obs=jnp.log(weight))


def gp_regr(x, y):
    """Gaussian process regression."""
    rho = numpyro.sample("rho", dist.Gamma(25, 4))
    alpha = numpyro.sample("alpha", dist.HalfNormal(2))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1))
    covariance = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + sigma * jnp.eye(len(x))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance), obs=y)


def gp_pois_regr(x, k):
    """Counts whose log rate is a Gaussian process, in its standardised form."""
    rho = numpyro.sample("rho", dist.Gamma(25, 4))
    alpha = numpyro.sample("alpha", dist.HalfNormal(2))
    covariance = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + 1e-10 * jnp.eye(len(x))
    with numpyro.plate("point", len(x)):
        f_tilde = numpyro.sample("f_tilde", dist.Normal(0, 1))
        f = numpyro.deterministic("f", jnp.linalg.cholesky(covariance) @ f_tilde)
        numpyro.sample("k", dist.Poisson(jnp.exp(f)), obs=k)


def kilpisjarvi(x, y, pmualpha, psalpha, pmubeta, psbeta):
    """A straight line over years that are not centred."""
    alpha = numpyro.sample("alpha", dist.Normal(pmualpha, psalpha))
    beta = numpyro.sample("beta", dist.Normal(pmubeta, psbeta))
    sigma = numpyro.sample("sigma", dist.ImproperUniform(constraints.positive, (), ()))
    numpyro.sample("y", dist.Normal(alpha + beta * x, sigma), obs=y)


def hmm_example(y):
    """Hidden Markov model of two states, by the forward algorithm."""
    theta1 = numpyro.sample("theta1", dist.Dirichlet(jnp.ones(2)))
    theta2 = numpyro.sample("theta2", dist.Dirichlet(jnp.ones(2)))
    mu = numpyro.sample("mu", dist.ImproperUniform(constraints.positive_ordered_vector, (), (2,)))
    numpyro.factor("mu_prior", dist.Normal(jnp.array([3.0, 10.0]), 1).log_prob(mu).sum())
    log_transition = jnp.log(jnp.stack([theta1, theta2]))

    def step(log_weight, log_emission):
        return jax.nn.logsumexp(log_weight[:, None] + log_transition, axis=0) + log_emission, None

    log_emissions = dist.Normal(mu, 1).log_prob(y[:, None])
    log_weight, _ = jax.lax.scan(step, log_emissions[0], log_emissions[1:])
    numpyro.factor("y", jax.nn.logsumexp(log_weight))


def arma11(y):
    """ARMA(1,1); the error before the series began is zero."""
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    phi = numpyro.sample("phi", dist.Normal(0, 2))
    theta = numpyro.sample("theta", dist.Normal(0, 2))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))

    def step(error, values):
        before, now = values
        predicted = mu + phi * before + theta * error
        return now - predicted, predicted

    _, predicted = jax.lax.scan(step, jnp.zeros_like(mu), (jnp.concatenate([mu[None], y[:-1]]), y))
    numpyro.sample("y", dist.Normal(predicted, sigma), obs=y)


def lotka_volterra(ts, y_init, y):
    """Hares and lynxes, with the solver and the tolerances of accord's example."""
    loc, scale = jnp.array([1.0, 0.05, 1.0, 0.05]), jnp.array([0.5, 0.05, 0.5, 0.05])
    with numpyro.plate("rate", 4):
        theta = numpyro.sample("theta", dist.TruncatedNormal(loc, scale, low=0.0))
    with numpyro.plate("species", 2):
        z_init = numpyro.sample("z_init", dist.LogNormal(jnp.log(10.0), 1.0))
        sigma = numpyro.sample("sigma", dist.LogNormal(-1.0, 1.0))
        numpyro.sample("y_init", dist.LogNormal(jnp.log(z_init), sigma), obs=y_init)

    def slope(t, log_z, theta):
        hare, lynx = jnp.exp(log_z)
        return jnp.stack([theta[0] - theta[1] * lynx, -theta[2] + theta[3] * hare])

    solution = _solve(slope, 0.0, ts, jnp.log(z_init), theta, 1e-6, 1e-6)
    numpyro.sample("y", dist.LogNormal(solution, sigma), obs=y)


def one_comp_mm_elim_abs(t0, D, V, times, C_hat):
    """A drug in one compartment, with the solver and the tolerances of accord's example."""
    k_a = numpyro.sample("k_a", dist.HalfCauchy(1))
    K_m = numpyro.sample("K_m", dist.HalfCauchy(1))
    V_m = numpyro.sample("V_m", dist.HalfCauchy(1))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(1))

    def slope(t, C, parameters):
        k_a, K_m, V_m = parameters
        dose = jnp.where(t > 0, jnp.exp(-k_a * t) * D * k_a / V, 0.0)
        return dose - V_m / V * C / (K_m + C)

    concentration = _solve(slope, t0, times, jnp.zeros(()), (k_a, K_m, V_m), 1e-7, 1e-9)
    numpyro.sample("C_hat", dist.LogNormal(jnp.log(concentration), sigma), obs=C_hat)


def _solve(slope, start, times, first, parameters, rtol, atol):
    """The solution at `times`; not finite where the solver gives up."""
    return diffrax.diffeqsolve(
        diffrax.ODETerm(slope),
        diffrax.Tsit5(),
        t0=start,
        t1=times[-1],
        dt0=None,
        y0=first,
        args=parameters,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
        max_steps=500,
        throw=False,
    ).ys
