"""Write the models of the database that have very many unknowns: topics, networks and maps."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take

constraints = dist.constraints


@ac.model
def lda(w, doc, alpha, beta, M):
    """Topics of `M` documents; the topic of each word is summed out.

    `w`, `doc`: word and document of each place, shape (n,); `alpha`: prior weights of topics, shape (k,); `beta`: of
    words, shape (v,).
    """
    with ac.plate("document", M):
        theta = ac.sample("theta", dist.Dirichlet(alpha))
    with ac.plate("topic", len(alpha)):
        phi = ac.sample("phi", dist.Dirichlet(beta))
    ac.factor("w", jax.nn.logsumexp(jnp.log(theta)[doc] + jnp.log(phi).T[w], axis=1).sum())


def lda_two_arguments(data: Data):
    """Give two topics and all words equal weights, as the program does."""
    return lda_arguments({**data, "alpha": np.ones(2), "beta": np.ones(data["V"])})


lda_arguments = take("alpha", "beta", "M", zero_based=("w", "doc"))


@ac.model
def nn_rbm1b(x, y, J, K):
    """A network with one hidden layer of `J` units; `x`: shape (n, m); `y`: one of `K` classes, shape (n,)."""
    n, M = x.shape
    nu, scale_alpha, scale_beta = 0.5, 0.05 / M**2, 0.05 / J**2
    sigma2_alpha = ac.sample("sigma2_alpha", dist.InverseGamma(nu / 2, nu * scale_alpha**2 / 2))
    sigma2_beta = ac.sample("sigma2_beta", dist.InverseGamma(nu / 2, nu * scale_beta**2 / 2))
    alpha = ac.sample("alpha", dist.Normal(0, jnp.sqrt(sigma2_alpha)).expand((M, J)))
    beta = ac.sample("beta", dist.Normal(0, jnp.sqrt(sigma2_beta)).expand((J, K - 1)))
    alpha1 = ac.sample("alpha1", dist.Normal(0, 1).expand((J,)))
    beta1 = ac.sample("beta1", dist.Normal(0, 1).expand((K - 1,)))
    hidden = jnp.tanh(alpha1 + x @ alpha)
    logits = jnp.concatenate([jnp.ones((n, 1)), beta1 + hidden @ beta], axis=1)
    ac.sample("y", dist.Categorical(logits=logits), obs=y)


def nn_rbm1b_arguments(data: Data, num_hidden: int):
    """Add the number of hidden units."""
    return take("x", "K", zero_based=("y",))(data) | {"J": num_hidden}


@ac.model
def bym2_offset_only(y, E, node1, node2, scaling_factor):
    """Counts on a map, with effects of areas that neighbours share.

    `y`, `E`: count and exposure, shape (areas,); `node1`, `node2`: both ends of each border, shape (borders,).
    """
    N = len(y)
    beta0 = ac.sample("beta0", dist.Normal(0, 1))
    sigma = ac.sample("sigma", dist.HalfNormal(1))
    rho = ac.sample("rho", dist.Beta(0.5, 0.5))
    with ac.plate("area", N):
        theta = ac.sample("theta", dist.Normal(0, 1))
        phi = ac.sample("phi", dist.ImproperUniform(constraints.real, (), ()))
    ac.factor("phi_prior", -0.5 * ((phi[node1] - phi[node2]) ** 2).sum())
    ac.factor("phi_sum", dist.Normal(0, 0.001 * N).log_prob(phi.sum()))
    convolved_re = jnp.sqrt(1 - rho) * theta + jnp.sqrt(rho / scaling_factor) * phi
    ac.sample("y", dist.Poisson(jnp.exp(jnp.log(E) + beta0 + convolved_re * sigma)), obs=y)


ENTRIES: dict[str, Entry] = {
    "ldaK2": Entry(lda, lda_two_arguments),
    "ldaK5": Entry(lda, lda_arguments),
    "nn_rbm1bJ10": Entry(nn_rbm1b, partial(nn_rbm1b_arguments, num_hidden=10)),
    "nn_rbm1bJ100": Entry(nn_rbm1b, partial(nn_rbm1b_arguments, num_hidden=100)),
    "bym2_offset_only": Entry(
        bym2_offset_only, take("y", "E", "scaling_factor", zero_based=("node1", "node2"))
    ),
}
