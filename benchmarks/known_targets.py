"""Compare every kernel with averages that are known, over two million effective draws.

    python benchmarks/known_targets.py [--ess 2e6] [--only NAME ...]

Runs of 4 chains are repeated with other seeds until the quantity with the fewest effective draws has enough of them. A
score is the distance of an average from the truth, in standard errors that come from the spread of chain means: of the
scores in a row, the largest is shown, which should be about 2 to 3, and which 1 of 10,000 sound rows takes above 4.7.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.kernels import AbstractKernel

CHAINS = 4
FEWEST = 8  # runs, so that a standard error is known to 12%


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


# Target, kernel, draws of a chain in a run.
ROWS: dict[str, tuple[Target, Callable[[], AbstractKernel], int]] = {
    "NUTS": (FOUR, infer.NUTS, 100_000),
    "HMC": (FOUR, infer.HMC, 100_000),
    "MALA": (FOUR, infer.MALA, 200_000),
    "Barker": (FOUR, infer.Barker, 200_000),
    "RandomWalk": (FOUR, infer.RandomWalk, 400_000),
    "RandomWalk, robust": (FOUR, lambda: infer.RandomWalk(metric="robust"), 400_000),
    "Metropolis": (NORMAL, lambda: infer.Metropolis(lambda at: dist.StudentT(4.0, at, 1.5)), 200_000),
    "Slice": (FOUR, infer.Slice, 50_000),
    "EllipticalSlice": (NORMAL, lambda: infer.EllipticalSlice(mean=3.0, scale=2.0), 100_000),
    "Repeat": (FOUR, lambda: infer.Repeat(infer.RandomWalk(), 5), 100_000),
    "Mixture": (FOUR, lambda: infer.Mixture({infer.HMC(): 0.5, infer.RandomWalk(): 0.5}), 100_000),
    "Gibbs": (FOUR, lambda: infer.Gibbs({("share", "x"): infer.NUTS(), ...: infer.Slice()}), 50_000),
    "Gibbs and DiscreteGibbs": (
        LABELS,
        lambda: infer.Gibbs({"label": infer.DiscreteGibbs(), ...: infer.NUTS()}),
        200_000,
    ),
    "Tempered": (MODES, lambda: infer.Tempered(infer.HMC(), temperatures=6), 100_000),
}


def row(name: str, wanted: float) -> str:
    """Return a row of the table."""
    target, kernel, num_draws = ROWS[name]
    truth, variance = np.array(target.means), np.array(target.variances)
    began, found, seed = time.perf_counter(), [], 0
    while True:
        draws = infer.sample(
            target.model(), kernel(), draws=num_draws, chains=CHAINS, seed=seed, progress=False, quiet=True
        )
        found.append(np.stack([np.mean(each, 1) for each in target.quantities(draws)], -1))
        seed += 1
        means = np.concatenate(found)
        if seed < FEWEST:
            continue
        errors = means.std(0, ddof=1) / np.sqrt(len(means))
        least = np.min(variance / errors**2)
        if least > wanted:
            break
    scores = (means.mean(0) - truth) / errors
    seconds = time.perf_counter() - began
    return (
        f"| {name} | {seed * CHAINS * num_draws:.1e} | {least:.1e} | {np.abs(scores).max():.1f} of {len(scores)} | "
        f"{seconds:.0f} |"
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ess", type=float, default=2e6)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    options = parser.parse_args()
    print("| kernel | draws | effective draws, at least | largest score | seconds |\n|---|---|---|---|---|")
    for name in options.only:
        print(row(name, options.ess), flush=True)


if __name__ == "__main__":
    main()
