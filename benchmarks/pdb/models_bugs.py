"""Write the examples of the BUGS manual, and the pilots of Gelman & Hill (2007), as in posteriordb."""

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take


@ac.model
def bones(grade, is_graded, gamma, delta, ncat):
    """Estimate the age of a child's skeleton from grades of its bones.

    - `grade`, `is_graded`: grade from 0, and whether it is known, shape (children, bones).
    - `gamma`: thresholds between grades, shape (bones, 4); only the first `ncat - 1` exist.
    - `delta`, `ncat`: discrimination and number of grades, shape (bones,).
    """
    with ac.plate("child", grade.shape[0]):
        theta = ac.sample("theta", dist.Normal(0, 36))
    above = jax.nn.sigmoid(delta[:, None] * (theta[:, None, None] - gamma))  # (child, bone, threshold)
    above = jnp.where(jnp.arange(1, 5) < ncat[:, None], above, 0.0)
    above = jnp.pad(above, ((0, 0), (0, 0), (1, 0)), constant_values=1.0)
    grades = dist.Categorical(probs=above - jnp.pad(above[..., 1:], ((0, 0), (0, 0), (0, 1))))
    ac.sample("grade", grades.mask(is_graded), obs=grade)


def bones_arguments(data: Data) -> dict[str, np.ndarray]:
    """Tell missing grades apart from others, where Stan's data have -1."""
    is_graded = data["grade"] > 0
    grade = np.where(is_graded, data["grade"] - 1, 0)
    return {"grade": grade, "is_graded": is_graded} | take("gamma", "delta", "ncat")(data)


@ac.model
def dugongs(Y, x):
    """Growth curve; `Y`: lengths, `x`: ages, shape (n,)."""
    alpha = ac.sample("alpha", dist.Normal(0, 1000))
    beta = ac.sample("beta", dist.Normal(0, 1000))
    ratio = ac.sample("lambda", dist.Uniform(0.5, 1))
    tau = ac.sample("tau", dist.Gamma(0.0001, 0.0001))
    ac.sample("Y", dist.Normal(alpha - beta * ratio**x, 1 / jnp.sqrt(tau)), obs=Y)


@ac.model
def lsat(r):
    """Item response theory with a common slope; `r`: 1 for a right answer, shape (students, questions)."""
    with ac.plate("question", r.shape[1]):
        alpha = ac.sample("alpha", dist.Normal(0, 100))
    with ac.plate("student", r.shape[0]):
        theta = ac.sample("theta", dist.Normal(0, 1))
    beta = ac.sample("beta", dist.HalfNormal(100))
    ac.sample("r", dist.Bernoulli(logits=beta * theta[:, None] - alpha), obs=r)


def lsat_arguments(data: Data) -> dict[str, np.ndarray]:
    """Repeat each pattern of answers for the students who gave it."""
    return {"r": np.repeat(data["response"], np.diff(data["culm"], prepend=0), axis=0)}


@ac.model
def pilots(y, group_id, scenario_id, n_groups, n_scenarios):
    """Effects of groups and of scenarios on recovery from a fault; `y`, `group_id`, `scenario_id`: shape (n,)."""
    mu_a = ac.sample("mu_a", dist.Normal(0, 1))
    mu_b = ac.sample("mu_b", dist.Normal(0, 1))
    sigma_a = ac.sample("sigma_a", dist.Uniform(0, 100))
    sigma_b = ac.sample("sigma_b", dist.Uniform(0, 100))
    sigma_y = ac.sample("sigma_y", dist.Uniform(0, 100))
    with ac.plate("group", n_groups):
        a = ac.sample("a", dist.Normal(10 * mu_a, sigma_a))
    with ac.plate("scenario", n_scenarios):
        b = ac.sample("b", dist.Normal(10 * mu_b, sigma_b))
    ac.sample("y", dist.Normal(a[group_id] + b[scenario_id], sigma_y), obs=y)


@ac.model
def rats(y, x, rat, N, xbar):
    """Growth line of each of `N` rats; `y`: weights at ages `x` of `rat`, shape (n,)."""
    mu_alpha = ac.sample("mu_alpha", dist.Normal(0, 100))
    mu_beta = ac.sample("mu_beta", dist.Normal(0, 100))
    sigma_y = ac.sample("sigma_y", dist.ImproperUniform(dist.constraints.positive, (), ()))
    sigma_alpha = ac.sample("sigma_alpha", dist.ImproperUniform(dist.constraints.positive, (), ()))
    sigma_beta = ac.sample("sigma_beta", dist.ImproperUniform(dist.constraints.positive, (), ()))
    with ac.plate("rat", N):
        alpha = ac.sample("alpha", dist.Normal(mu_alpha, sigma_alpha))
        beta = ac.sample("beta", dist.Normal(mu_beta, sigma_beta))
    ac.sample("y", dist.Normal(alpha[rat] + beta[rat] * (x - xbar), sigma_y), obs=y)


@ac.model
def seeds(n, N, x1, x2):
    """Seeds that germinate, by type and root extract; `n` of `N` on each plate, shape (plates,)."""
    alpha0, alpha1, alpha2, alpha12 = coefficients(1000.0)
    tau = ac.sample("tau", dist.Gamma(0.001, 0.001))
    with ac.plate("plate", len(n)):
        b = ac.sample("b", dist.Normal(0, 1 / jnp.sqrt(tau)))
        logits = alpha0 + alpha1 * x1 + alpha2 * x2 + alpha12 * x1 * x2 + b
        ac.sample("n", dist.Binomial(total_count=N, logits=logits), obs=n)


@ac.model
def seeds_stanified(n, N, x1, x2):
    """Seeds with narrower priors."""
    alpha0, alpha1, alpha2, alpha12 = coefficients(1.0)
    sigma = ac.sample("sigma", dist.HalfCauchy(1))
    with ac.plate("plate", len(n)):
        b = ac.sample("b", dist.Normal(0, sigma))
        logits = alpha0 + alpha1 * x1 + alpha2 * x2 + alpha12 * x1 * x2 + b
        ac.sample("n", dist.Binomial(total_count=N, logits=logits), obs=n)


@ac.model
def seeds_centered(n, N, x1, x2):
    """Seeds with effects of plates whose mean is subtracted."""
    alpha0, alpha1, alpha2, alpha12 = coefficients(1.0)
    sigma = ac.sample("sigma", dist.HalfCauchy(1))
    with ac.plate("plate", len(n)):
        c = ac.sample("c", dist.Normal(0, sigma))
        b = ac.deterministic("b", c - c.mean())
        logits = alpha0 + alpha1 * x1 + alpha2 * x2 + alpha12 * x1 * x2 + b
        ac.sample("n", dist.Binomial(total_count=N, logits=logits), obs=n)


def coefficients(scale):
    """Draw the four coefficients of the seeds, with one scale for all."""
    return [ac.sample(name, dist.Normal(0, scale)) for name in ("alpha0", "alpha1", "alpha2", "alpha12")]


@ac.model
def surgical(r, n):
    """Mortality of operations in hospitals; `r`: deaths among `n` operations, shape (hospitals,)."""
    mu = ac.sample("mu", dist.Normal(0, 1000))
    sigmasq = ac.sample("sigmasq", dist.InverseGamma(0.001, 0.001))
    with ac.plate("hospital", len(r)):
        b = ac.sample("b", dist.Normal(mu, jnp.sqrt(sigmasq)))
        ac.sample("r", dist.Binomial(total_count=n, logits=b), obs=r)


ENTRIES = {
    "bones_model": Entry(bones, bones_arguments),
    "dugongs_model": Entry(dugongs, take("Y", "x")),
    "lsat_model": Entry(lsat, lsat_arguments),
    "pilots": Entry(pilots, take("y", "n_groups", "n_scenarios", zero_based=("group_id", "scenario_id"))),
    "rats_model": Entry(rats, take("y", "x", "N", "xbar", zero_based=("rat",))),
    "seeds_model": Entry(seeds, take("n", "N", "x1", "x2")),
    "seeds_stanified_model": Entry(seeds_stanified, take("n", "N", "x1", "x2")),
    "seeds_centered_model": Entry(seeds_centered, take("n", "N", "x1", "x2")),
    "surgical_model": Entry(surgical, take("r", "n")),
}
