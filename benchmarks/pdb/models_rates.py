"""Infer rates of success from counts (posteriordb; Lee & Wagenmakers, 2013, Bayesian Cognitive Modeling, ch. 3, 6)."""

import jax
import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take


@ac.model
def rate_1(k, n):
    """One rate; `k`: successes in `n` trials."""
    theta = ac.sample("theta", dist.Beta(1, 1))
    ac.sample("k", dist.Binomial(total_count=n, probs=theta), obs=k)


@ac.model
def rate_2(k1, n1, k2, n2):
    """Difference between two rates."""
    theta1 = ac.sample("theta1", dist.Beta(1, 1))
    theta2 = ac.sample("theta2", dist.Beta(1, 1))
    ac.deterministic("delta", theta1 - theta2)
    ac.sample("k1", dist.Binomial(total_count=n1, probs=theta1), obs=k1)
    ac.sample("k2", dist.Binomial(total_count=n2, probs=theta2), obs=k2)


@ac.model
def common_rate(k1, n1, k2, n2):
    """One rate for two series of trials."""
    theta = ac.sample("theta", dist.Beta(1, 1))
    ac.sample("k1", dist.Binomial(total_count=n1, probs=theta), obs=k1)
    ac.sample("k2", dist.Binomial(total_count=n2, probs=theta), obs=k2)


@ac.model
def rate_4(k, n):
    """One rate, and its prior beside it."""
    theta = ac.sample("theta", dist.Beta(1, 1))
    ac.sample("thetaprior", dist.Beta(1, 1))
    ac.sample("k", dist.Binomial(total_count=n, probs=theta), obs=k)


@ac.model
def survey(k, n):
    """Rate of return of surveys; `k`: returns of each survey, shape (m,).

    `n`: how many may have been sent out each time, all equally probable beforehand; the number is summed out.
    """
    theta = ac.sample("theta", dist.Uniform(0, 1))
    log_parts = dist.Binomial(total_count=n[:, None], probs=theta).log_prob(k).sum(axis=1)
    ac.factor("k", jax.nn.logsumexp(log_parts))


def survey_arguments(data: Data) -> dict[str, np.ndarray]:
    """List the numbers up to the limit that are no smaller than any number of returns."""
    return {"k": data["k"], "n": np.arange(data["k"].max(), data["nmax"] + 1)}


ENTRIES = {
    "Rate_1_model": Entry(rate_1, take("k", "n")),
    "Rate_2_model": Entry(rate_2, take("k1", "n1", "k2", "n2")),
    "Rate_3_model": Entry(common_rate, take("k1", "n1", "k2", "n2")),
    "Rate_4_model": Entry(rate_4, take("k", "n")),
    "Rate_5_model": Entry(common_rate, take("k1", "n1", "k2", "n2")),
    "Survey_model": Entry(survey, survey_arguments),
}
