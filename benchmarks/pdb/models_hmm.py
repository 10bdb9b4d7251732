"""Write the hidden Markov models of the database; the states are summed out by the forward algorithm."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take

constraints = dist.constraints


def forward(log_first, log_transitions, log_emissions):
    """Sum over the paths of states.

    `log_first`: log weights at the first time, shape (k,); `log_transitions`: from the state of the row, shape (k, k)
    or, for each later time, (t - 1, k, k); `log_emissions`: of the later times, shape (t - 1, k).
    """
    num_later, num_states = log_emissions.shape
    log_transitions = jnp.broadcast_to(log_transitions, (num_later, num_states, num_states))

    def step(log_weights, now):
        log_transition, log_emission = now
        return jax.nn.logsumexp(log_weights[:, None] + log_transition, axis=0) + log_emission, None

    log_last, _ = jax.lax.scan(step, log_first, (log_transitions, log_emissions))
    return jax.nn.logsumexp(log_last)


@ac.model
def hmm_drive_0(u, v, alpha):
    """Drives to the hoop, with exponential outcomes; `u`, `v`: shape (n,); `alpha`: shape (2, 2)."""
    theta1 = ac.sample("theta1", dist.Dirichlet(alpha[0]))
    theta2 = ac.sample("theta2", dist.Dirichlet(alpha[1]))
    phi = ac.sample("phi", dist.ImproperUniform(constraints.positive_ordered_vector, (), (2,)))
    lambda_ = ac.sample("lambda", dist.ImproperUniform(constraints.positive_ordered_vector, (), (2,)))
    prior = dist.Normal(jnp.array([0.0, 3.0]), 1)
    ac.factor("prior", (prior.log_prob(phi) + prior.log_prob(lambda_)).sum())
    log_emissions = dist.Exponential(phi).log_prob(u[:, None]) + dist.Exponential(lambda_).log_prob(
        v[:, None]
    )
    log_transition = jnp.log(jnp.stack([theta1, theta2]))
    ac.factor("likelihood", forward(log_emissions[0], log_transition, log_emissions[1:]))


@ac.model
def hmm_drive_1(u, v, alpha, tau, rho):
    """Drives to the hoop, with normal outcomes of scales `tau` and `rho`."""
    theta1 = ac.sample("theta1", dist.Dirichlet(alpha[0]))
    theta2 = ac.sample("theta2", dist.Dirichlet(alpha[1]))
    phi = ac.sample("phi", dist.ImproperUniform(constraints.ordered_vector, (), (2,)))
    lambda_ = ac.sample("lambda", dist.ImproperUniform(constraints.ordered_vector, (), (2,)))
    prior = dist.Normal(jnp.array([0.0, 3.0]), 1)
    ac.factor("prior", (prior.log_prob(phi) + prior.log_prob(lambda_)).sum())
    log_emissions = dist.Normal(phi, tau).log_prob(u[:, None]) + dist.Normal(lambda_, rho).log_prob(
        v[:, None]
    )
    log_transition = jnp.log(jnp.stack([theta1, theta2]))
    ac.factor("likelihood", forward(log_emissions[0], log_transition, log_emissions[1:]))


@ac.model
def hmm_gaussian(y, K):
    """Normal outcomes from `K` states without priors; `y`: shape (t,)."""
    pi1 = ac.sample("pi1", dist.Dirichlet(jnp.ones(K)))
    with ac.plate("state", K):
        A = ac.sample("A", dist.Dirichlet(jnp.ones(K)))
        sigma = ac.sample("sigma", dist.ImproperUniform(constraints.positive, (), ()))
    mu = ac.sample("mu", dist.ImproperUniform(constraints.ordered_vector, (), (K,)))
    _normal_outcomes(y, pi1, A, mu, sigma)


@ac.model
def hmm_gaussian_with_proper_priors(y, K):
    """Normal outcomes from `K` states, with priors as wide as the outcomes; `y`: shape (t,)."""
    pi1 = ac.sample("pi1", dist.Dirichlet(jnp.ones(K)))
    with ac.plate("state", K):
        A = ac.sample("A", dist.Dirichlet(jnp.ones(K)))
        sigma = ac.sample("sigma", dist.HalfNormal(jnp.std(y)))
    anywhere = dist.Normal(jnp.mean(y), 2 * jnp.std(y)).expand((K,))
    mu = ac.sample("mu", dist.OrderedDistribution(anywhere.to_event(1)))
    _normal_outcomes(y, pi1, A, mu, sigma)


def _normal_outcomes(y, pi1, A, mu, sigma):
    """Add the log density of the outcomes, summed over states."""
    log_emissions = dist.Normal(mu, sigma).log_prob(y[:, None])
    # The database's program adds the outcome under every state to the weight of each one, at the first time alone.
    log_first = jnp.log(pi1) + log_emissions[0].sum()
    ac.factor("likelihood", forward(log_first, jnp.log(A), log_emissions[1:]))


@ac.model
def iohmm_reg(y, u, K):
    """Regressions from `K` states, whose chances depend on inputs; `y`: shape (t,); `u`: shape (t, m)."""
    num_inputs = u.shape[1]
    pi1 = ac.sample("pi1", dist.Dirichlet(jnp.ones(K)))
    with ac.plate("state", K, dim=-2), ac.plate("input", num_inputs, dim=-1):
        w = ac.sample("w", dist.Normal(0, 5))
        b = ac.sample("b", dist.Normal(0, 5))
    with ac.plate("state", K):
        sigma = ac.sample("sigma", dist.HalfNormal(3))
    log_emissions = dist.Normal(u @ b.T, sigma).log_prob(y[:, None])
    # The database's program weights the state that is left, and not the one that is entered.
    log_chances = jax.nn.log_softmax(u[1:] @ w.T)[:, :, None]
    ac.factor("likelihood", forward(jnp.log(pi1) + log_emissions[0], log_chances, log_emissions[1:]))


ENTRIES: dict[str, Entry] = {
    "hmm_drive_0": Entry(hmm_drive_0, take("u", "v", "alpha")),
    "hmm_drive_1": Entry(hmm_drive_1, take("u", "v", "alpha", "tau", "rho")),
    "hmm_gaussian": Entry(hmm_gaussian, take("y", "K")),
    "iohmm_reg": Entry(iohmm_reg, take("y", "u", "K")),
}
