"""Weigh models by how well each predicts observations that it has not seen."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import softmax

from ..core import keys

NUM_BOOTSTRAP = 1000
_MOST_ROUNDS, _GAP, _HALVINGS = 200, 1e-12, 50
_RIDGE = 1e-10  # of the curvature: models that predict alike share their weight


def stacking(log_densities: np.ndarray) -> np.ndarray:
    """Return the weights, shape `(model,)`, whose mixture of predictive densities is the highest on the whole.

    They maximise the mean over observations of log sum_k w_k p_ik over the simplex, which is concave. By Newton's
    method under the constraint, without the sum of the weights, which is one at the optimum; each step is a problem of
    non-negative least squares. It ends where no mixture can be better by `_GAP` nats an observation.

    **Arguments**: `log_densities` of each observation given others, shape `(observation, model)`.

    **Source**: the criterion is eq. 4 of Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13(3), 917-1007; the
    steps are those of Kim, Carbonetto, Stephens & Anitescu (2020), J. Computational and Graphical Statistics 29(2),
    261-273.
    """
    size, num_models = log_densities.shape
    densities = np.exp(log_densities - log_densities.max(axis=1, keepdims=True))
    weights = np.full(num_models, 1 / num_models)

    def loss(weights: np.ndarray) -> float:
        mixed = densities @ weights
        return float(weights.sum() - np.log(mixed).mean()) if np.all(mixed > 0) else np.inf

    for _ in range(_MOST_ROUNDS):
        shares = densities / (densities @ weights)[:, None]
        gains = shares.mean(axis=0)
        # To first order, and since the criterion is concave, no mixture is better by more than this.
        if gains.max() - 1 < _GAP:
            break
        curvature = shares.T @ shares / size
        factor = np.linalg.cholesky(curvature + _RIDGE * np.trace(curvature) * np.eye(num_models))
        target, _ = nnls(factor.T, np.linalg.solve(factor, 2 * gains - 1))
        step, now, length = target - weights, loss(weights), 1.0
        for _ in range(_HALVINGS):
            if loss(weights + length * step) < now:
                break
            length /= 2
        else:  # no better in this precision
            break
        weights = weights + length * step
        weights /= weights.sum()
    return weights / weights.sum()


def pseudo_bma(log_densities: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return weights in proportion to exp(elpd), averaged over shares of the observations; shape `(model,)`.

    **Arguments**: `log_densities`, shape `(observation, model)`; `shares`, rows that sum to one, shape `(n,
    observation)`; equal ones give plain pseudo-BMA.

    **Source**: Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13(3), 917-1007, section 3.4.
    """
    return softmax(len(log_densities) * (shares @ log_densities), axis=1).mean(axis=0)


def bootstrap_shares(num_observations: int, seed: int) -> np.ndarray:
    """Draw shares of the observations uniformly from the simplex (the Bayesian bootstrap)."""
    rng = keys.generator(keys.chain_key(seed, 0), keys.USE_BOOTSTRAP, 0)
    return rng.dirichlet(np.ones(num_observations), size=NUM_BOOTSTRAP)
