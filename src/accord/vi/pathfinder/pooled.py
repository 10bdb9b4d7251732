"""Pool the draws of paths, weigh them, and resample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ...core import keys
from ...report.weights import effective_size, smoothed
from .normal import Normal
from .stored import Ended

_FIRST = 0  # of the chain's key: the random numbers of the pool are those of no path's


@dataclass(frozen=True, eq=False)
class Pool:
    """Draws of all paths.

    **Fields**
    - `paths`, that have draws, and `normals`, of each.
    - `log_weights`: shape `(candidate,)`: log density less that of the mixture of the normals.
    - `chosen`: shape `(draw,)`: the draws that were resampled, by their place among all.
    - `pareto_k` of the weights; `effective`, how many draws these are worth.
    - `bounds`, `errors`: by number of the path, its evidence lower bound, and the standard error.
    """

    paths: tuple[Ended, ...]
    normals: tuple[Normal, ...]
    log_weights: np.ndarray
    chosen: np.ndarray
    pareto_k: float
    effective: float
    bounds: dict[int, float]
    errors: dict[int, float]

    @staticmethod
    def of(ended: Sequence[Ended], seed: int, num_draws: int) -> "Pool":
        """Pool paths, and resample so many draws.

        Weights are over the mixture of all normals: over the normal of its own path, a draw would count as often as
        paths have come to its mode.

        Draws where nothing is finite have the weight zero, and are not chosen unless all are such.
        """
        known = [(each, each.trail.best) for each in ended if len(each.log_density)]
        paths = tuple(path for path, best in known if best is not None)
        normals = tuple(best for _, best in known if best is not None)
        if not paths:
            none = np.zeros(0)
            return Pool((), (), none, none.astype(int), np.nan, np.nan, {}, {})
        counts = np.array([len(path.log_density) for path in paths])
        positions = np.concatenate([path.positions for path in paths]).astype(float)
        log_q = np.stack([normal.log_prob(positions) for normal in normals])
        mixture = logsumexp(log_q + np.log(counts / counts.sum())[:, None], axis=0)
        log_p = np.concatenate([path.log_density for path in paths])
        log_weights = log_p - mixture
        smooth, pareto_k = smoothed(log_weights)
        bounds, errors = {}, {}
        for place, (path, last) in enumerate(zip(paths, np.cumsum(counts), strict=True)):
            rows = slice(last - counts[place], last)
            own = log_p[rows] - log_q[place, rows]
            is_known = bool(np.isfinite(own).all())
            bounds[path.number] = float(np.mean(own))
            errors[path.number] = float(np.std(own) / np.sqrt(len(own))) if is_known else np.nan
        return Pool(
            paths,
            normals,
            log_weights,
            _resampled(np.exp(smooth), seed, num_draws),
            pareto_k,
            effective_size(log_weights),
            bounds,
            errors,
        )


def _resampled(weights: np.ndarray, seed: int, num_draws: int) -> np.ndarray:
    """Choose with replacement, each draw by a random number of its own; shape `(draw,)`."""
    generator = keys.generator(keys.chain_key(seed, _FIRST), keys.USE_RESAMPLE, 0)
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, generator.random(num_draws) * ends[-1], side="right")
    return np.minimum(found, np.flatnonzero(weights)[-1])
