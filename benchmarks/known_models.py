"""Define models whose posteriors have averages that are known, for `known_targets.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy import stats

import accord as ac
import accord.distributions as dist


@dataclass(frozen=True)
class Target:
    """A model, and of some quantities, computed from its draws, their names, true means and true variances."""

    model: Callable[[], Any]
    quantities: Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]
    means: tuple[float, ...]
    variances: tuple[float, ...]


@ac.model
def four() -> None:
    """Unknowns on an interval, a half-line and the plane, two of them correlated."""
    ac.sample("share", dist.Beta(2.5, 4.0))
    ac.sample("rate", dist.Gamma(3.0, 2.0))
    x = ac.sample("x", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(0.8 * x, 0.6))


@ac.model
def normal_prior() -> None:
    """A normal prior and a normal likelihood: the posterior is N(1.4, 0.8)."""
    x = ac.sample("x", dist.Normal(3, 2))
    ac.sample("seen", dist.Normal(x, 1), obs=1.0)


@ac.model
def two_modes() -> None:
    """A posterior of two normal modes, of weights 0.2 and 0.8."""
    x = ac.sample("x", dist.Normal(0, 10))
    left, right = dist.Normal(-5, 0.5).log_prob(x), dist.Normal(5, 0.5).log_prob(x)
    ac.factor("likelihood", jnp.logaddexp(jnp.log(0.2) + left, jnp.log(0.8) + right))


LOCS, SHARES = np.array([-2.0, 0.0, 2.0, 4.0]), np.array([0.15, 0.3, 0.3, 0.25])


@ac.model
def labelled() -> None:
    """A discrete unknown with four values, and a normal one given it."""
    label = ac.sample("label", dist.Categorical(SHARES))
    ac.sample("x", dist.Normal(jnp.asarray(LOCS)[label], 1.0))


def _bernoulli(p: Any) -> tuple[float, ...]:
    return tuple(np.ravel(np.multiply(p, np.subtract(1, p))))


_SHARE, _RATE = stats.beta(2.5, 4), stats.gamma(3, scale=0.5)
_LEVELS = (0.05, 0.5, 0.95)
FOUR = Target(
    four,
    lambda d: [
        d["share"],
        d["rate"],
        d["x"],
        d["y"],
        d["x"] * d["y"],
        *(d["y"] < stats.norm.ppf(level) for level in _LEVELS),
        *(d["rate"] < _RATE.ppf(level) for level in _LEVELS),
    ],
    (_SHARE.mean(), _RATE.mean(), 0.0, 0.0, 0.8, *_LEVELS, *_LEVELS),
    (_SHARE.var(), _RATE.var(), 1.0, 1.0, 1.64, *_bernoulli(_LEVELS), *_bernoulli(_LEVELS)),
)
_POSTERIOR = stats.norm(1.4, np.sqrt(0.8))
NORMAL = Target(
    normal_prior,
    lambda d: [d["x"], (d["x"] - 1.4) ** 2, *(d["x"] < _POSTERIOR.ppf(level) for level in _LEVELS)],
    (1.4, 0.8, *_LEVELS),
    (0.8, 2 * 0.8**2, *_bernoulli(_LEVELS)),
)
_VARIANCE = 1 / (0.01 + 4)  # of a mode, whose mean is 20 times that
MODES = Target(
    two_modes,
    lambda d: [d["x"] > 0, (np.abs(d["x"]) - 20 * _VARIANCE) ** 2],
    (0.8, _VARIANCE),
    (0.16, 2 * _VARIANCE**2),
)
LABELS = Target(
    labelled,
    lambda d: [d["x"], d["x"] ** 2, *(d["label"] == k for k in range(4)), d["x"] * (d["label"] == 3)],
    (1.3, 6.8, *SHARES, 1.0),
    (5.11, 62.76, *_bernoulli(SHARES), 3.25),
)


@ac.model
def label_alone() -> None:
    """A discrete unknown that begins at three, and nothing else."""
    label = ac.sample("label", dist.DiscreteUniform(3, 5))
    ac.sample("seen", dist.Normal(label, 1.0), obs=4.0)


COUNTS = np.random.default_rng(0).poisson(3.0, 400)


@ac.model
def counts(seen: Any, size: int | None = None) -> None:
    """A gamma prior and counts of which a step takes some: the posterior is a gamma distribution."""
    rate = ac.sample("rate", dist.Gamma(2.0, 1.0))
    with ac.plate("row", len(seen), subsample_size=size):
        ac.sample("seen", dist.Poisson(rate), obs=ac.subsample(seen))


_ENDS = np.exp(-0.5) / (1 + 2 * np.exp(-0.5))
ALONE = Target(
    label_alone,
    lambda d: [d["label"] == k for k in (3, 4, 5)],
    (_ENDS, 1 - 2 * _ENDS, _ENDS),
    _bernoulli((_ENDS, 1 - 2 * _ENDS, _ENDS)),
)
_GAMMA = stats.gamma(2 + COUNTS.sum(), scale=1 / (1 + len(COUNTS)))
ROWS_OF_COUNTS = Target(
    lambda: counts(COUNTS, 20),
    lambda d: [
        d["rate"],
        (d["rate"] - _GAMMA.mean()) ** 2,
        *(d["rate"] < _GAMMA.ppf(level) for level in _LEVELS),
    ],
    (_GAMMA.mean(), _GAMMA.var(), *_LEVELS),
    (_GAMMA.var(), (2 + float(_GAMMA.stats(moments="k"))) * _GAMMA.var() ** 2, *_bernoulli(_LEVELS)),
)
