"""Write the models of the database that fit curves."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take

constraints = dist.constraints


def half_student_t(scale):
    """Student's t with three degrees of freedom, above 0."""
    return dist.TruncatedDistribution(dist.StudentT(3, 0, scale), low=0.0)


@ac.model
def accel_gp(Y, Xgp_1, slambda_1, Xgp_sigma_1, slambda_sigma_1):
    """Acceleration by two Gaussian processes on a basis, one for the mean and one for the log scale.

    `Y`: shape (n,); `Xgp_1`: the basis, shape (n, b); `slambda_1`: square roots of its eigenvalues, shape (b, 1).
    """
    Intercept = ac.sample("Intercept", dist.StudentT(3, -13, 36))
    sdgp_1 = ac.sample("sdgp_1", half_student_t(36))
    lscale_1 = ac.sample("lscale_1", dist.InverseGamma(1.124909, 0.0177))
    with ac.plate("basis", Xgp_1.shape[1]):
        zgp_1 = ac.sample("zgp_1", dist.Normal(0, 1))
    Intercept_sigma = ac.sample("Intercept_sigma", dist.StudentT(3, 0, 10))
    sdgp_sigma_1 = ac.sample("sdgp_sigma_1", half_student_t(36))
    lscale_sigma_1 = ac.sample("lscale_sigma_1", dist.InverseGamma(1.124909, 0.0177))
    with ac.plate("basis_sigma", Xgp_sigma_1.shape[1]):
        zgp_sigma_1 = ac.sample("zgp_sigma_1", dist.Normal(0, 1))
    mu = Intercept + Xgp_1 @ (root_spectrum(slambda_1, sdgp_1, lscale_1) * zgp_1)
    log_sigma = Intercept_sigma + Xgp_sigma_1 @ (
        root_spectrum(slambda_sigma_1, sdgp_sigma_1, lscale_sigma_1) * zgp_sigma_1
    )
    ac.sample("Y", dist.Normal(mu, jnp.exp(log_sigma)), obs=Y)


def root_spectrum(slambda, sdgp, lscale):
    """Square roots of the spectral density of the squared exponential covariance, shape (b,)."""
    # Half of the exponent, and not the root of the density: where that underflows to 0, the root has no finite slope.
    return (
        sdgp * jnp.sqrt(jnp.sqrt(2 * jnp.pi) * lscale) * jnp.exp(-0.25 * lscale**2 * (slambda**2).sum(axis=1))
    )


@ac.model
def accel_splines(Y, Xs, Zs_1_1, Xs_sigma, Zs_sigma_1_1):
    """Acceleration by two splines, one for the mean and one for the log scale.

    `Y`: shape (n,); `Xs`: linear effects, shape (n, l); `Zs_1_1`: the basis, shape (n, knots).
    """
    Intercept = ac.sample("Intercept", dist.StudentT(3, -13, 36))
    bs = ac.sample("bs", dist.ImproperUniform(constraints.real, (), (Xs.shape[1],)))
    with ac.plate("knot", Zs_1_1.shape[1]):
        zs_1_1 = ac.sample("zs_1_1", dist.Normal(0, 1))
    sds_1_1 = ac.sample("sds_1_1", half_student_t(36))
    Intercept_sigma = ac.sample("Intercept_sigma", dist.StudentT(3, 0, 10))
    bs_sigma = ac.sample("bs_sigma", dist.ImproperUniform(constraints.real, (), (Xs_sigma.shape[1],)))
    with ac.plate("knot_sigma", Zs_sigma_1_1.shape[1]):
        zs_sigma_1_1 = ac.sample("zs_sigma_1_1", dist.Normal(0, 1))
    sds_sigma_1_1 = ac.sample("sds_sigma_1_1", half_student_t(36))
    mu = Intercept + Xs @ bs + Zs_1_1 @ (sds_1_1 * zs_1_1)
    log_sigma = Intercept_sigma + Xs_sigma @ bs_sigma + Zs_sigma_1_1 @ (sds_sigma_1_1 * zs_sigma_1_1)
    ac.sample("Y", dist.Normal(mu, jnp.exp(log_sigma)), obs=Y)


@ac.model
def losscurve_sislob(loss, premium, t_value, cohort_id, t_idx, growthmodel_id):
    """Losses of cohorts of insurances as they grow to a share of the premium.

    `loss`, `cohort_id`, `t_idx`: shape (n,); `premium`: shape (cohorts,); `t_value`: shape (times,);
    `growthmodel_id`: 1 for Weibull, else log-logistic.
    """
    mu_LR = ac.sample("mu_LR", dist.Normal(0, 0.5))
    sd_LR = ac.sample("sd_LR", dist.LogNormal(0, 0.5))
    with ac.plate("cohort", len(premium)):
        LR = ac.sample("LR", dist.LogNormal(mu_LR, sd_LR))
    loss_sd = ac.sample("loss_sd", dist.LogNormal(0, 0.7))
    omega = ac.sample("omega", dist.LogNormal(0, 0.5))
    theta = ac.sample("theta", dist.LogNormal(0, 0.5))
    if growthmodel_id == 1:
        gf = 1 - jnp.exp(-((t_value / theta) ** omega))
    else:
        gf = t_value**omega / (t_value**omega + theta**omega)
    lm = LR[cohort_id] * premium[cohort_id] * gf[t_idx]
    ac.sample("loss", dist.Normal(lm, (loss_sd * premium)[cohort_id]), obs=loss)


@ac.model
def prophet(y, t, cap, t_change, X, sigmas, tau, s_a, s_m, trend_indicator):
    """A trend that changes its slope, and seasons that add to it or multiply it.

    `y`, `t`, `cap`: shape (n,); `t_change`: shape (changes,), increasing; `X`: shape (n, k); `sigmas`, `s_a`, `s_m`:
    shape (k,); `trend_indicator`: 0 for a linear trend, 1 for a logistic one.
    """
    k = ac.sample("k", dist.Normal(0, 5))
    m = ac.sample("m", dist.Normal(0, 5))
    with ac.plate("change", len(t_change)):
        delta = ac.sample("delta", dist.Laplace(0, tau))
    sigma_obs = ac.sample("sigma_obs", dist.HalfNormal(0.5))
    beta = ac.sample("beta", dist.Normal(0, sigmas))
    has_changed = (t[:, None] >= t_change).astype(X.dtype)
    slope = k + has_changed @ delta
    if trend_indicator == 0:
        trend = slope * t + m + has_changed @ (-t_change * delta)
    else:
        gamma = logistic_offsets(k, m, delta, t_change)
        trend = cap / (1 + jnp.exp(-slope * (t - m - has_changed @ gamma)))
    ac.sample("y", dist.Normal(trend * (1 + X @ (beta * s_m)) + X @ (beta * s_a), sigma_obs), obs=y)


def logistic_offsets(k, m, delta, t_change):
    """What each change adds to the offset so that the trend stays continuous, shape (changes,)."""
    slopes = k + jnp.concatenate([jnp.zeros(1), jnp.cumsum(delta)])
    gamma = []
    for time, before, after in zip(t_change, slopes[:-1], slopes[1:], strict=True):
        gamma.append((time - m) * (1 - before / after))
        m = m + gamma[-1]
    return jnp.stack(gamma)


ENTRIES: dict[str, Entry] = {
    "accel_gp": Entry(accel_gp, take("Y", "Xgp_1", "slambda_1", "Xgp_sigma_1", "slambda_sigma_1")),
    "accel_splines": Entry(accel_splines, take("Y", "Xs", "Zs_1_1", "Xs_sigma", "Zs_sigma_1_1")),
    "losscurve_sislob": Entry(
        losscurve_sislob,
        take("loss", "premium", "t_value", "growthmodel_id", zero_based=("cohort_id", "t_idx")),
    ),
    "prophet": Entry(
        prophet, take("y", "t", "cap", "t_change", "X", "sigmas", "tau", "s_a", "s_m", "trend_indicator")
    ),
}
