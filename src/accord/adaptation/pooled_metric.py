"""Learn one metric, and the least trajectory length, from the draws of all chains of an ensemble; on the host.

Chains that together hold many draws need few each: updates begin after five draws of warm-up, and the last third of it
is left to the step size and the trajectory length.

**Source**: the least length is that of BlackJAX 1.7's ChEES adaptation: a quarter of the period of the widest direction
that is left after whitening, as the longest trajectory. Dropping chains that have not arrived is our own.
"""

import functools

import numpy as np

from . import metric as metrics
from .metric import Metric
from .schedule import Update, updates_at

_FIRST, _GROWTH, _SETTLE = 5, 1.3, 0.3
_MOST_ROWS = 4096  # draws that are looked at: beyond, more of them change no metric
_FAR = 8.0  # robust standard deviations of log density below the median at which a chain is left out


@functools.lru_cache(maxsize=64)
def metric_updates(num_warmup: int) -> tuple[Update, ...]:
    """Return the updates of a warm-up of `num_warmup` draws; none below 20."""
    if num_warmup < 20:
        return ()
    last = num_warmup - int(_SETTLE * num_warmup)
    indices, at = [], _FIRST
    while at < last:
        indices.append(at)
        at = max(at + _FIRST, int(at * _GROWTH))
    if last - indices[-1] < _FIRST and len(indices) > 1:
        indices.pop()
    return updates_at([*indices, last], num_warmup)


def learn(
    positions: np.ndarray, gradients: np.ndarray, log_densities: np.ndarray, previous: Metric, form: str
) -> tuple[Metric, metrics.Choice | None, float]:
    """Learn the metric, its choice, and the least mean trajectory length from draws and gradients `(chain, draw, dim)`.

    `log_densities`, shape `(chain,)`, belong to the current positions; `form` and the choice are as for
    `metric.learn_metric`.
    """
    kept = _has_arrived(log_densities)
    x, g = positions[kept], gradients[kept]
    wanted = max(_MOST_ROWS // max(len(x), 1), 1)
    places = np.unique(np.linspace(0, x.shape[1] - 1, min(wanted, x.shape[1])).round().astype(int))
    # One chain after the other: the parts on which a metric is tried are then different chains.
    x, g = (array[:, places].reshape(-1, array.shape[2]) for array in (x, g))
    is_finite = np.isfinite(x).all(1) & np.isfinite(g).all(1)
    x, g = x[is_finite], g[is_finite]
    # Trajectories are as long as the widest direction wants: nothing turns before it.
    metric, choice = metrics.learn_metric(x, g, previous, form, turns=False)
    return metric, choice, least_length(x, metric)


def least_length(x: np.ndarray, metric: Metric) -> float:
    """Compute pi / 4 times the largest standard deviation of whitened draws, `(draw, dim)`."""
    if len(x) < 2:
        return 0.0
    y = (np.asarray(x, np.float64) - x.mean(0)) / np.asarray(metric.scale, np.float64)
    if not metric.is_diagonal:
        factor = np.asarray(metric.factor, np.float64)
        y = y + (y @ factor) * (1 / (1 + np.asarray(metric.stretch, np.float64)) - 1) @ factor.T
    # The norm of the smaller Gram matrix is that of the covariance.
    gram = (y.T @ y if y.shape[1] <= y.shape[0] else y @ y.T) / (len(y) - 1)
    largest = np.linalg.eigvalsh(gram)[-1] if np.isfinite(gram).all() else 0.0
    return float(np.pi / 4 * np.sqrt(max(largest, 0.0)))


def _has_arrived(log_densities: np.ndarray) -> np.ndarray:
    """Return which chains are not far below the others, shape `(chain,)`; a chain on a plateau distorts the scale."""
    values = np.asarray(log_densities, np.float64)
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    return values >= middle - _FAR * max(float(spread), 1.0)
