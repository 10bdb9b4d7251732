"""Measure persons by their answers to questions: item response theory (posteriordb, and Stan's case studies)."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take


@ac.model
def irt_2pl(y):
    """Two parameters for each question; `y`: 1 for a right answer, shape (questions, persons)."""
    sigma_theta = ac.sample("sigma_theta", dist.HalfCauchy(2))
    with ac.plate("person", y.shape[1]):
        theta = ac.sample("theta", dist.Normal(0, sigma_theta))
    sigma_a = ac.sample("sigma_a", dist.HalfCauchy(2))
    mu_b = ac.sample("mu_b", dist.Normal(0, 5))
    sigma_b = ac.sample("sigma_b", dist.HalfCauchy(2))
    with ac.plate("question", y.shape[0]):
        a = ac.sample("a", dist.LogNormal(0, sigma_a))
        b = ac.sample("b", dist.Normal(mu_b, sigma_b))
    ac.sample("y", dist.Bernoulli(logits=a[:, None] * (theta - b[:, None])), obs=y)


@ac.model
def hier_2pl(y, question, person, num_questions, num_persons):
    """Log discriminations and difficulties are correlated; `y`, `question`, `person`: shape (answers,)."""
    with ac.plate("person", num_persons):
        theta = ac.sample("theta", dist.Normal(0, 1))
    with ac.plate("parameter", 2):
        mu = ac.sample("mu", dist.Normal(0, jnp.array([1.0, 5.0])))
        tau = ac.sample("tau", dist.Exponential(0.1))
    L_Omega = ac.sample("L_Omega", dist.LKJCholesky(2, 4.0))
    with ac.plate("question", num_questions):
        xi1 = ac.sample("xi1", dist.ImproperUniform(dist.constraints.real, (), ()))
        xi2 = ac.sample("xi2", dist.ImproperUniform(dist.constraints.real, (), ()))
    prior = dist.MultivariateNormal(mu, scale_tril=tau[:, None] * L_Omega)
    ac.factor("xi", prior.log_prob(jnp.stack([xi1, xi2], axis=-1)))
    logits = jnp.exp(xi1)[question] * (theta[person] - xi2[question])
    ac.sample("y", dist.Bernoulli(logits=logits), obs=y)


def hier_2pl_arguments(data: Data) -> dict[str, Any]:
    """Give the columns of the table of answers names."""
    return table(data) | {"num_questions": data["I"], "num_persons": data["J"]}


# Models with a regression of abilities on covariates: Furr (2017), Stan case study.
# `y`, `question`, `person`: shape (answers,). `W`: covariates, centred and scaled, shape (persons, k).


@ac.model
def two_parameters(y, question, person, W, num_questions):
    """Discrimination and difficulty of each question."""
    alpha, theta = regression(W, num_questions)
    beta = summing_to_zero("beta", num_questions)
    ac.sample("y", dist.Bernoulli(logits=alpha[question] * theta[person] - beta[question]), obs=y)


@ac.model
def rating_scale(y, question, person, W, num_questions, num_steps):
    """Difficulties of questions and of steps from one grade to the next; `y`: grades from 0 to `num_steps`."""
    alpha, theta = regression(W, num_questions)
    beta = summing_to_zero("beta", num_questions)
    kappa = summing_to_zero("kappa", num_steps)
    strength = alpha[question] * theta[person] - beta[question]
    ac.sample("y", dist.Categorical(logits=log_odds(strength[:, None] - kappa)), obs=y)


@ac.model
def partial_credit(y, question, person, W, num_questions, step_of, step_number, num_steps):
    """Difficulties of the steps of each question.

    `step_of`, `step_number`: the question of each step, and its place there from 0, shape (steps,); `num_steps`: the
    most that a question has.
    """
    alpha, theta = regression(W, num_questions)
    beta = summing_to_zero("beta", len(step_of))
    # Grades that a question does not have are infinitely hard.
    hardness = jnp.full((num_questions, num_steps), jnp.inf).at[step_of, step_number].set(beta)
    strength = alpha[question] * theta[person]
    logits = log_odds(strength[:, None] - hardness[question])
    # Stated as a factor, since NumPyro's distribution refuses infinite logits.
    chosen = jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0]
    ac.factor("y", chosen - jax.nn.logsumexp(logits, axis=1))


def regression(W, num_questions):
    """Draw discriminations of questions, and abilities that depend on covariates."""
    with ac.plate("question", num_questions):
        alpha = ac.sample("alpha", dist.LogNormal(1, 1))
    with ac.plate("covariate", W.shape[1]):
        lambda_adj = ac.sample("lambda_adj", dist.StudentT(3, 0, 1))
    with ac.plate("person", W.shape[0]):
        theta = ac.sample("theta", dist.Normal(W @ lambda_adj, 1))
    return alpha, theta


def summing_to_zero(name, size):
    """Draw `size` difficulties that sum to zero: all but the last are free."""
    with ac.plate(f"{name}_plate", size - 1):
        free = ac.sample(f"{name}_free", dist.ImproperUniform(dist.constraints.real, (), ()))
    whole = jnp.append(free, -free.sum())
    ac.factor(f"{name}_prior", dist.Normal(0, 3).log_prob(whole))
    return whole


def log_odds(steps):
    """Sum the log odds of steps up, shape (answers, steps), to those of each grade over the lowest, with one more."""
    return jnp.pad(jnp.cumsum(steps, axis=1), ((0, 0), (1, 0)))


def table(data: Data) -> dict[str, Any]:
    """Give the answers with their questions and persons, from 0."""
    return {"y": data["y"], "question": data["ii"] - 1, "person": data["jj"] - 1}


def latent_regression_arguments(data: Data) -> dict[str, Any]:
    """Centre the covariates and divide them by two standard deviations; the first column is the intercept.

    The programs mean to treat columns with two values in another way, but the comparison that finds them
    (`count + W[j, k] == min_w || ...`) is never true of a column.
    """
    W = np.array(data["W"], dtype=float)
    W[:, 1:] = (W[:, 1:] - W[:, 1:].mean(axis=0)) / (2 * W[:, 1:].std(axis=0, ddof=1))
    return table(data) | {"W": W, "num_questions": data["I"]}


def rating_scale_arguments(data: Data) -> dict[str, Any]:
    """Add the number of steps, the highest grade that was given."""
    return latent_regression_arguments(data) | {"num_steps": int(data["y"].max())}


def partial_credit_arguments(data: Data) -> dict[str, Any]:
    """List the steps of all questions: each has as many as its highest grade."""
    most = [int(data["y"][data["ii"] == question].max()) for question in range(1, data["I"] + 1)]
    steps = {
        "step_of": np.repeat(np.arange(len(most)), most),
        "step_number": np.concatenate([np.arange(count) for count in most]),
        "num_steps": max(most),
    }
    return latent_regression_arguments(data) | steps


ENTRIES = {
    "irt_2pl": Entry(irt_2pl, take("y")),
    "hier_2pl": Entry(hier_2pl, hier_2pl_arguments),
    "2pl_latent_reg_irt": Entry(two_parameters, latent_regression_arguments),
    "grsm_latent_reg_irt": Entry(rating_scale, rating_scale_arguments),
    "gpcm_latent_reg_irt": Entry(partial_credit, partial_credit_arguments),
}
