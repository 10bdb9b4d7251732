"""Hold that a chain is a function of its number and the plan, whoever runs it, beside whom and in what portions."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.core.pace import Pace
from accord.core.precision import scope
from accord.executors import AbstractExecutor, Serial, Threads, surroundings_here
from accord.kernels import HMC, NUTS, AbstractKernel
from accord.mcmc.block import ATTEMPTS
from accord.mcmc.columns import Sites
from accord.mcmc.group import run_chains
from accord.mcmc.machine import Machine
from accord.mcmc.plan import Plan
from accord.mcmc.program import advance_program
from accord.mcmc.start.ascent import MAX_TURNS
from accord.mcmc.start.search import StartFailedError
from accord.mcmc.start.uniform import UniformPoints
from accord.mcmc.stretch import Stretch
from accord.runs.units import Item

DIM, SEGMENT, NUM_WARMUP, NUM_DRAWS = 3, 16, 60, 40

KERNELS: dict[str, Callable[[], AbstractKernel]] = {"NUTS": NUTS, "HMC": HMC}


def _evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A correlated posterior with a soft wall: no two chains adapt alike."""

    def log_density(x: jax.Array) -> jax.Array:
        return -0.5 * jnp.sum((x - 0.9 * jnp.roll(x, 1)) ** 2) - jnp.exp(x[0])

    return jax.value_and_grad(log_density)(x)


@pytest.fixture(scope="module", params=["NUTS", pytest.param("HMC", marks=pytest.mark.slow)])
def kernel(request: pytest.FixtureRequest) -> AbstractKernel:
    return KERNELS[request.param]()


@pytest.fixture(scope="module")
def plans(kernel: AbstractKernel) -> dict[int, Machine]:
    """Plans that differ in lanes alone."""
    with scope("float64"):
        return {lanes: _plan(kernel, lanes) for lanes in (1, 4)}


@pytest.fixture(scope="module")
def expected(plans: dict[int, Machine]) -> dict[int, dict[int, dict[str, np.ndarray]]]:
    """By lanes and chain: what chains 0 to 3 draw, run in groups one after the other."""
    return {lanes: _run(plan, range(4)) for lanes, plan in plans.items()}


@pytest.mark.parametrize(
    "executor", [Serial(), Threads(2), Threads(4)], ids=["serial", "2 threads", "4 threads"]
)
def test_an_executor_changes_no_bit(plans: Any, expected: Any, executor: AbstractExecutor) -> None:
    _assert_same(_run(plans[1], range(4), executor), expected[1])


@pytest.mark.parametrize("number", [0, 3])
def test_a_chain_alone_is_that_chain_among_others(plans: Any, expected: Any, number: int) -> None:
    _assert_same(_run(plans[1], [number]), {number: expected[1][number]})


@pytest.mark.parametrize("numbers", [[2, 0, 3, 1], [3, 1], [2]], ids=str)
def test_lanes_permuted_or_padded_change_no_bit(plans: Any, expected: Any, numbers: list[int]) -> None:
    _assert_same(_run(plans[4], numbers), {number: expected[4][number] for number in numbers})


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize(("seconds", "first"), [(1e-9, 1), (1e-3, 100), (10.0, 2**30)])
def test_blocks_of_any_size_change_no_bit(
    plans: Any, expected: Any, lanes: int, seconds: float, first: int
) -> None:
    plan = _replace(plans[lanes], pace=Pace(first_block=first, block_seconds=seconds))
    _assert_same(_run(plan, range(4)), expected[lanes])


def test_the_draws_that_two_widths_have_in_common_are_equal_to_rounding(expected: Any) -> None:
    for number in range(4):
        one, four = (expected[lanes][number]["warmup/position"][:10] for lanes in (1, 4))
        np.testing.assert_allclose(four, one, rtol=1e-8, atol=1e-10)


def test_chains_and_seeds_differ(plans: Any, expected: Any) -> None:
    firsts = {tuple(expected[1][number]["warmup/position"][0]) for number in range(4)}
    assert len(firsts) == 4


@pytest.mark.parametrize("lanes", [1, 4])
def test_pieces_follow_each_other_and_end_at_fixed_draws(plans: Any, lanes: int) -> None:
    pieces = [item for item in _items(plans[lanes], [0, 1]) if isinstance(item, Stretch)]
    for number in (0, 1):
        mine = [piece for piece in pieces if piece.chain == number]
        bounds = [(piece.phase, piece.start, piece.stop) for piece in mine]
        ends = [*range(0, NUM_WARMUP, SEGMENT), NUM_WARMUP]
        warmup = [("warmup", a, b) for a, b in itertools.pairwise(ends)]
        assert bounds == [*warmup, ("sample", 0, 16), ("sample", 16, 32), ("sample", 32, 40)]
        for piece in mine:
            assert {len(array) for array in piece.arrays.values()} == {piece.stop - piece.start}
            offset = NUM_WARMUP if piece.phase == "sample" else 0
            assert int(piece.end_state.draw) == piece.stop + offset
            np.testing.assert_array_equal(
                piece.end_state.kernel.point.position.free, piece.arrays["position"][-1]
            )
        num_steps = sum(int(piece.arrays["stat/n_steps"].sum()) for piece in mine)
        num_gradients = sum(piece.num_gradients for piece in mine)
        # A chain is given one of several starts, and remembers the evaluation of that one alone, but pays for all.
        others = num_gradients - num_steps - int(mine[-1].end_state.num_tuning)
        assert ATTEMPTS < others < ATTEMPTS + 6 * MAX_TURNS


def test_the_metric_and_the_step_size_rest_while_sampling(plans: Any) -> None:
    pieces = [item for item in _items(plans[1], [0]) if isinstance(item, Stretch) and item.phase == "sample"]
    steps = np.concatenate([piece.arrays["stat/step_size"] for piece in pieces])
    # Where a chain has found its posterior curved, every 16th draw takes shorter steps.
    assert set(np.unique(steps.max() / steps)) <= {1.0, 2.0, 4.0, 16.0}
    assert np.mean(steps == steps.max()) > 0.9
    for piece in pieces:
        jax.tree.map(np.testing.assert_array_equal, piece.fitted, pieces[0].fitted)


@pytest.mark.parametrize("lanes", [1, 4])
def test_stopping_yields_a_beginning_of_the_whole(plans: Any, expected: Any, lanes: int) -> None:
    plan = _replace(plans[lanes], pace=Pace(first_block=20, block_seconds=1e-9))
    for after in (1, 5, 30):
        asked = iter(range(1000))
        with scope("float64"):
            items = list(run_chains(plan, [0, 1][:lanes], lambda a=asked, n=after: next(a) >= n))
        for number, arrays in _gather(items).items():
            for name, array in arrays.items():
                np.testing.assert_array_equal(
                    array, expected[lanes][number][name][: len(array)], err_msg=name
                )


@pytest.mark.parametrize("num_warmup", [0, 1, 7, 19, 20, 21, 37])
def test_a_warm_up_of_any_length_leads_to_the_draws_asked_for(plans: Any, num_warmup: int) -> None:
    plan = _replace(plans[1], num_warmup=num_warmup, num_kept=5)
    arrays = _run(plan, [0])[0]
    assert len(arrays["sample/position"]) == 5
    assert len(arrays.get("warmup/position", ())) == num_warmup
    assert np.all(arrays["sample/stat/step_size"] > 0) and np.all(np.isfinite(arrays["sample/position"]))


@pytest.fixture
def by_own_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule by which some chains have not settled: by one number of their own."""
    monkeypatch.setattr(
        "accord.adaptation.hamiltonian.is_settled",
        lambda positions, *_: len(positions) > 100 or positions[0, 1] > -0.3,
    )


@pytest.mark.usefixtures("by_own_draws")
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_warm_up_that_is_lengthened_is_the_same_in_all_portions_and_company(plans: Any, lanes: int) -> None:
    plan = _replace(plans[lanes], max_warmup=130)
    whole = _run(plan, range(4))
    lengths = [len(whole[number]["warmup/position"]) for number in range(4)]
    assert set(lengths) == {NUM_WARMUP, 130}
    assert all(len(arrays["sample/position"]) == NUM_DRAWS for arrays in whole.values())
    for number in (0, 3):
        _assert_same(_run(plan, [number]), {number: whole[number]})
    _assert_same(_run(plan, [3, 1]), {number: whole[number] for number in (3, 1)})
    _assert_same(_run(_replace(plan, pace=Pace(first_block=7, block_seconds=1e-3)), range(4)), whole)


@pytest.mark.usefixtures("by_own_draws")
def test_warm_up_is_lengthened_no_further_than_is_allowed_and_only_where_it_may_be(plans: Any) -> None:
    fixed = _run(plans[1], range(4))
    assert {len(arrays["warmup/position"]) for arrays in fixed.values()} == {NUM_WARMUP}
    short = _run(_replace(plans[1], max_warmup=70), range(4))
    assert {len(arrays["warmup/position"]) for arrays in short.values()} == {NUM_WARMUP, 70}
    for number, arrays in fixed.items():
        np.testing.assert_array_equal(
            short[number]["warmup/position"][:NUM_WARMUP], arrays["warmup/position"]
        )


def test_trajectories_are_short_while_the_metric_is_a_guess(kernel: AbstractKernel, plans: Any) -> None:
    if not isinstance(kernel, NUTS):
        pytest.skip("only NUTS has trees")
    stiff = _replace(plans[1], start=_Watched(lambda uniform, attempt: 1e4 * uniform), num_warmup=90)
    depths = _run(stiff, [0])[0]["warmup/stat/tree_depth"]
    assert depths[:30].max() <= 7


def test_starts_are_tried_until_one_is_finite(kernel: AbstractKernel) -> None:
    points = _Watched(lambda uniform, attempt: np.array([1.0 if attempt < 13 else -1.0, *uniform[1:]]))
    with scope("float64"):
        plan = _replace(_plan(kernel, 1, _half_plane), start=points)
    arrays = _run(plan, [0])[0]
    assert points.tried == list(range(2 * ATTEMPTS))  # as many at once
    assert np.all(arrays["sample/position"][:, 0] < 0)


def test_a_chain_starts_where_it_would_alone_however_long_others_search(kernel: AbstractKernel) -> None:
    points = _Watched(lambda uniform, attempt: uniform + np.array([1.8, 0.0, 0.0]))
    with scope("float64"):
        plan = _replace(_plan(kernel, 4, _half_plane), start=points, num_warmup=10, num_kept=2)
    items = _items(plan, range(4))
    together = _gather(items)
    assert max(points.tried) >= ATTEMPTS  # one chain at least searched on when others had theirs
    for number in range(4):
        alone = _items(plan, [number])
        _assert_same(_gather(alone), {number: together[number]})
        assert _gradients(alone)[number] == _gradients(items)[number]


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_chain_that_finds_no_start_says_where_it_looked(kernel: AbstractKernel, lanes: int) -> None:
    with scope("float64"):
        plan = _plan(kernel, lanes, lambda x: (jnp.sum(x) * jnp.nan, x))
    with pytest.raises(StartFailedError, match=r"chain 7: no starting point .* in 100 tries") as caught:
        _run(plan, [7])
    assert caught.value.position.free.shape == (DIM,) and np.all(np.isfinite(caught.value.position.free))


def test_a_search_in_vain_shows_the_place_that_was_nearest_to_be_of_use(kernel: AbstractKernel) -> None:
    """A finite log density whose gradient is not, rather than -inf, rather than NaN; of several the highest."""

    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        value = jnp.where(x[0] < 0, jnp.nan, jnp.where(x[1] < 0, -jnp.inf, -x[2]))
        return value, jnp.full_like(x, jnp.nan)

    with scope("float64"):
        plan = _plan(kernel, 1, evaluate)
    with pytest.raises(StartFailedError) as caught:
        _run(plan, [0])
    tries = np.array([UniformPoints().position(11, 0, attempt, DIM) for attempt in range(100)])
    useful = tries[(tries[:, 0] > 0) & (tries[:, 1] > 0)]
    np.testing.assert_array_equal(caught.value.position.free, useful[np.argmin(useful[:, 2])])


class _Watched(UniformPoints):
    """Points moved somewhere else, which know what tries were made."""

    def __init__(self, moved: Callable[[np.ndarray, int], np.ndarray]):
        super().__init__()
        object.__setattr__(self, "moved", moved)
        object.__setattr__(self, "tried", [])

    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        self.tried.append(attempt)
        return self.moved(super().position(seed, chain, attempt, dim), attempt)


def _half_plane(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The same posterior, undefined on one side."""
    value, gradient = _evaluate(x)
    return jnp.where(x[0] < 0, value, jnp.nan), gradient


def _plan(kernel: AbstractKernel, lanes: int, evaluate: Callable[[jax.Array], Any] = _evaluate) -> Machine:
    run = advance_program(kernel, DIM, np.dtype(float), lanes, 256)
    plan = Plan(
        kernel=kernel,
        num_warmup=NUM_WARMUP,
        num_kept=NUM_DRAWS,
        seed=11,
        lanes=lanes,
        segment=SEGMENT,
        thinning=1,
        precision="float64",
        dim=DIM,
    )
    return Machine(
        plan,
        advance=jax.jit(lambda *arguments: run(lambda at: evaluate(at.free), *arguments)),
        sites=Sites(lambda positions, *others: {"site/twice": 2 * positions.free}, 256),
    )


def _replace(machine: Machine, **changes: Any) -> Machine:
    """The machine with another plan."""
    return replace(machine, plan=replace(machine.plan, **changes))


def _items(machine: Machine, numbers: Sequence[int], executor: AbstractExecutor | None = None) -> list[Item]:
    """What the chains yield, run in groups as wide as the plan has lanes."""

    def items(group: Sequence[int]) -> list[Item]:
        with scope("float64"):
            return list(run_chains(machine, group, lambda: False))

    lanes = machine.plan.lanes
    pool = (executor or Serial()).open(len(numbers), surroundings_here("float64"))
    try:
        futures = [pool.submit(items, numbers[i : i + lanes]) for i in range(0, len(numbers), lanes)]
        return [item for future in futures for item in future.result()]
    finally:
        pool.close()


def _run(
    machine: Machine, numbers: Sequence[int], executor: AbstractExecutor | None = None
) -> dict[int, dict[str, np.ndarray]]:
    return _gather(_items(machine, numbers, executor))


def _gather(items: list[Item]) -> dict[int, dict[str, np.ndarray]]:
    """By chain: every array of every phase, and what the chain ended with."""
    gathered: dict[int, dict[str, np.ndarray]] = {}
    pieces = [item for item in items if isinstance(item, Stretch)]
    for number in {piece.chain for piece in pieces}:
        mine = [piece for piece in pieces if piece.chain == number]
        names = {(piece.phase, name) for piece in mine for name in piece.arrays}
        gathered[number] = {
            f"{phase}/{name}": np.concatenate([p.arrays[name] for p in mine if p.phase == phase])
            for phase, name in names
        }
    return gathered


def _gradients(items: list[Item]) -> dict[int, int]:
    """By chain, how many were evaluated."""
    return {item.chain: item.total_gradients for item in items if isinstance(item, Stretch)}


def _assert_same(found: dict[int, dict[str, np.ndarray]], expected: dict[int, dict[str, np.ndarray]]) -> None:
    assert found.keys() == expected.keys()
    for number, arrays in expected.items():
        assert found[number].keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[number][name], array, err_msg=f"chain {number}: {name}")
