"""Begin where the mass is: climbs from several places tell heights that are far apart."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.density import LogDensity
from accord.mcmc.machine import Machine
from accord.mcmc.start import search, summits
from accord.mcmc.start.ascent import MAX_TURNS, Climb, Place, ascend, begin
from accord.mcmc.start.evaluate import Evaluator
from accord.mcmc.start.masses import around, curvature, is_same_top, log_mass
from accord.mcmc.start.table import TablePoints
from accord.mcmc.start.uniform import UniformPoints

QUIET = dict(progress=False, quiet=True)


def normal(x):
    """Widths from 0.03 to 3, neighbours correlated."""
    scaled = x / jnp.logspace(-1.5, 0.5, x.shape[0])
    return -0.5 * (jnp.sum(scaled**2) + 0.9 * jnp.sum(scaled[1:] * scaled[:-1]))


def student(x):
    return -3 * jnp.sum(jnp.log1p(x**2 / 5))


def banana(x):
    return -0.5 * x[0] ** 2 - 5 * (x[1] - x[0] ** 2) ** 2


def bounded(x):
    """Not finite on one side of its top."""
    return jnp.sum(jnp.log(1 - x) + 0.1 * x)


ARRIVES = {"normal": (normal, 6), "student": (student, 4), "banana": (banana, 2), "bounded": (bounded, 3)}


def place_at(function: Callable) -> Callable[[np.ndarray], Place]:
    evaluate = jax.jit(jax.value_and_grad(function))

    def place(position: np.ndarray) -> Place:
        height, gradient = evaluate(position)
        return Place(position, float(height), np.asarray(gradient))

    return place


def climb(function: Callable, places: np.ndarray) -> tuple[list[Climb], int]:
    """The ends of climbs from some places, and how often the function was asked."""
    place, calls = place_at(function), []

    def ask(positions: Mapping[int, np.ndarray]) -> dict[int, Place]:
        calls.append(len(positions))
        return {name: place(position) for name, position in positions.items()}

    found = begin({number: place(position) for number, position in enumerate(places)})
    ascend(found, ask)
    return [found[number] for number in range(len(places))], len(calls)


@pytest.mark.parametrize("name", ARRIVES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_climb_ends_within_a_nat_of_the_top(name: str, dtype: str) -> None:
    function, dim = ARRIVES[name]
    with jax.enable_x64(dtype == "float64"):
        places = np.random.default_rng(3).uniform(-2, 0.9, (5, dim)).astype(dtype)
        climbs, _ = climb(function, places)
    top = 0.0 if name != "bounded" else float(bounded(jnp.full(dim, 1 - 1 / 0.1)))
    assert all(each.has_arrived for each in climbs)
    assert max(top - each.height for each in climbs) < 1.0
    assert {each.end.position.dtype.name for each in climbs} == {dtype}


def test_climbs_do_not_depend_on_each_other() -> None:
    places = np.random.default_rng(5).uniform(-2, 2, (4, 2))
    together, num_calls = climb(banana, places)
    alone = [climb(banana, places[[number]]) for number in range(4)]
    for one, ([other], _) in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one.end.position, other.end.position)
    assert num_calls == max(count for _, count in alone)


def test_climbs_rest_when_they_are_told_to_and_are_not_lost() -> None:
    place, calls = place_at(normal), []

    def ask(positions: Mapping[int, np.ndarray]) -> dict[int, Place]:
        calls.append(set(positions))
        return {name: place(position) for name, position in positions.items()}

    places = {number: place(x) for number, x in enumerate(np.random.default_rng(3).uniform(-2, 2, (2, 6)))}
    climbs = begin(places)
    ascend(climbs, ask, lambda _: {0} if len(calls) >= 3 else set())
    assert [0 in each for each in calls] == [True] * 3 + [False] * (len(calls) - 3)
    assert climbs[1].has_arrived
    assert not climbs[0].is_over
    assert not climbs[0].is_lost


def test_climbs_to_one_top_end_before_they_are_there(monkeypatch) -> None:
    """Their heights can be no more than a few nats apart, so that the chain begins at the best of its places."""
    short = sampled(banana)
    monkeypatch.setattr(Climb, "is_near_end", False)  # each goes on until it has arrived
    whole = sampled(banana)
    np.testing.assert_array_equal(short["x"], whole["x"])
    assert short.work["warmup"] < whole.work["warmup"] - 20


def mass(function: Callable, position: np.ndarray) -> float:
    place = place_at(function)
    return log_mass(place(position), curvature(place(position), [place(each) for each in around(position)]))


def test_the_mass_below_a_top_is_that_of_a_normal() -> None:
    """Also from a little below; that of all widths, but for a constant."""
    matrix = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 5)))[0] * [0.01, 0.1, 1, 10, 100]

    def density(x):
        return 3.5 - 0.5 * jnp.sum(jnp.linalg.solve(matrix, x - 0.2) ** 2)

    with jax.enable_x64(True):
        for position in (np.full(5, 0.2), 0.2 + matrix @ np.array([0.5, 0, -0.5, 0, 0])):
            below = 3.5 - float(density(position))
            expected = 3.5 - below + np.linalg.slogdet(matrix)[1]
            assert mass(density, position) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("apart", "below", "is_same"), [(0.5, 0.0, True), (2.0, 0.0, False), (0.5, 2.0, False)]
)
def test_climbs_to_one_top_end_within_a_nat_of_each_other(apart: float, below: float, is_same: bool) -> None:
    """Two modes may be as high: then only the way between them tells them apart."""
    place, top = place_at(student), np.zeros(2)
    curved = curvature(place(top), [place(each) for each in around(top)])
    assert is_same_top(place(top), curved, place(top + apart)._replace(height=-below)) == is_same


def test_what_is_no_top_has_no_mass_that_is_known() -> None:
    """The neck of a funnel, whose density has no bound; a saddle; a slope."""

    def funnel(x):
        return -0.5 * jnp.sum(x[1:] ** 2) * jnp.exp(-2 * x[0]) - (x.shape[0] - 1) * x[0]

    with jax.enable_x64(True):
        climbs, num_calls = climb(funnel, np.random.default_rng(7).uniform(-2, 2, (5, 9)))
        assert num_calls <= MAX_TURNS
        assert all(np.isnan(mass(funnel, each.end.position)) for each in climbs)
        assert np.isnan(mass(lambda x: x[0] ** 2 - x[1] ** 2, np.zeros(2)))
        assert np.isnan(mass(lambda x: -jnp.sum(x**2), np.full(2, 3.0)))


@pytest.mark.parametrize("seed", range(2))
def test_the_neck_of_a_funnel_is_no_place_to_begin(seed: int) -> None:
    """Its density is 60 nats above that where the mass is; climbs end anywhere on the way."""

    def hierarchy(x):
        tau, effects = x[0], x[1:]
        return -0.5 * (tau / 1.5) ** 2 - 12 * tau - 0.5 * jnp.sum(effects**2) * jnp.exp(-2 * tau)

    target = LogDensity.from_function(hierarchy, np.zeros(13))
    draws = infer.sample(target, draws=1, warmup=0, seed=seed, **QUIET)
    assert np.all(draws["x"][:, 0, 0] > -2.5)  # a start is within 2 of zero, and one draw goes little farther


def test_a_climb_that_overflows_is_lost_without_a_word() -> None:
    climbs, _ = climb(lambda x: jnp.sum(x**9) * 1e300, np.full((1, 2), 1.5))
    assert not climbs[0].has_arrived


def trap(x):
    """A wide mode 60 nats below a narrow one, which has all of the mass."""
    low = -60 - 0.5 * jnp.sum((x + 1.5) ** 2)
    high = -0.5 * jnp.sum(((x - 1.5) / 0.3) ** 2)
    return jnp.logaddexp(low, high)


def sampled(function: Callable, **options):
    target = LogDensity.from_function(function, np.zeros(2))
    return infer.sample(target, **(dict(draws=100, warmup=100) | QUIET | options))


@pytest.mark.parametrize("seed", range(3))
def test_no_chain_is_caught_where_there_is_no_mass(seed: int) -> None:
    draws = sampled(trap, seed=seed)
    assert np.all(draws["x"].mean(1) > 1)


def test_a_start_that_is_given_is_kept() -> None:
    draws = sampled(trap, init={"x": np.full(2, -1.5)}, chains=2, draws=1, warmup=0)
    assert np.all(draws["x"] < 0)


def two_sites(sites):
    """A wide mode of two sites, and 18 nats above it a narrow one, which has all of the mass."""
    a, b = sites["a"], sites["b"]
    modes = [
        h - ((a - at) ** 2 + (b - at) ** 2) / (2 * w**2) for h, at, w in ((-18.0, -1.0, 1.0), (0.0, 1.5, 0.3))
    ]
    return jnp.logaddexp(*modes)


LIGHT = {"a": -0.3}
"""In the wide mode, and six standard deviations from the middle of the narrow one, to which high values of `b` lead."""


@pytest.fixture
def begun(monkeypatch):
    """Where chains begin, by their numbers: the values of `a` and `b`."""
    plain, stand = LogDensity.from_function(two_sites, {"a": 0.0, "b": 0.0}), Evaluator.stand

    def starts(init, target=plain, **options):
        found = {}

        def seen(evaluator, positions):
            found.update({evaluator.chains[lane].number: positions[lane].free for lane in positions})
            stand(evaluator, positions)

        with monkeypatch.context() as patch:
            patch.setattr(Evaluator, "stand", seen)
            infer.sample(target, init=init, **(dict(draws=1, warmup=0, chains=8, seed=2) | QUIET | options))
        return np.stack([found[number] for number in sorted(found)])

    return starts


def keep_best(monkeypatch) -> None:
    """Have chains begin at the best of their places, as where a user has given them."""
    for points in (TablePoints, UniformPoints):
        monkeypatch.setattr(points, "is_given", lambda points, chain: True)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_value_that_is_given_is_where_the_chain_begins(begun, monkeypatch, lanes) -> None:
    given = begun(LIGHT, lanes=lanes)
    assert np.all(given[:, 0] == LIGHT["a"])
    assert len(np.unique(given[:, 1])) == 8
    # Else chains would have left the mode that they were put into.
    monkeypatch.setattr(TablePoints, "is_given", lambda points, chain: False)
    assert np.any(begun(LIGHT, lanes=lanes)[:, 0] > 0)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_chain_without_values_climbs_beside_chains_that_have_some(begun, monkeypatch, lanes) -> None:
    by_default = begun(None, lanes=lanes)
    mixed = begun([LIGHT, {}] * 4, lanes=lanes)
    assert np.all(mixed[::2, 0] == LIGHT["a"])
    np.testing.assert_array_equal(mixed[1::2], by_default[1::2])
    keep_best(monkeypatch)
    assert np.any(begun(None, lanes=lanes)[1::2] != by_default[1::2])


def test_where_an_earlier_run_ended_is_where_a_chain_begins(begun) -> None:
    """Its model had one of the two sites."""
    narrow = LogDensity.from_function(lambda sites: -5000 * (sites["a"] - LIGHT["a"]) ** 2, {"a": 0.0})
    earlier = infer.sample(narrow, **(dict(draws=5, warmup=50, chains=8) | QUIET))
    np.testing.assert_array_equal(begun(earlier)[:, 0], earlier["a"][:, -1])


@ac.model
def with_priors():
    a = ac.sample("a", dist.Normal(0.0, 1.5))
    b = ac.sample("b", dist.Normal(0.0, 1.5))
    ac.factor("modes", two_sites({"a": a, "b": b}))


DRAWN = {
    "uniform": infer.from_uniform(1.8),
    "prior": infer.from_prior(),
    "median": infer.from_median(1),
}


@pytest.mark.parametrize("start", DRAWN)
def test_places_that_are_drawn_are_climbed_from(begun, monkeypatch, start) -> None:
    climbed = begun(DRAWN[start], target=with_priors())
    keep_best(monkeypatch)
    best = begun(DRAWN[start], target=with_priors())
    moved = np.any(climbed != best, axis=1)
    assert np.any(moved)
    # On the top, but for the nat that a climb may end below it.
    assert np.all(np.abs(climbed[moved] - 1.5) < 1)


def test_two_modes_that_both_have_mass_are_both_begun_in() -> None:
    def twins(x):
        modes = [h - 8 * jnp.sum((x - at) ** 2) for h, at in ((0.0, 1.5), (-5.0, -1.5))]
        return jnp.logaddexp(*modes)

    draws = sampled(twins, chains=8)
    assert len(np.unique(np.sign(draws["x"].mean((1, 2))))) == 2


def misleading(x):
    """Far from its top, at 1, the density rises by four fifths of what the gradient says, as where a solver rounds."""
    far = jnp.sum((x - 1.0) ** 2)
    height = -20_000 * far
    return height - jax.lax.stop_gradient(jnp.where(far > 0.05, 0.2 * height, 0.0))


def valley(x):
    """A round mode, and 60 nats above it the end of a narrow, bent valley, which has all of the mass."""
    low = -60 - 0.5 * jnp.sum(((x - jnp.array([0.0, -1.5])) / 0.3) ** 2)
    high = -0.5 * ((x[0] - 1.5) / 0.3) ** 2 - 500 * (x[1] - x[0] ** 2) ** 2
    return jnp.logaddexp(low, high)


def test_a_climb_far_above_all_tops_that_are_known_goes_on(begun, monkeypatch) -> None:
    """Its place is no top yet, and has no mass that is known, so that it would be passed over."""
    target = LogDensity.from_function(valley, np.zeros(2))

    def short(climbs, evaluate, resting=lambda _: (), turns=20):
        ascend(climbs, evaluate, resting, turns)

    monkeypatch.setattr(summits, "ascend", short)
    starts = begun(None, target, chains=60)
    monkeypatch.setattr(summits, "_leading", lambda climbs, masses: [])
    passed_over = np.any(starts != begun(None, target, chains=60), axis=1)
    assert np.any(passed_over)
    assert all(float(valley(start)) > -1 for start in starts[passed_over])


def ripples(x):
    """A mode around each pair of whole numbers, 10 to 200 nats apart: one climb in ten leads to the heaviest."""
    return 60 * jnp.sum(jnp.cos(2 * jnp.pi * x) - 1) - 20 * jnp.sum((x - 1.2) ** 2)


def test_where_few_climbs_lead_to_the_heaviest_mode_there_are_more(begun, monkeypatch) -> None:
    target = LogDensity.from_function(ripples, np.zeros(2))
    starts = begun(None, target, chains=60)
    monkeypatch.setattr(search, "_FURTHER_TURNS", 0)
    few = begun(None, target, chains=60)
    rises = np.array([float(ripples(one) - ripples(other)) for one, other in zip(starts, few, strict=True)])
    assert rises.min() > -2  # on a top, but for the nat that a climb may end below it
    assert np.sum(rises > 9) >= 3


def ridges(x):
    """Two modes in 30 dimensions, 40 nats apart."""
    return jnp.logaddexp(-8 * jnp.sum((x - 1.5) ** 2), -40 - 8 * jnp.sum((x + 1.5) ** 2))


def test_the_curvature_at_a_top_takes_one_call_and_the_start_is_as_from_several(begun, monkeypatch) -> None:
    target, run = LogDensity.from_function(ridges, np.zeros(30)), Machine.run
    seen = []

    def watched(machine, chains, states, stops, budgets, places=None):
        if places is not None:
            seen.append(max(budgets))
        return run(machine, chains, states, stops, budgets, places)

    monkeypatch.setattr(Machine, "run", watched)
    starts = begun(None, target, chains=2, lanes=1)
    assert 1 <= seen.count(30) <= 4  # the gradients about a top: each of two chains weighs its two tops once
    look = Evaluator.look

    def by_tens(evaluator, wanted):
        (lane, positions), *others = wanted.items()
        assert not others
        parts = (positions[first : first + 10] for first in range(0, len(positions), 10))
        return {lane: [place for part in parts for place in look(evaluator, {lane: part})[lane]]}

    monkeypatch.setattr(Evaluator, "look", by_tens)
    seen.clear()
    np.testing.assert_array_equal(begun(None, target, chains=2, lanes=1), starts)
    assert max(seen) == 10


def shored(x):
    """Ripples with their heaviest mode at the edge of the support: further candidates of a chain may all be outside."""
    height = ripples(x - jnp.array([1.0, 0.0]))
    return jnp.where(x[0] > 1.05, height, -jnp.inf)


@pytest.mark.parametrize("density", [trap, ripples, shored])
def test_a_chain_climbs_alone_as_beside_others(begun, density) -> None:
    """Also where it needs more climbs, or fewer, than those beside it."""
    target = LogDensity.from_function(density, np.zeros(2))
    together = begun(None, target, chains=8, lanes=4)
    for number in range(8):
        np.testing.assert_array_equal(begun(None, target, chains=[number], lanes=4)[0], together[number])


@pytest.mark.parametrize("seed", range(2))
def test_a_chain_whose_gradient_would_not_take_it_to_the_top_begins_there(seed: int) -> None:
    with jax.enable_x64(True):
        draws = sampled(misleading, seed=seed)
    assert np.all(np.abs(draws["x"].mean(1) - 1) < 0.01)


@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_a_deep_start_whose_gradient_is_right_is_kept(monkeypatch, scale: float) -> None:
    def deep(x):
        return -5000 * scale * jnp.sum((x - 1.0) ** 2)

    with jax.enable_x64(True):
        target = LogDensity.from_function(deep, np.zeros(2))
        points = UniformPoints().positions(0, 0, 10, 2)
        best = max(points, key=lambda point: float(deep(point)))
        stood = []
        stand = Evaluator.stand
        monkeypatch.setattr(
            Evaluator,
            "stand",
            lambda self, positions: (stood.append(positions[0].free), stand(self, positions)),
        )
        infer.sample(target, draws=1, warmup=0, chains=1, seed=0, **QUIET)
    np.testing.assert_array_equal(stood[0], best)
