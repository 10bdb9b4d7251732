"""Compare the log density of every example with one written anew in NumPy and SciPy.

The examples' densities are over unconstrained numbers: each formula below adds the logarithm of the Jacobian of the map
to the model's own parameters. Differences between points are compared, since constants do not matter.
"""

import jax
import numpy as np
import pytest
from posteriors import REFERENCES, data_of, model_of, reference_mean
from scipy import integrate, stats
from scipy.special import logsumexp

from accord.core import precision

NUM_POINTS = 5


def normal(x, loc, scale):
    return stats.norm(loc, scale).logpdf(x).sum()


def half_cauchy(x, scale):
    return stats.halfcauchy(0, scale).logpdf(x).sum()


def half_normal(x, scale):
    return stats.halfnorm(0, scale).logpdf(x).sum()


def regression(outcome, columns, scale_prior=lambda sigma: 0.0):
    """Flat coefficients, a prior on sigma, and the Jacobian of log sigma."""

    def log_density(v, d):
        mean = np.stack(columns(d), axis=1) @ v["beta"]
        return normal(outcome(d), mean, v["sigma"]) + scale_prior(v["sigma"]) + np.log(v["sigma"])

    return log_density


def eight_schools(v, d):
    prior = normal(v["mu"], 0, 5) + half_cauchy(v["tau"], 5) + normal(v["z"], 0, 1)
    return prior + normal(d["y"], v["mu"] + v["tau"] * v["z"], d["sigma"]) + np.log(v["tau"])


def garch11(v, d):
    y, variance, log_density = d["y"], d["sigma1"] ** 2, 0.0
    for t in range(len(y)):
        if t > 0:
            variance = v["alpha0"] + v["alpha1"] * (y[t - 1] - v["mu"]) ** 2 + v["beta1"] * variance
        log_density += normal(y[t], v["mu"], np.sqrt(variance))
    room = 1 - v["alpha1"]
    jacobian = (
        np.log(v["alpha0"]) + np.log(v["alpha1"] * room) + np.log(v["beta1"] * (room - v["beta1"]) / room)
    )
    return log_density + jacobian


def arma11(v, d):
    y, mu, phi, theta, sigma = d["y"], v["mu"], v["phi"], v["theta"], v["sigma"]
    errors = [y[0] - (mu + phi * mu)]
    for t in range(1, len(y)):
        errors.append(y[t] - (mu + phi * y[t - 1] + theta * errors[-1]))
    prior = normal(mu, 0, 10) + normal([phi, theta], 0, 2) + half_cauchy(sigma, 2.5)
    return prior + normal(errors, 0, sigma) + np.log(sigma)


def arK(v, d):
    y, K = d["y"], d["K"]
    log_density = normal(v["alpha"], 0, 10) + normal(v["beta"], 0, 10) + half_cauchy(v["sigma"], 2.5)
    for t in range(K, len(y)):
        log_density += normal(y[t], v["alpha"] + v["beta"] @ y[t - K : t][::-1], v["sigma"])
    return log_density + np.log(v["sigma"])


def lotka_volterra(v, d):
    a, b, c, e = v["theta"]
    path = integrate.solve_ivp(
        lambda t, z: [(a - b * z[1]) * z[0], (-c + e * z[0]) * z[1]],
        (0, d["ts"][-1]),
        v["z_init"],
        "DOP853",
        d["ts"],
        rtol=1e-10,
        atol=1e-10,
    )
    prior = normal(v["theta"], [1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05])
    prior += log_normal(v["sigma"], -1, 1) + log_normal(v["z_init"], np.log(10), 1)
    likelihood = log_normal(d["y_init"], np.log(v["z_init"]), v["sigma"])
    likelihood += log_normal(d["y"], np.log(path.y.T), v["sigma"])
    return prior + likelihood + sum(np.log(v[name]).sum() for name in v)


def log_normal(x, loc, scale):
    return stats.lognorm(scale, 0, np.exp(loc)).logpdf(x).sum()


def covariance(v, x):
    return v["alpha"] ** 2 * np.exp(-((x[:, None] - x) ** 2) / (2 * v["rho"] ** 2))


def length_scale_and_height(v):
    prior = stats.gamma(25, scale=1 / 4).logpdf(v["rho"]) + half_normal(v["alpha"], 2)
    return prior + np.log(v["rho"]) + np.log(v["alpha"])


def gp_regr(v, d):
    matrix = covariance(v, d["x"]) + v["sigma"] * np.eye(len(d["x"]))
    likelihood = stats.multivariate_normal(np.zeros(len(d["x"])), matrix).logpdf(d["y"])
    return likelihood + length_scale_and_height(v) + half_normal(v["sigma"], 1) + np.log(v["sigma"])


def gp_pois_regr(v, d):
    f = np.linalg.cholesky(covariance(v, d["x"]) + 1e-10 * np.eye(len(d["x"]))) @ v["f_tilde"]
    likelihood = stats.poisson(np.exp(f)).logpmf(d["k"]).sum()
    return likelihood + length_scale_and_height(v) + normal(v["f_tilde"], 0, 1)


def low_dim_gauss_mix(v, d):
    theta, mu, sigma = v["theta"], v["mu"], v["sigma"]
    parts = [
        theta * stats.norm(mu[0], sigma[0]).pdf(d["y"]),
        (1 - theta) * stats.norm(mu[1], sigma[1]).pdf(d["y"]),
    ]
    prior = normal(mu, 0, 2) + half_normal(sigma, 2) + stats.beta(5, 5).logpdf(theta)
    jacobian = np.log(mu[1] - mu[0]) + np.log(sigma).sum() + np.log(theta * (1 - theta))
    return prior + np.log(sum(parts)).sum() + jacobian


def hmm_example(v, d):
    mu = v["mu"]
    transition = np.log([v["theta1"], v["theta2"]])
    weight = stats.norm(mu, 1).logpdf(d["y"][0])
    for y in d["y"][1:]:
        moved = [logsumexp([weight[j] + transition[j, k] for j in range(2)]) for k in range(2)]
        weight = np.array(moved) + stats.norm(mu, 1).logpdf(y)
    jacobian = np.log(mu[0]) + np.log(mu[1] - mu[0]) + transition.sum()
    return logsumexp(weight) + normal(mu, [3, 10], 1) + jacobian


def blr(v, d):
    prior = normal(v["beta"], 0, 10) + half_normal(v["sigma"], 10)
    return prior + normal(d["y"], d["X"] @ v["beta"], v["sigma"]) + np.log(v["sigma"])


def diamonds(v, d):
    centred = d["X"][:, 1:] - d["X"][:, 1:].mean(axis=0)
    prior = (
        normal(v["b"], 0, 1) + stats.t(3, 8, 10).logpdf(v["Intercept"]) + stats.t(3, 0, 10).logpdf(v["sigma"])
    )
    return prior + normal(d["Y"], v["Intercept"] + centred @ v["b"], v["sigma"]) + np.log(v["sigma"])


def kilpisjarvi(v, d):
    prior = normal(v["alpha"], d["pmualpha"], d["psalpha"]) + normal(v["beta"], d["pmubeta"], d["psbeta"])
    return prior + normal(d["y"], v["alpha"] + v["beta"] * d["x"], v["sigma"]) + np.log(v["sigma"])


def one_comp_mm_elim_abs(v, d):
    def slope(t, C):
        dose = np.exp(-v["k_a"] * t) * d["D"] * v["k_a"] / d["V"] if t > 0 else 0.0
        return dose - v["V_m"] / d["V"] * C / (v["K_m"] + C)

    path = integrate.solve_ivp(
        slope, (d["t0"], d["times"][-1]), [0.0], "LSODA", d["times"], rtol=1e-10, atol=1e-10
    )
    likelihood = log_normal(d["C_hat"], np.log(path.y[0]), v["sigma"])
    return likelihood + sum(half_cauchy(v[name], 1) + np.log(v[name]) for name in v)


def ones(column):
    return np.ones(len(column))


DENSITIES = {
    "eight_schools": eight_schools,
    "logearn_interaction": regression(
        lambda d: np.log(d["earn"]),
        lambda d: [ones(d["earn"]), d["height"], d["male"], d["height"] * d["male"]],
    ),
    "kidscore_interaction": regression(
        lambda d: d["kid_score"],
        lambda d: [ones(d["mom_hs"]), d["mom_hs"], d["mom_iq"], d["mom_hs"] * d["mom_iq"]],
        lambda sigma: half_cauchy(sigma, 2.5),
    ),
    "nes": regression(
        lambda d: d["partyid7"],
        lambda d: [
            *(ones(d["income"]), d["real_ideo"], d["race_adj"]),
            *(np.where(d["age_discrete"] == group, 1.0, 0.0) for group in (2, 3, 4)),
            *(d["educ1"], d["gender"], d["income"]),
        ],
    ),
    "logmesquite": regression(
        lambda d: np.log(d["weight"]),
        lambda d: [
            ones(d["weight"]),
            *(np.log(d[name]) for name in ("diam1", "diam2", "canopy_height", "total_height", "density")),
            d["group"],
        ],
    ),
    "garch11": garch11,
    "arma11": arma11,
    "arK": arK,
    "lotka_volterra": lotka_volterra,
    "gp_regr": gp_regr,
    "gp_pois_regr": gp_pois_regr,
    "low_dim_gauss_mix": low_dim_gauss_mix,
    "hmm_example": hmm_example,
    "blr": blr,
    "diamonds": diamonds,
    "kilpisjarvi": kilpisjarvi,
    "one_comp_mm_elim_abs": one_comp_mm_elim_abs,
}
# Solvers of differential equations agree to their tolerances, and a covariance of condition 1e10 leaves six digits.
TOLERANCES = {"lotka_volterra": 1e-3, "one_comp_mm_elim_abs": 1e-3, "gp_pois_regr": 1e-4}


def points(name, entries):
    """Values of the latent sites near the posterior mean; sites that the reference does not have are normal."""
    rng = np.random.default_rng(0)
    mean, rows = reference_mean(name), REFERENCES[name]["parameters"]
    for _ in range(NUM_POINTS):
        values = {}
        for entry in entries:
            if entry.name in mean:
                sd = rows.get(entry.name, rows.get(f"{entry.name}[1]"))["sd"]
                noise = 1 + 0.1 * rng.uniform(-1, 1, entry.shape) * np.minimum(
                    1, sd / np.abs(mean[entry.name])
                )
                values[entry.name] = mean[entry.name] * noise
            else:
                values[entry.name] = rng.normal(size=entry.shape)
            if entry.distribution == "Dirichlet":
                values[entry.name] = values[entry.name] / values[entry.name].sum()
        yield values


def test_every_example_has_a_formula_and_a_reference():
    assert set(DENSITIES) == set(REFERENCES)


@pytest.mark.parametrize("name", DENSITIES)
def test_log_density_differs_between_points_as_the_formula_does(name):
    data = data_of(name)
    with precision.scope("float64"):
        density = model_of(name).log_density()
        evaluate = jax.jit(lambda values: density(density.unconstrain(values)))
        pairs = [
            (float(evaluate(values)), DENSITIES[name](values, data))
            for values in points(name, density.layout.entries)
        ]
    found, wanted = np.transpose(pairs)
    scale = np.abs(wanted).max()
    tolerance = TOLERANCES.get(name, 1e-12 * scale + 1e-11)
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=0, atol=tolerance)
    assert np.ptp(wanted) > 1e-3
