"""Fit a normal by matching its scores to those of the posterior: the steps of batch and match."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...core.tree import node, where
from ...guides.base import Params
from .base import AbstractStepper


@node
class Scores:
    """Draws from a guide and the gradients of the log density there; shape `(draw, dim)` each."""

    positions: Float[Array, "draw dim"]
    gradients: Float[Array, "draw dim"]


@node
class MatchState:
    """State of the steps. **Fields**: `mean`, shape `(dim,)`; `covariance`, shape `(dim, dim)`; `count` of steps."""

    mean: Float[Array, " dim"]
    covariance: Float[Array, "dim dim"]
    count: Any


class Match(AbstractStepper):
    """Steps of batch and match, for the parameters of a `FullRank`; each has less weight than the one before.

    `num_draws` of a step.

    **Source**: Cai, Modi, Pillaud-Vivien, Margossian, Gower, Blei & Saul (2024), "Batch and match: black-box
    variational inference with a score-based divergence", ICML. The weight of step `t` is `dim * num_draws / t`.
    """

    def __init__(self, num_draws: int):
        self._num_draws = num_draws

    def blank(self, params: Params) -> Scores:
        """See `AbstractStepper.blank`."""
        zeros = jnp.zeros((self._num_draws, params["loc"].size), params["loc"].dtype)
        return Scores(zeros, zeros)

    def begin(self, params: Params, loss: Float[Array, ""], gradient: Scores) -> MatchState:
        """See `AbstractStepper.begin`."""
        del loss, gradient
        factor = _factor(params)
        return MatchState(jnp.asarray(params["loc"]), factor @ factor.T, jnp.zeros((), jnp.int32))

    def ask(self, state: MatchState) -> Params:
        """See `AbstractStepper.ask`."""
        return self.found(state)

    def tell(
        self,
        state: MatchState,
        params: Params,
        loss: Float[Array, ""],
        gradient: Scores,
        is_finite: Bool[Array, ""],
        rate: Float[Array, ""],
    ) -> MatchState:
        """See `AbstractStepper.tell`: a step whose numbers are not finite is not taken."""
        del params, loss, rate
        count = state.count + 1
        weight = state.mean.size * self._num_draws / count.astype(state.mean.dtype)
        after = MatchState(*matched(state.mean, state.covariance, gradient, weight), count)
        is_usable = is_finite & jnp.isfinite(after.covariance).all() & jnp.isfinite(after.mean).all()
        return where(is_usable, after, state)

    def found(self, state: MatchState) -> Params:
        """See `AbstractStepper.found`."""
        factor = jnp.linalg.cholesky(state.covariance)
        scale = jnp.diagonal(factor)
        rows: Any = np.tril_indices(state.mean.size, -1)
        return {"loc": state.mean, "log_scale": jnp.log(scale), "lower": (factor / scale[:, None])[rows]}

    def is_over(self, state: MatchState) -> Bool[Array, ""]:
        """See `AbstractStepper.is_over`: never, by itself."""
        return jnp.zeros((), bool)


def matched(
    mean: Float[Array, " dim"], covariance: Float[Array, "dim dim"], scores: Scores, weight: Float[Array, ""]
) -> tuple[Float[Array, " dim"], Float[Array, "dim dim"]]:
    """Return the mean and covariance after a step: a normal that is near the last one, and whose scores fit.

    It is the lowest point of the divergence of its scores from `scores`, times `weight`, plus the Kullback-Leibler
    divergence from the last normal.
    """
    # l: weight; z, g: means of draws and gradients; C, G: their covariances; in the paper's letters.
    num_draws, share = scores.positions.shape[0], weight / (1 + weight)
    z, g = scores.positions.mean(axis=0), scores.gradients.mean(axis=0)
    C = (scores.positions - z).T @ (scores.positions - z) / num_draws
    G = (scores.gradients - g).T @ (scores.gradients - g) / num_draws
    U = weight * G + share * jnp.outer(g, g)
    V = covariance + weight * C + share * jnp.outer(mean - z, mean - z)
    # The solution of S U S + S = V, which is positive definite by this form also where numbers are rounded.
    values, vectors = jnp.linalg.eigh(V)
    root = (vectors * jnp.sqrt(jnp.maximum(values, 0))) @ vectors.T
    values, vectors = jnp.linalg.eigh(root @ U @ root)
    spread = root @ vectors * jnp.sqrt(2 / (1 + jnp.sqrt(1 + 4 * jnp.maximum(values, 0))))
    after = spread @ spread.T
    return mean / (1 + weight) + share * (after @ g + z), after


def _factor(params: Params) -> Array:
    """Return the Cholesky factor of the covariance of a `FullRank`."""
    dim = params["loc"].size
    rows: Any = np.tril_indices(dim, -1)
    unit = jnp.eye(dim, dtype=params["lower"].dtype).at[rows].set(params["lower"])
    return jnp.exp(params["log_scale"])[:, None] * unit
