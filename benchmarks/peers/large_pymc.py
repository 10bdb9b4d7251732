"""The large models in PyMC; `../simulated.py` makes their data."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt


def hierarchical_logistic(X, group, y):
    """Logistic regression whose intercept varies between 200 groups, centred."""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 1, shape=X.shape[1])
        mu = pm.Normal("mu", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        alpha = pm.Normal("alpha", mu, tau, shape=200)
        pm.Bernoulli("y", logit_p=alpha[group] + X @ beta, observed=y)
    return model


def horseshoe(X, y):
    """Linear regression under the regularised horseshoe, non-centred."""
    n, d = X.shape
    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0, 5)
        sigma = pm.HalfNormal("sigma", 2)
        tau = pm.HalfCauchy("tau", 1)
        slab = pm.InverseGamma("slab", 2, 8)
        local = pm.HalfCauchy("local", 1, shape=d)
        z = pm.Normal("z", 0, 1, shape=d)
        scale = tau * 10 / (d - 10) * sigma / np.sqrt(n)
        beta = pm.Deterministic("beta", z * scale * pt.sqrt(slab * local**2 / (slab + scale**2 * local**2)))
        pm.Normal("y", intercept + X @ beta, sigma, observed=y)
    return model


def stochastic_volatility(y):
    """Log variance as an autoregression, by its standardised shocks."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        phi = pm.Uniform("phi", -1, 1)
        sigma = pm.HalfNormal("sigma", 1)
        z = pm.Normal("z", 0, 1, shape=len(y))
        first = sigma * z[0] / pt.sqrt(1 - phi**2)
        later = pytensor.scan(
            lambda shock, deviation, phi, sigma: phi * deviation + sigma * shock,
            sequences=[z[1:]],
            outputs_info=[first],
            non_sequences=[phi, sigma],
            return_updates=False,
        )
        log_variance = mu + pt.concatenate([first[None], later])
        pm.Normal("y", 0, pt.exp(log_variance / 2), observed=y)
    return model


def item_response(y):
    """The two-parameter logistic model."""
    with pm.Model() as model:
        ability = pm.Normal("ability", 0, 1, shape=y.shape[0])
        discrimination = pm.LogNormal("discrimination", 0, 0.5, shape=y.shape[1])
        difficulty = pm.Normal("difficulty", 0, 2, shape=y.shape[1])
        pm.Bernoulli("y", logit_p=discrimination * (ability[:, None] - difficulty), observed=y)
    return model
