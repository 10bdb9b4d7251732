"""Bridge a posterior and a normal proposal: the ratio of their normalising constants, from draws of both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from ..report.diagnostics import ess_mean, mcse_mean

_MOST_ROUNDS, _TOLERANCE, _ROUNDING = 1000, 1e-10, 1e-9
_SHARES = (0.0, 1e-8, 1e-4, 1e-2, 1.0)  # of the diagonal in a covariance, until it has a Cholesky factor
_ENOUGH = 10  # draws for each unknown, from which a covariance needs no shrinkage

Heights = Callable[[np.ndarray], np.ndarray]
"""From positions of shape `(n, dim)` to log densities, shape `(n,)`."""


class Bridge(NamedTuple):
    """Estimate of a log normalising constant: see `bridged`.

    **Fields**: `value`; `standard_error`, for a proposal that is given; `forward`, `backward`; `is_settled`, whether
    the iteration converged; `of_proposals`, the part of the proposals in the variance. By how much the value would move
    with each draw, shape `(chain, draw)`, in units of one over their number: `by_draws`, of those that are bridged;
    `by_fit`, of those by which the proposal was fitted.
    """

    value: float
    standard_error: float
    forward: float
    backward: float
    is_settled: bool
    of_proposals: float
    by_draws: np.ndarray
    by_fit: np.ndarray


@dataclass(frozen=True)
class NormalProposal:
    """Normal distribution over positions. **Fields**: `mean`, shape `(dim,)`; `factor`, Cholesky, `(dim, dim)`."""

    mean: np.ndarray
    factor: np.ndarray

    @staticmethod
    def of(positions: np.ndarray) -> "NormalProposal":
        """Fit mean and covariance of positions of shape `(n, dim)`; few draws shrink correlations towards zero."""
        num_draws, dim = positions.shape
        mean, scale = positions.mean(axis=0), positions.std(axis=0, ddof=1)
        standard = (positions - mean) / scale
        correlation = standard.T @ standard / (num_draws - 1)
        least = 0.0 if num_draws >= _ENOUGH * dim else dim / (dim + num_draws)
        for share in (least, *(share for share in _SHARES if share > least)):
            try:
                factor = np.linalg.cholesky((1 - share) * correlation + share * np.eye(dim))
                break
            except np.linalg.LinAlgError:
                continue
        else:
            factor = np.eye(dim)
        return NormalProposal(mean, scale[:, None] * factor)

    def place(self, noise: np.ndarray) -> np.ndarray:
        """Map standard normal noise of shape `(..., dim)` to positions."""
        return self.mean + noise @ self.factor.T

    def noise(self, positions: np.ndarray) -> np.ndarray:
        """Map positions of shape `(..., dim)` to the noise that would give them."""
        away = (positions - self.mean).reshape(-1, len(self.mean)).T
        return solve_triangular(self.factor, away, lower=True).T.reshape(positions.shape)

    def log_prob(self, noise: np.ndarray) -> np.ndarray:
        """Compute the log density of positions from their noise, shape `(...)`."""
        volume = 0.5 * len(self.mean) * np.log(2 * np.pi) + np.log(np.diagonal(self.factor)).sum()
        return -0.5 * np.sum(noise**2, axis=-1) - volume


class OnDraws(NamedTuple):
    """Log ratios, posterior over proposal.

    **Fields**: `at_draws`, `(chain, draw)`; `at_proposals`, `(n,)`; `noise`, `(chain, draw, dim)`, that would give the
    draws, and `fitted`, likewise, of those by which the proposal was fitted; `is_warped`.
    """

    at_draws: np.ndarray
    at_proposals: np.ndarray
    noise: np.ndarray
    fitted: np.ndarray
    is_warped: bool


def ratios(
    heights: Heights, fitted: np.ndarray, positions: np.ndarray, rng: np.random.Generator, *, is_warped: bool
) -> OnDraws:
    """Evaluate posterior over proposal at draws, and at as many draws of the proposal.

    The warped posterior is the mean of the posterior and its image in the centre of the proposal: it has the same
    normalising constant and no skewness (Warp-III).

    **Arguments**: `fitted`, positions by which the proposal is fitted, shape `(chain, draw, dim)`; `positions`, those
    of the posterior, likewise.
    """
    dim = positions.shape[-1]
    proposal = NormalProposal.of(fitted.reshape(-1, dim))
    drawn = rng.standard_normal((positions.shape[0] * positions.shape[1], dim))

    def above(noise: np.ndarray, places: np.ndarray) -> np.ndarray:
        height = _known(heights(places))
        if is_warped:
            height = np.logaddexp(height, _known(heights(proposal.place(-noise)))) - np.log(2)
        return height - proposal.log_prob(noise)

    flat = positions.reshape(-1, dim)
    noise = proposal.noise(positions)
    at_draws = above(noise.reshape(-1, dim), flat).reshape(positions.shape[:2])
    return OnDraws(at_draws, above(drawn, proposal.place(drawn)), noise, proposal.noise(fitted), is_warped)


def bridged(found: OnDraws) -> Bridge:
    """Estimate the log normalising constant of the posterior by the optimal bridge, iteratively.

    `forward` is the mean of the ratio over proposals, and `backward` the inverse of its mean inverse over draws.

    **Source**: Meng & Wong (1996), Statistica Sinica 6, 831-860, eq. 4.1, for as many draws as proposals; the iteration
    as in Gronau et al. (2017), J. Mathematical Psychology 81, 80-97. Relative error: Frühwirth-Schnatter
    (2004), Econometrics Journal 7, 143-167, eq. 16; its part of the draws by their Monte Carlo error over all chains.
    """
    at_draws, at_proposals = found.at_draws, found.at_proposals
    shift = float(np.median(at_draws))
    count = len(at_proposals)
    # The same for both, also where draws are worth less than their number: errors are then nearer to the spread.
    log_own = log_other = float(np.log(0.5))

    def weighed(log_z: float) -> tuple[np.ndarray, np.ndarray]:
        """Return logs of p/(s1 p + s2 g) at proposals and of g/(s1 p + s2 g) at draws, up to `shift`."""
        proposals, draws = at_proposals - shift, at_draws - shift
        above = proposals - np.logaddexp(log_own + proposals, log_other + log_z)
        return above, -np.logaddexp(log_own + draws, log_other + log_z)

    log_z, is_settled = 0.0, False
    for _ in range(_MOST_ROUNDS):
        above, below = weighed(log_z)
        new = _log_mean(above) - _log_mean(below.ravel())
        if not np.isfinite(new):
            break
        is_settled = abs(new - log_z) < _TOLERANCE
        log_z = new
        if is_settled:
            break
    above, below = weighed(log_z)
    forward, backward = _log_mean(at_proposals), -_log_mean(-at_draws.ravel())
    if not np.isfinite(_log_mean(above)):  # no proposal is where the posterior is
        none = np.zeros(at_draws.shape)
        return Bridge(log_z + shift, np.inf, forward, backward, False, np.inf, none, none)
    share_above, share_below = np.exp(above + log_z), np.exp(below + log_z)
    error_above = float(share_above.var(ddof=1) / count / share_above.mean() ** 2)
    by_draws = -share_below / share_below.mean()
    error = np.sqrt(error_above + _variance(by_draws))
    weights = (
        -by_draws
        / by_draws.size
        * np.exp(log_own + at_draws - shift - np.logaddexp(log_own + at_draws - shift, log_other + log_z))
    )
    return Bridge(
        log_z + shift,
        float(error) if np.isfinite(error) else np.inf,
        forward,
        backward,
        is_settled,
        error_above,
        by_draws,
        _by_fit(found, weights),
    )


def error_of_both(one: Bridge, other: Bridge) -> float:
    """Compute the standard error of the mean of two bridges, of which each was fitted by the draws of the other.

    A half of the draws moves the one value as what is bridged, and the other as what the proposal is fitted to. Where
    the posterior is nearly normal both are the same product of two errors, one of each half, so that the values are
    correlated: without that, the error of a normal posterior is too small by a fifth.
    """
    if not np.isfinite([one.standard_error, other.standard_error]).all():
        return np.inf
    total = one.of_proposals + other.of_proposals
    for bridged_by, fitted_by in ((one.by_draws, other.by_fit), (other.by_draws, one.by_fit)):
        shared = 0.25 * (_variance(bridged_by + fitted_by) - _variance(bridged_by - fitted_by))
        total += _variance(bridged_by) + max(shared, 0.0)
    return float(0.5 * np.sqrt(total))


def _by_fit(found: OnDraws, weights: np.ndarray) -> np.ndarray:
    """Return by how much the value would move with each draw of the fit: by the score of the proposal.

    **Arguments**: `weights`, by how much the value would move with the log density of the proposal at each draw.
    """
    dim = found.noise.shape[-1]
    noise, weights = found.noise.reshape(-1, dim), weights.ravel()
    mean = np.zeros(dim) if found.is_warped else weights @ noise  # what is reflected in the centre has none
    square = (noise.T * weights) @ noise - weights.sum() * np.eye(dim)
    bent = np.einsum("...i,ij,...j->...", found.fitted, square, found.fitted) - np.trace(square)
    return -(found.fitted @ mean + 0.5 * bent)


def _variance(terms: np.ndarray) -> float:
    """Return the variance of the mean over all chains; of terms that are equal, it is zero."""
    is_exact = np.ptp(terms) < _ROUNDING * max(float(np.abs(terms).mean()), _ROUNDING)
    found = 0.0 if is_exact else float(mcse_mean(terms[..., None])[0]) ** 2
    return found if np.isfinite(found) else np.inf


def effective_draws(positions: np.ndarray) -> float:
    """Return the median over unknowns of the effective draws of positions of shape `(chain, draw, dim)`."""
    found = ess_mean(positions)
    known = found[np.isfinite(found)]
    total = float(positions.shape[0] * positions.shape[1])
    return float(np.clip(np.median(known), 1.0, total)) if known.size else total


def _known(heights: np.ndarray) -> np.ndarray:
    """Take what is no number for a density of zero: no chain goes there."""
    return np.where(np.isnan(heights), -np.inf, heights)


def _log_mean(terms: np.ndarray) -> float:
    return float(np.asarray(logsumexp(terms))) - float(np.log(terms.size))
