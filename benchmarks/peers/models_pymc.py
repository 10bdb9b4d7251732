"""The models in PyMC; nutpie compiles them too. Each function builds and returns a `pm.Model`.

Two models are missing, since PyMC has no solver for differential equations that gives exact gradients at their speed.
"""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

# By name, like those below.
from large_pymc import hierarchical_logistic, horseshoe, item_response, stochastic_volatility  # noqa: F401


def eight_schools(sigma, y):
    """Non-centred hierarchical normal model."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=len(sigma))
        theta = pm.Deterministic("theta", mu + tau * z)
        pm.Normal("y", theta, sigma, observed=y)
    return model


def kidscore_interaction(kid_score, mom_hs, mom_iq):
    """Linear regression on two columns and their product."""
    with pm.Model() as model:
        beta = pm.Flat("beta", shape=4)
        sigma = pm.HalfCauchy("sigma", 2.5)
        mean = beta[0] + beta[1] * mom_hs + beta[2] * mom_iq + beta[3] * mom_hs * mom_iq
        pm.Normal("kid_score", mean, sigma, observed=kid_score)
    return model


def logearn_interaction(earn, height, male):
    """Linear regression of a logarithm, with flat priors."""
    with pm.Model() as model:
        beta = pm.Flat("beta", shape=4)
        sigma = pm.HalfFlat("sigma")
        mean = beta[0] + beta[1] * height + beta[2] * male + beta[3] * height * male
        pm.Normal("log_earn", mean, sigma, observed=np.log(earn))
    return model


def nes(partyid7, real_ideo, race_adj, age_discrete, educ1, gender, income):
    """Linear regression with three indicators of age, with flat priors."""
    ages = [age_discrete == group for group in (2, 3, 4)]
    X = np.stack([np.ones(len(partyid7)), real_ideo, race_adj, *ages, educ1, gender, income], axis=1)
    with pm.Model() as model:
        beta = pm.Flat("beta", shape=9)
        sigma = pm.HalfFlat("sigma")
        pm.Normal("partyid7", X @ beta, sigma, observed=partyid7)
    return model


def garch11(y, sigma1):
    """GARCH(1,1) with flat priors where it is stationary."""
    first = pt.constant(np.square(sigma1), dtype="float64")
    with pm.Model() as model:
        mu = pm.Flat("mu")
        alpha0 = pm.HalfFlat("alpha0")
        alpha1 = pm.Uniform("alpha1", 0, 1)
        beta1 = pm.Uniform("beta1", 0, 1 - alpha1)
        pm.Potential("flat", pt.log(1 - alpha1))  # `Uniform` divides by its length

        def step(shock, variance, alpha0, alpha1, beta1):
            return alpha0 + alpha1 * shock**2 + beta1 * variance

        later = pytensor.scan(
            step,
            sequences=[y[:-1] - mu],
            outputs_info=[first],
            non_sequences=[alpha0, alpha1, beta1],
            return_updates=False,
        )
        variance = pt.concatenate([first[None], later])
        pm.Normal("y", mu, pt.sqrt(variance), observed=y)
    return model


def arK(y, K):  # noqa: N802 - its name in posteriordb
    """Autoregression of order K."""
    lagged = np.stack([y[K - lag : len(y) - lag] for lag in range(1, K + 1)], axis=1)
    with pm.Model() as model:
        alpha = pm.Normal("alpha", 0, 10)
        beta = pm.Normal("beta", 0, 10, shape=K)
        sigma = pm.HalfCauchy("sigma", 2.5)
        pm.Normal("y", alpha + lagged @ beta, sigma, observed=y[K:])
    return model


def blr(X, y):
    """Linear regression with normal priors."""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 10, shape=X.shape[1])
        sigma = pm.HalfNormal("sigma", 10)
        pm.Normal("y", X @ beta, sigma, observed=y)
    return model


def low_dim_gauss_mix(y):
    """Mixture of two normals with ordered means."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1, 1])
        sigma = pm.HalfNormal("sigma", 2, shape=2)
        theta = pm.Beta("theta", 5, 5)
        pm.NormalMixture("y", w=pt.stack([theta, 1 - theta]), mu=mu, sigma=sigma, observed=y)
    return model


def diamonds(X, Y):
    """Linear regression on 24 centred columns."""
    centred = X[:, 1:] - X[:, 1:].mean(axis=0)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, shape=centred.shape[1])
        intercept = pm.StudentT("Intercept", nu=3, mu=8, sigma=10)
        sigma = pm.HalfStudentT("sigma", nu=3, sigma=10)
        pm.Normal("Y", intercept + centred @ b, sigma, observed=Y)
    return model


def logmesquite(weight, diam1, diam2, canopy_height, total_height, density, group):
    """Linear regression of a logarithm on logarithms, with flat priors."""
    sizes = [np.log(size) for size in (diam1, diam2, canopy_height, total_height, density)]
    X = np.stack([np.ones(len(weight)), *sizes, group], axis=1)
    with pm.Model() as model:
        beta = pm.Flat("beta", shape=7)
        sigma = pm.HalfFlat("sigma")
        pm.Normal("log_weight", X @ beta, sigma, observed=np.log(weight))
    return model


def gp_regr(x, y):
    """Gaussian process regression."""
    with pm.Model() as model:
        rho = pm.Gamma("rho", 25, 4)
        alpha = pm.HalfNormal("alpha", 2)
        sigma = pm.HalfNormal("sigma", 1)
        covariance = _covariance(x, rho, alpha) + sigma * np.eye(len(x))
        pm.MvNormal("y", np.zeros(len(x)), cov=covariance, observed=y)
    return model


def gp_pois_regr(x, k):
    """Counts whose log rate is a Gaussian process, in its standardised form."""
    with pm.Model() as model:
        rho = pm.Gamma("rho", 25, 4)
        alpha = pm.HalfNormal("alpha", 2)
        f_tilde = pm.Normal("f_tilde", 0, 1, shape=len(x))
        root = pt.linalg.cholesky(_covariance(x, rho, alpha) + 1e-10 * np.eye(len(x)))
        f = pm.Deterministic("f", root @ f_tilde)
        pm.Poisson("k", pt.exp(f), observed=k)
    return model


def _covariance(x, rho, alpha):
    return alpha**2 * pt.exp(-0.5 * ((x[:, None] - x) / rho) ** 2)


def kilpisjarvi(x, y, pmualpha, psalpha, pmubeta, psbeta):
    """A straight line over years that are not centred."""
    with pm.Model() as model:
        alpha = pm.Normal("alpha", pmualpha, psalpha)
        beta = pm.Normal("beta", pmubeta, psbeta)
        sigma = pm.HalfFlat("sigma")
        pm.Normal("y", alpha + beta * x, sigma, observed=y)
    return model


def hmm_example(y):
    """Hidden Markov model of two states, by the forward algorithm."""
    with pm.Model() as model:
        theta1 = pm.Dirichlet("theta1", np.ones(2))
        theta2 = pm.Dirichlet("theta2", np.ones(2))
        # The order comes after the map that keeps a truncated normal positive: that of the logarithms.
        ordered = pm.distributions.transforms.ordered
        mu = pm.TruncatedNormal(
            "mu", np.array([3.0, 10.0]), 1, lower=0, shape=2, transform=ordered, initval=[3, 10]
        )
        log_transition = pt.log(pt.stack([theta1, theta2]))
        log_emissions = pm.logp(pm.Normal.dist(mu, 1), y[:, None])

        def step(log_emission, log_weight, log_transition):
            return _log_sum_exp(log_weight[:, None] + log_transition) + log_emission

        log_weights = pytensor.scan(
            step,
            sequences=[log_emissions[1:]],
            outputs_info=[log_emissions[0]],
            non_sequences=[log_transition],
            return_updates=False,
        )
        pm.Potential("y", _log_sum_exp(log_weights[-1]))
    return model


def _log_sum_exp(x):
    """Over the first axis. PyTensor's own is stable only once it is rewritten, which it is not inside of a scan."""
    largest = x.max(axis=0)
    return largest + pt.log(pt.exp(x - largest).sum(axis=0))


def arma11(y):
    """ARMA(1,1); the error before the series began is zero."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 10)
        phi = pm.Normal("phi", 0, 2)
        theta = pm.Normal("theta", 0, 2)
        sigma = pm.HalfCauchy("sigma", 2.5)

        def step(now, before, error, mu, phi, theta):
            return now - mu - phi * before - theta * error

        first = y[0] - mu - phi * mu
        later = pytensor.scan(
            step,
            sequences=[pt.as_tensor(y[1:]), pt.as_tensor(y[:-1])],
            outputs_info=[first],
            non_sequences=[mu, phi, theta],
            return_updates=False,
        )
        errors = pt.concatenate([first[None], later])
        pm.Potential("y", pm.logp(pm.Normal.dist(0, sigma), errors).sum())
    return model
