"""Fit a hidden Markov model of two states with normal outcomes (posteriordb, hmm_example-hmm_example)."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def hmm_example(y):
    """`y`: shape (t,); the states are summed out by the forward algorithm, the first one with weight 1 each."""
    theta1 = ac.sample("theta1", dist.Dirichlet(jnp.ones(2)))
    theta2 = ac.sample("theta2", dist.Dirichlet(jnp.ones(2)))
    mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.positive_ordered_vector, (), (2,)))
    ac.factor("mu_prior", dist.Normal(jnp.array([3.0, 10.0]), 1).log_prob(mu))
    log_transition = jnp.log(jnp.stack([theta1, theta2]))

    def step(log_weight, log_emission):
        moved = jax.nn.logsumexp(log_weight[:, None] + log_transition, axis=0)
        return moved + log_emission, None

    log_emissions = dist.Normal(mu, 1).log_prob(y[:, None])
    log_weight, _ = jax.lax.scan(step, log_emissions[0], log_emissions[1:])
    ac.factor("y", jax.nn.logsumexp(log_weight))
