"""Ten models of PyMC, of the kinds that people write."""

import numpy as np
import pymc as pm

NUMBERS = np.random.default_rng(20)
SCHOOLS = list("ABCDEFGH")
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def hierarchical():
    with pm.Model(coords={"school": SCHOOLS}) as model:
        sigma = pm.Data("sigma", SIGMA, dims="school")
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, dims="school")
        theta = pm.Deterministic("theta", mu + tau * z, dims="school")
        pm.Normal("y", theta, sigma, observed=Y, dims="school")
    return model


def mixture():
    data = np.concatenate([NUMBERS.normal(-2, 1, 40), NUMBERS.normal(2, 0.7, 60)])
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(2))
        means = pm.Normal(
            "means",
            [-1, 1],
            3,
            transform=pm.distributions.transforms.ordered,
            initval=np.array([-1.0, 1.0]),
        )
        scales = pm.HalfNormal("scales", 2, shape=2)
        pm.NormalMixture("y", weights, means, scales, observed=data)
    return model


def censored():
    data = np.minimum(NUMBERS.normal(1, 1, 60), 1.5)
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0, 3), pm.HalfNormal("sigma", 2)
        pm.Censored("y", pm.Normal.dist(mu, sigma), lower=None, upper=1.5, observed=data)
    return model


def gaussian_process():
    x = np.linspace(0, 5, 25)[:, None]
    y = np.sin(x[:, 0]) + NUMBERS.normal(0, 0.2, 25)
    with pm.Model() as model:
        length, height = pm.Gamma("length", 4, 4), pm.HalfNormal("height", 2)
        process = pm.gp.Marginal(cov_func=height**2 * pm.gp.cov.Matern52(1, length))
        process.marginal_likelihood("y", X=x, y=y, sigma=pm.HalfNormal("noise", 1))
    return model


def ordinal():
    x = NUMBERS.normal(size=120)
    y = np.digitize(x + NUMBERS.logistic(size=120), [-1, 0, 1.5])
    with pm.Model() as model:
        slope = pm.Normal("slope", 0, 2)
        cuts = pm.Normal(
            "cuts",
            0,
            3,
            shape=3,
            transform=pm.distributions.transforms.ordered,
            initval=np.array([-1.0, 0.0, 1.0]),
        )
        pm.OrderedLogistic("y", slope * x, cuts, observed=y, compute_p=False)
    return model


def time_series():
    y = np.cumsum(NUMBERS.normal(0, 0.3, 60)) + NUMBERS.normal(0, 0.5, 60)
    with pm.Model(coords={"time": np.arange(60)}) as model:
        step, noise = pm.HalfNormal("step", 1), pm.HalfNormal("noise", 1)
        level = pm.AR(
            "level",
            rho=[0.0, 0.95],
            sigma=step,
            init_dist=pm.Normal.dist(0, 2),
            constant=True,
            dims="time",
        )
        pm.Normal("y", level, noise, observed=y, dims="time")
    return model


def zero_sum():
    group = np.repeat(np.arange(4), 15)
    y = np.array([1.0, -0.5, 0.2, -0.7])[group] + NUMBERS.normal(0, 1, 60)
    with pm.Model(coords={"group": ["a", "b", "c", "d"]}) as model:
        mean, sigma = pm.Normal("mean", 0, 2), pm.HalfNormal("sigma", 2)
        effect = pm.ZeroSumNormal("effect", 1.0, dims="group")
        pm.Normal("y", mean + effect[group], sigma, observed=y)
    return model


def correlated():
    y = NUMBERS.multivariate_normal([0, 1], [[1, 0.6], [0.6, 2]], 50)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 3, shape=2)
        factor, _, _ = pm.LKJCholeskyCov(
            "factor", n=2, eta=2, sd_dist=pm.HalfNormal.dist(2), compute_corr=True
        )
        pm.MvNormal("y", mean, chol=factor, observed=y)
    return model


def with_data():
    x = NUMBERS.normal(size=80)
    with pm.Model(coords={"row": np.arange(80)}) as model:
        column = pm.Data("x", x, dims="row")
        slope, start = pm.Normal("slope", 0, 2), pm.Normal("start", 0, 2)
        pm.Bernoulli("y", logit_p=start + slope * column, observed=(x > 0.3).astype(int), dims="row")
    return model


def minibatch():
    y = NUMBERS.normal(size=1000)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2)
        pm.Normal("y", mu, 1, observed=pm.Minibatch(y, batch_size=50), total_size=1000)
    return model


MODELS = {
    "hierarchical": hierarchical,
    "mixture": mixture,
    "censored": censored,
    "gaussian process": gaussian_process,
    "ordinal": ordinal,
    "time series": time_series,
    "zero sum": zero_sum,
    "correlated": correlated,
    "with data": with_data,
}
"""Those that can be sampled; `minibatch` is refused."""
