"""Compare long runs with targets whose averages are known, and see planted bugs rejected by the same comparison.

Each comparison is of the mean, the mean square (for the standard deviation) and the probabilities below the true 5%,
50% and 95% points (for the quantiles), within 4 Monte Carlo errors: a false alarm in 6.3e-5 of each (1.1e-4 in the
short table, whose errors come from 128 batches) and, by Bonferroni, in 2e-2 of both tables together. Keys are fixed,
and a line that fails is drawn once more: a false alarm in 9e-6 of runs.
Coordinates that are alike are pooled, which counts each as a draw of its own; that no coordinate strays alone is tested
with the chi-square of their means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import once_more_in_doubt
from measure import Average, average, plan_for
from scipy import special, stats

from accord.kernels import HMC, MALA, NUTS, AbstractKernel, Barker, ChEES, Ensemble, RandomWalk, Slice
from accord.kernels.momentum import product
from accord.kernels.trajectory import Checkpoints

PROBABILITIES = np.array([0.05, 0.5, 0.95])
MAX_SCORE = 4.0


@dataclass(frozen=True)
class Target:
    """A log density of which every coordinate, after `constrain`, has the distribution `marginal`."""

    dim: int
    log_density: Callable[[jax.Array], jax.Array]
    marginal: Any
    constrain: Callable[[np.ndarray], np.ndarray] = lambda x: x

    def quantities(self, x: np.ndarray) -> np.ndarray:
        """What is compared, averaged over coordinates, and behind it the coordinates themselves; `(draw, quantity)`."""
        y = self.constrain(x)
        below = [np.mean(y < cut, 1) for cut in self.marginal.ppf(PROBABILITIES)]
        return np.column_stack([np.mean(y, 1), np.mean(y * y, 1), *below, y])

    @property
    def truth(self) -> np.ndarray:
        """Their true averages."""
        mean, variance = self.marginal.stats("mv")
        return np.concatenate([[mean, variance + mean**2], PROBABILITIES, np.full(self.dim, mean)])


def normal(dim: int, correlation: float = 0.0) -> Target:
    """Unit variances and one correlation between all coordinates."""
    covariance = np.full((dim, dim), correlation) + (1 - correlation) * np.eye(dim)
    precision = np.linalg.inv(covariance)
    return Target(dim, lambda x: -0.5 * x @ (jnp.asarray(precision) @ x), stats.norm())


def beta(a: float, b: float, jacobian_sign: int = 1) -> Target:
    """A beta distribution sampled as log(y / (1 - y))."""

    def log_density(x: jax.Array) -> jax.Array:
        log_y, log_rest = jax.nn.log_sigmoid(x[0]), jax.nn.log_sigmoid(-x[0])
        return (a - 1) * log_y + (b - 1) * log_rest + jacobian_sign * (log_y + log_rest)

    return Target(1, log_density, stats.beta(a, b), special.expit)


def cut(marginal: Any, is_inside: Callable[[jax.Array], jax.Array], outside: float) -> Target:
    """A standard normal on a part of the line; in the rest its log density is `outside`."""
    return Target(1, lambda x: jnp.where(is_inside(x[0]), -0.5 * x[0] ** 2, outside), marginal)


TARGETS: dict[str, Callable[[], Target]] = {
    "normal of dimension 1": lambda: normal(1),
    "normal of dimension 10": lambda: normal(10),
    "normal of dimension 100": lambda: normal(100),
    "normal with correlation 0.99": lambda: normal(2, 0.99),
    "normal with correlation 0.9": lambda: normal(2, 0.9),
    "Student t with 5 degrees of freedom": lambda: Target(
        1, lambda x: -3 * jnp.log1p(x[0] ** 2 / 5), stats.t(5)
    ),
    "beta": lambda: beta(2.5, 4.0),
    "half-normal": lambda: cut(stats.halfnorm(), lambda x: x > 0, -np.inf),
    "normal, NaN above 1": lambda: cut(stats.truncnorm(-np.inf, 1), lambda x: x <= 1, np.nan),
}

# Target, kernel, lanes, chains, draws of each chain.
LONG: list[tuple[str, AbstractKernel, int, int, int]] = [
    ("normal of dimension 1", NUTS(), 32, 32, 200_000),
    ("normal of dimension 10", NUTS(), 1, 2, 250_000),
    ("normal of dimension 100", NUTS(), 1, 2, 60_000),
    ("normal with correlation 0.99", NUTS(), 32, 32, 75_000),
    ("Student t with 5 degrees of freedom", NUTS(), 32, 32, 330_000),
    ("beta", NUTS(), 32, 32, 260_000),
    ("normal of dimension 1", HMC(), 32, 32, 200_000),
    ("normal of dimension 10", HMC(), 8, 8, 120_000),
    ("normal with correlation 0.99", HMC(), 32, 32, 100_000),
    ("beta", HMC(), 32, 32, 150_000),
    ("normal of dimension 10", ChEES(), 64, 64, 20_480),
    ("normal of dimension 100", ChEES(), 64, 64, 2_560),
    ("normal with correlation 0.99", ChEES(), 64, 64, 81_920),
    ("beta", ChEES(), 64, 64, 204_800),
]
SHORT: list[tuple[str, AbstractKernel, int, int, int]] = [
    ("normal of dimension 10", NUTS(), 1, 2, 16_384),
    ("normal of dimension 10", NUTS(), 8, 8, 4096),
    ("Student t with 5 degrees of freedom", NUTS(), 8, 8, 16_384),
    ("beta", NUTS(), 8, 8, 16_384),
    ("normal with correlation 0.99", HMC(), 8, 8, 8192),
    ("normal of dimension 10", ChEES(), 64, 64, 512),
    ("normal with correlation 0.99", ChEES(), 64, 64, 2048),
    ("normal with correlation 0.99", RandomWalk(), 8, 8, 65_536),
    ("normal with correlation 0.99", RandomWalk(metric="robust"), 8, 8, 65_536),
    ("normal with correlation 0.99", MALA(), 8, 8, 8192),
    ("beta", MALA(), 8, 8, 8192),
    ("normal with correlation 0.99", Barker(), 8, 8, 16_384),
    ("beta", Barker(), 8, 8, 16_384),
    ("half-normal", Barker(), 8, 8, 24_576),
    ("normal, NaN above 1", Barker(), 8, 8, 24_576),
    ("normal with correlation 0.9", Slice(), 8, 8, 16_384),
    ("beta", Slice(), 8, 8, 6144),
    ("half-normal", Slice(), 8, 8, 8192),
    ("normal, NaN above 1", Slice(), 8, 8, 8192),
    ("normal with correlation 0.99", Ensemble("differential"), 8, 8, 49_152),
    ("beta", Ensemble("slice"), 8, 8, 8192),
    ("normal, NaN above 1", Ensemble("differential"), 8, 8, 32_768),
]


@pytest.mark.parametrize(("name", "kernel", "lanes", "chains", "draws"), SHORT, ids=str)
@once_more_in_doubt(0, 1)
def test_averages_are_right(
    name: str, kernel: AbstractKernel, lanes: int, chains: int, draws: int, seed: int
) -> None:
    target = TARGETS[name]()
    _assert_right(target, _average(target, kernel, lanes, chains, draws, seed=seed), 2e4)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel", "lanes", "chains", "draws"), LONG, ids=str)
@once_more_in_doubt(0, 1)
def test_averages_over_two_million_effective_draws_are_right(
    name: str, kernel: AbstractKernel, lanes: int, chains: int, draws: int, seed: int
) -> None:
    target = TARGETS[name]()
    batch = 1 if target.dim == 100 else 8
    found = _average(target, kernel, lanes, chains, draws, batch, seed)
    _assert_right(target, found, 2e6)


def _too_wide(name: str) -> Target:
    """Draws have a standard deviation 5% too large."""
    target = TARGETS[name]()
    return Target(target.dim, lambda x: target.log_density(x / 1.05), target.marginal)


@pytest.mark.parametrize(
    "name", [pytest.param("normal of dimension 10", marks=pytest.mark.slow), "normal with correlation 0.99"]
)
def test_draws_that_are_five_percent_too_wide_are_rejected(name: str) -> None:
    _assert_wrong(_too_wide(name), NUTS(), 8, 4096)


@pytest.mark.slow  # simulation-based calibration finds it too
def test_the_wrong_sign_of_a_jacobian_is_rejected() -> None:
    _assert_wrong(beta(2.5, 4.0, jacobian_sign=-1), NUTS(), 8, 4096)


def _without_the_edge(edges: Checkpoints, metric: Any, leaf: Any, momentum: Any, total: Any) -> Any:
    """Leave the left edge of each balanced part out of its sum, but not the right one."""
    shifted = Checkpoints(edges.first, edges.total + edges.first, edges.before)
    return _is_turning(shifted, metric, leaf, momentum, total)


_is_turning = Checkpoints.is_turning


def _only_the_newest_end(metric: Any, first: Any, last: Any, total: Any) -> Any:
    """Ask the end that has just been grown, and not the other."""
    del first
    return ~(product(metric, last, total) > 0)


TURNS: dict[str, tuple[int, Sequence[tuple[str, Any]]]] = {
    "sums without the left edge of each part": (
        32_768,
        [("accord.kernels.trajectory.Checkpoints.is_turning", _without_the_edge)],
    ),
    "the newest end only": (
        4096,
        [
            ("accord.kernels.trajectory.is_turning", _only_the_newest_end),
            ("accord.kernels.nuts.is_turning", _only_the_newest_end),
        ],
    ),
}


@pytest.mark.parametrize(
    "name",
    ["the newest end only", pytest.param("sums without the left edge of each part", marks=pytest.mark.slow)],
)
def test_a_turn_looked_for_at_the_wrong_edge_is_rejected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draws, planted = TURNS[name]
    for path, function in planted:
        monkeypatch.setattr(path, function)
    _assert_wrong(normal(10), NUTS(), 8, draws)


def _average(
    target: Target,
    kernel: AbstractKernel,
    lanes: int,
    chains: int,
    draws: int,
    batch: int = 1,
    seed: int = 0,
) -> Average:
    plan = plan_for(kernel, target.log_density, target.dim, num_draws=draws, lanes=lanes, seed=seed)
    return average(plan, chains, target.quantities, batch)


def _assert_right(target: Target, found: Average, min_effective: float) -> None:
    scores = found.score(target.truth)
    pooled, single = scores[:5], scores[5:]
    effective = target.dim * found.effective[:5]  # draws of one coordinate
    print(f"scores {np.round(pooled, 2)}, effective {np.round(effective / 1e6, 3)} million", end=" ")
    print(f"gradients {found.num_gradients / 1e6:.2f} million")
    assert np.all(effective > min_effective), effective
    assert np.all(np.abs(pooled) < MAX_SCORE), pooled
    if target.dim in (10, 100):  # independent coordinates
        assert stats.chi2.sf(np.sum(single**2), target.dim) > 6e-5, single


def _assert_wrong(target: Target, kernel: AbstractKernel, lanes: int, draws: int) -> None:
    """The comparison fails, and not for want of effective draws."""
    found = _average(target, kernel, lanes, lanes, draws)
    scores = found.score(target.truth)[:5]
    print(f"scores {np.round(scores, 1)}")
    assert np.max(np.abs(scores)) > 1.5 * MAX_SCORE, scores
