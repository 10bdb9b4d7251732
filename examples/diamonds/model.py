"""Regress the log price of diamonds on 24 correlated columns (posteriordb, diamonds-diamonds)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def diamonds(X, Y):
    """`X`: a column of ones, then 24 predictors, which are centred; shape (n, 25). `Y`: log price, shape (n,)."""
    with ac.plate("coefficient", X.shape[1] - 1):
        b = ac.sample("b", dist.Normal(0, 1))
    intercept = ac.sample("Intercept", dist.StudentT(3, 8, 10))
    sigma = ac.sample("sigma", dist.HalfStudentT(3, 10))
    # (X - means) @ b as X @ b - means @ b: no centred copy of X has to be made.
    shift = intercept - X[:, 1:].mean(axis=0) @ b
    ac.sample("Y", dist.Normal(X @ jnp.concatenate([shift[None], b]), sigma), obs=Y)
