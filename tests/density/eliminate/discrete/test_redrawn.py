"""Discrete unknowns are drawn at once from their distribution given all else, whatever ties them.

Against the density at each combination of values. Each test is of a chi-square with 20 expected in each bin at least,
and fails where its p-value is below 1e-9, its false-alarm rate: 29 tests.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brute_force import BruteForce
from discrete_models import CASES, X
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.position import Position
from accord.density import LogDensity
from accord.density.eliminate.discrete.redrawn import Redraw, moved

NUM_DRAWS = 20_000
MIN_P_VALUE = 1e-9


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@ac.model
def weighted(x: Any) -> None:
    """Priors of which some do not count, and powers of probabilities."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("n", 2):
        with handlers.mask(mask=np.array([True, False])):
            z = ac.sample("z", dist.Categorical(np.array([0.7, 0.2, 0.1])))
        with handlers.scale(scale=np.array([2.0, 0.5])):
            w = ac.sample("w", dist.Bernoulli(0.2 + 0.2 * z))
            ac.sample("x", dist.Normal(a * z + w, 1.0), obs=x)


@ac.model
def apart(x: Any) -> None:
    """Entries that nothing ties: of other supports each, and of which one is observed."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("n", 2):
        w = ac.sample("w", dist.DiscreteUniform(np.array([1, 3]), np.array([2, 5])))
        ac.sample("x", dist.Normal(a * w, 1.0), obs=x)
    with ac.plate("m", 3):
        is_known = np.array([True, False, False])
        k = ac.sample(
            "k", dist.Categorical(np.array([0.2, 0.3, 0.5])), obs=np.array([1, 0, 0]), obs_mask=is_known
        )
        ac.factor("f", a * k)


@ac.model
def crossed(x: Any) -> None:
    """Labels of rows and columns, each independent given the other alone."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("row", 3, dim=-2):
        z = ac.sample("z", dist.Bernoulli(0.4))
    with ac.plate("column", 2, dim=-1):
        w = ac.sample("w", dist.Categorical(np.array([0.5, 0.3, 0.2])))
        with ac.plate("row", 3, dim=-2):
            ac.sample("x", dist.Normal(a * z * w + w, 1.0), obs=x)


MODELS: dict[str, tuple[Any, Any]] = {
    **CASES,
    "entries apart": (apart(X), {"w": (range(1, 6), (2,)), "k_unobserved": (range(3), (2,))}),
    "masks and scales": (weighted(X), {"z": (range(3), (2,)), "w": (range(2), (2,))}),
}
FAST = ("entries apart", "masks and scales")
SEPARATE = ("entries apart", "a plate")


class Case:
    """A density of which all discrete sites are unknowns, at a position of the others, and all combinations."""

    def __init__(self, model: Any, supports: Any, names: Any = ...) -> None:
        self.density = LogDensity.from_model(model, whole_if_discrete=names)
        self.free = jnp.linspace(-0.4, 0.7, self.density.dim)
        values = BruteForce(model, supports).values
        entries = self.density.layout.whole
        rows = np.concatenate([values[e.name].reshape(len(values[e.name]), -1) for e in entries], axis=1)
        self.rows = np.unique(rows, axis=0)
        self.names = tuple(entry.name for entry in entries)
        log_densities = jax.jit(jax.vmap(lambda row: self.density(Position(self.free, row))))(
            jnp.asarray(self.rows)
        )
        self.weights = np.asarray(jax.nn.softmax(log_densities))

    def drawn(self, redraw: Redraw, starts: Any, is_metropolised: bool) -> np.ndarray:
        def draw(start: Any, words: Any) -> Any:
            at = Position(self.free, start)
            return redraw.drawn(self.density, at, words, is_metropolised=is_metropolised).whole

        words = np.random.default_rng(5).integers(0, 2**32, (len(starts), 2), np.uint32)
        return np.asarray(jax.jit(jax.vmap(draw))(jnp.asarray(starts), jnp.asarray(words)))

    def p_value(self, drawn: np.ndarray) -> float:
        """Compare shares of combinations; the rare ones count as one."""
        number = {tuple(row): i for i, row in enumerate(self.rows.tolist())}
        found = np.bincount([number[tuple(row)] for row in drawn.tolist()], minlength=len(self.rows))
        assert not np.any(found[self.weights == 0])
        bins, at_hand = [np.zeros(2)], self.weights * len(drawn)
        for number in np.argsort(at_hand):
            bins[-1] = bins[-1] + [found[number], at_hand[number]]
            if bins[-1][1] >= 20:
                bins.append(np.zeros(2))
        counts, expected = np.array(
            bins[:-1]
        ).T  # the most probable combinations come last, so that none is left
        return float(stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1))


@pytest.fixture(
    params=[each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in MODELS],
    scope="module",
)
def case(request: Any) -> tuple[str, Case]:
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return request.param, Case(*MODELS[request.param])


def test_draws_have_the_probabilities(case: Any) -> None:
    """From one start, which is the least probable."""
    name, each = case
    redraw, _ = Redraw.of(each.density, each.names)
    assert redraw.is_separate == (name in SEPARATE)
    start = each.rows[np.argmin(np.where(each.weights > 0, each.weights, 2))]
    drawn = each.drawn(redraw, np.tile(start, (NUM_DRAWS, 1)), is_metropolised=False)
    assert each.p_value(drawn) > MIN_P_VALUE


def test_moves_keep_the_probabilities(case: Any) -> None:
    """Starts have the exact probabilities, and so have the draws; entries that are apart move more often."""
    name, each = case
    redraw, _ = Redraw.of(each.density, each.names)
    starts = each.rows[np.random.default_rng(6).choice(len(each.rows), NUM_DRAWS, p=each.weights)]
    drawn = each.drawn(redraw, starts, is_metropolised=True)
    assert each.p_value(drawn) > MIN_P_VALUE
    if name in SEPARATE:
        plain = each.drawn(redraw, starts, is_metropolised=False)
        assert np.mean(drawn != starts) > np.mean(plain != starts)


def test_a_site_is_drawn_given_the_others() -> None:
    """Labels of rows given those of columns, which tie them if both are drawn."""
    x = np.array([[0.1, 1.2], [1.0, -0.4], [2.0, 0.3]])
    each = Case(crossed(x), {"z": (range(2), (3, 1)), "w": (range(3), (2,))})
    redraw, _ = Redraw.of(each.density, ["z"])
    assert redraw.is_separate
    start = np.array([1, 0, 1, 2, 1], np.int32)
    drawn = each.drawn(redraw, np.tile(start, (NUM_DRAWS, 1)), is_metropolised=False)
    is_same = np.all(each.rows[:, 3:] == start[3:], axis=1)
    each.weights = np.where(is_same, each.weights, 0) / each.weights[is_same].sum()
    assert each.p_value(drawn) > MIN_P_VALUE


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("another order", ["z"]),
        pytest.param("labels of groups", ["z", "u"], marks=pytest.mark.slow),
        pytest.param("two chains in plates", ["w", "c"], marks=pytest.mark.slow),
    ],
)
def test_sites_are_drawn_where_others_are_summed_out(name: str, names: list[str]) -> None:
    each = Case(*CASES[name], names)
    redraw, _ = Redraw.of(each.density, each.names)
    drawn = each.drawn(redraw, np.tile(each.rows[0], (NUM_DRAWS, 1)), is_metropolised=True)
    assert each.p_value(drawn) > MIN_P_VALUE


def test_a_move_has_the_probabilities_of_the_formula() -> None:
    """Compare nine shares of 40,000 moves from each value, within six standard errors: 2e-9 of false alarm each."""
    p, count = np.array([0.7, 0.2, 0.1]), 40_000
    levels = jnp.asarray(np.random.default_rng(7).uniform(size=(3, count)))
    log_probs = jnp.broadcast_to(jnp.log(p)[:, None] + 3.0, (3, count))
    for start in range(3):
        found = np.asarray(moved(log_probs, jnp.full(count, start), levels))
        move = 0.75 * np.minimum(p / (1 - p[start]), p / (1 - p)) + 0.25 * p
        move[start] = 0
        move[start] = 1 - move.sum()
        error = np.sqrt(move * (1 - move) / count)
        assert np.all(np.abs(np.bincount(found, minlength=3) / count - move) < 6 * error)


def test_no_move_cancels_and_none_goes_to_what_is_impossible() -> None:
    """From a value of probability 1e-20 the certain one is taken at once; a value that is alone is never left."""
    levels = jnp.asarray(np.random.default_rng(8).uniform(size=(3, 1000)))
    for log_probs, start, end in (
        ([0.0, -46.0, -47.0], 2, 0),
        ([0.0, -46.0, -47.0], 0, 0),
        ([-np.inf, 0.0, -np.inf], 1, 1),
        ([-np.inf, -np.inf, -800.0], 2, 2),
        ([-800.0, -np.inf, 0.0], 2, 2),
    ):
        at = jnp.broadcast_to(jnp.asarray(log_probs)[:, None], (3, 1000))
        assert np.all(np.asarray(moved(at, jnp.full(1000, start), levels)) == end)
