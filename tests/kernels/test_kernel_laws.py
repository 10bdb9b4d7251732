"""State what every kernel must obey, as a table of kernels under a list of laws."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from kernel_targets import CORRELATED, normal
from machine import (
    compile_family,
    compile_program,
    dense_metric,
    diagonal_metric,
    given_of,
    run_draws,
    run_lanes,
    standing_at,
    tuning_of,
)

import accord.distributions as dist
from accord.core import keys
from accord.core.position import Position
from accord.core.stats import Ending
from accord.kernels import (
    HMC,
    MALA,
    NUTS,
    AbstractKernel,
    Barker,
    ChEES,
    EllipticalSlice,
    Ensemble,
    Gibbs,
    Metropolis,
    Mixture,
    RandomWalk,
    Repeat,
    Slice,
)
from accord.kernels.evaluated import advanced
from accord.kernels.places import Place, Places
from accord.kernels.point import Point
from accord.mcmc.block import ATTEMPTS, Limits, start_state
from accord.mcmc.population_program import program_for


def two_blocks(dim: int) -> AbstractKernel:
    """The last coordinate by itself, and then the others."""
    places = Places((Place("a", 0, dim - 1), Place("b", dim - 1, dim)))
    return Gibbs({"b": HMC(max_steps=40), "a": NUTS(max_tree_depth=6)}).placed(places)


def in_places(kernel: AbstractKernel, dim: int) -> AbstractKernel:
    return kernel.placed(Places((Place("x", 0, dim),)))


KERNELS: dict[str, Callable[[int], AbstractKernel]] = {
    "NUTS": lambda dim: NUTS(max_tree_depth=6),
    "HMC": lambda dim: HMC(max_steps=40),
    "ChEES": lambda dim: ChEES(max_steps=40),
    "MALA": lambda dim: MALA(),
    "Barker": lambda dim: Barker(),
    "RandomWalk": lambda dim: RandomWalk(),
    "Metropolis": lambda dim: Metropolis(lambda position: dist.Normal(position, 0.7)),
    "Slice": lambda dim: Slice(),
    "EllipticalSlice": lambda dim: EllipticalSlice(),
    "Ensemble": lambda dim: Ensemble({"stretch": 0.4, "differential": 0.3, "slice": 0.3}),
    "Gibbs": two_blocks,
    "Repeat": lambda dim: Repeat(NUTS(max_tree_depth=6), 2),
    "Mixture": lambda dim: in_places(Mixture({HMC(max_steps=40): 0.6, NUTS(max_tree_depth=6): 0.4}), dim),
}
NO_TRAJECTORY = (Barker, RandomWalk, Metropolis, Slice, EllipticalSlice, Ensemble)
"""Kernels whose moves have no energy error: they refuse what is impossible, as any other point."""

NO_PROBES = ("Metropolis", "Slice", "EllipticalSlice", "Ensemble")
"""Kernels without a step size to be found."""

_SLOW = ("Repeat", "Mixture")

each_kernel = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW)) for name in KERNELS]
)


@each_kernel
def test_an_advance_holds_the_target_once_and_not_in_a_branch(name: str) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)

    def advance(state: Any) -> Any:
        tuning = tuning_of(kernel, dense_metric(3), 0.1)
        return advanced(
            kernel, jnp.zeros(2, jnp.uint32), _marked(lambda at: case.evaluate(at.free)), state, tuning
        )

    jaxpr = jax.make_jaxpr(advance)(kernel.init(_nowhere(np.zeros(3))))
    assert list(_paths_to_target(jaxpr.jaxpr)) == [()]


@pytest.mark.parametrize("lanes", [1, 4])
@each_kernel
def test_the_program_of_a_run_holds_the_target_once(name: str, lanes: int) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    arguments = (
        start_state(kernel, Position(np.zeros(3))),
        given_of(kernel, dense_metric(3)),
        np.zeros(2, np.uint32),
        np.zeros(2, np.uint32),
        Limits.at(1, 1, 1, Position(np.zeros((ATTEMPTS, 3)))),
    )
    if lanes > 1 or kernel.is_ensemble:
        state, given, *rest = jax.tree.map(lambda leaf: np.stack([leaf] * lanes), arguments)
        arguments = (state, arguments[1] if kernel.is_ensemble else given, *rest)
    run = program_for(kernel, 3, np.dtype(float), lanes, 256, kernel.is_plain)
    jaxpr = jax.make_jaxpr(lambda *a: run(_marked(lambda at: case.evaluate(at.free)), *a))(*arguments)
    assert list(_paths_to_target(jaxpr.jaxpr)) == [("while",)]


@pytest.mark.parametrize("lanes", [1, 4])
@each_kernel
def test_stopping_anywhere_and_going_on_changes_no_bit(name: str, lanes: int) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    program = compile_program(kernel, case.evaluate, 3, lanes)
    start = standing_at(kernel, jax.jit(case.evaluate), np.array([0.5, -1.0, 0.2]), 0.3)
    chain_keys = [keys.chain_key(3, chain) for chain in range(lanes)]
    runs = [
        run_lanes(program, [start] * lanes, dense_metric(3), chain_keys, 40, budget)[1]
        for budget in (1, 7, 1000)
    ]
    for other in runs[1:]:
        jax.tree.map(np.testing.assert_array_equal, other, runs[0])
    if "n_steps" in runs[0][0]:
        assert len(np.unique(runs[0][0]["n_steps"])) > 2


@each_kernel
def test_an_evaluation_moves_nothing_and_knows_the_density(name: str) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    position = np.array([0.5, -1.0, 0.2])
    advance = _advance(kernel, lambda x, data: case.evaluate(x))
    state, info, point = advance(kernel.init(_nowhere(position)), True, 0.5, ())
    value, gradient = case.numpy(position)
    np.testing.assert_array_equal(point.position.free, position)
    np.testing.assert_allclose(point.log_density, value, rtol=1e-14)
    np.testing.assert_allclose(point.gradient, gradient, rtol=1e-14)
    np.testing.assert_array_equal(state.point.position.free, position)
    assert info.is_complete and state.is_fresh


@pytest.mark.parametrize("name", [each for each in KERNELS if each not in NO_PROBES])
def test_a_probe_takes_one_step_and_does_not_move(name: str) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    at = standing_at(kernel, jax.jit(case.evaluate), np.array([0.5, -1.0, 0.2]), 1.0).kernel
    advance, acceptances = _advance(kernel, lambda x, data: case.evaluate(x)), []
    for step_size in (1e-3, 1.0, 1e3):
        state, info, _ = advance(at, False, step_size, ())
        jax.tree.map(np.testing.assert_array_equal, state.point, at.point)
        assert info.is_complete and state.is_fresh and _stats(kernel, info).get("n_steps", 1) == 1
        acceptances.append(float(info.acceptance))
    assert acceptances[0] > 0.999 and acceptances[2] < 1e-6


BARRIERS = {
    # log density beyond the barrier, factor on its gradient there, whether that counts as a divergence
    "log density NaN": (np.nan, 1.0, False),
    "log density +inf": (np.inf, 1.0, False),
    "gradient NaN": (0.0, np.nan, False),
    "gradient inf": (0.0, np.inf, False),
    "log density and gradient NaN": (np.nan, np.nan, False),
    "log density +inf and gradient NaN": (np.inf, np.nan, False),
    "log density -inf": (-np.inf, 1.0, True),
    "log density -inf, gradient zero": (-np.inf, 0.0, True),
    "log density -inf and gradient NaN": (-np.inf, np.nan, True),
}


def _behind_barrier(x: jax.Array, barrier: tuple[float, float]) -> tuple[jax.Array, jax.Array]:
    """A standard normal, with numbers of no use where the first coordinate is above 1."""
    added, factor = barrier
    is_beyond, log_density = x[0] > 1, -0.5 * jnp.sum(x * x)
    return jnp.where(is_beyond, log_density + added, log_density), jnp.where(is_beyond, -x * factor, -x)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, lanes), marks=[pytest.mark.slow] * (name in _SLOW))
        for name in KERNELS
        for lanes in (1, 2)
    ],
    ids=str,
)
def barred(request: pytest.FixtureRequest) -> tuple[AbstractKernel, int, Any]:
    """A kernel, a number of lanes, and its program for any barrier: one to compile for all rows of the table."""
    name, lanes = request.param
    return KERNELS[name](2), lanes, compile_family(KERNELS[name](2), _behind_barrier, 2, lanes)


@pytest.mark.parametrize("barrier", BARRIERS)
def test_a_chain_never_moves_to_a_point_that_is_no_number(
    barred: tuple[AbstractKernel, int, Any], barrier: str
) -> None:
    kernel, lanes, family = barred
    added, factor, is_divergence = BARRIERS[barrier]
    program = replace(family, data=(added, factor))
    start = standing_at(kernel, lambda x: _behind_barrier(x, (0.0, 1.0)), np.array([0.5, 0.3]), 0.5)
    chain_keys = [keys.chain_key(0, chain) for chain in range(lanes)]
    for result in run_lanes(program, [start] * lanes, diagonal_metric(2, 2), chain_keys, 200)[1]:
        assert np.all(result["position"][:, 0] <= 1)
        rates = [each for each in result if each.endswith("acceptance_rate")]
        for field in ("position", "gradient", "lp", *rates):
            assert np.all(np.isfinite(result[field])), field
        assert np.all(np.isfinite(result.get("energy", 0)))
        ended, other = ("diverging", "non_finite") if is_divergence else ("non_finite", "diverging")
        assert np.mean(result[ended]) > 0.04 or (is_divergence and isinstance(kernel, NO_TRAJECTORY))
        assert not np.any(result[other])
        np.testing.assert_allclose(result["lp"], -0.5 * np.sum(result["position"] ** 2, 1), rtol=1e-12)
        assert len(np.unique(result["position"][:, 0])) > 50


@each_kernel
def test_evaluating_at_a_point_that_is_no_number_says_so(name: str) -> None:
    kernel = KERNELS[name](2)
    advance = _advance(kernel, lambda x, data: (jnp.sum(x) * 0 + data[0], x * 0 + data[1]))
    of_value, of_gradient = Ending.LOG_DENSITY, Ending.GRADIENT
    cases = (
        (np.nan, 0.0, of_value),
        (np.inf, 0.0, of_value),
        (0.0, np.nan, of_gradient),
        (0.0, np.inf, of_gradient),
    )
    for value, gradient, ending in cases:
        _, info, point = advance(kernel.init(_nowhere(np.ones(2))), True, 0.5, (value, gradient))
        assert info.ending == ending
        np.testing.assert_array_equal(point.log_density, value)
        np.testing.assert_array_equal(point.gradient, np.full(2, gradient))


@each_kernel
def test_a_gradient_of_1e300_ends_the_trajectory_without_harm(name: str) -> None:
    kernel = KERNELS[name](2)

    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return -0.5 * jnp.sum(x * x), jnp.where(x[0] > 0.5, -1e300, -x)

    start = standing_at(kernel, jax.jit(evaluate), np.array([0.4, 0.3]), 0.5)
    program = compile_program(kernel, evaluate, 2)
    _, result = run_draws(program, start, diagonal_metric(2, 2), keys.chain_key(0, 0), 100)
    rates = [result[each] for each in result if each.endswith("acceptance_rate")]
    assert rates and np.all(np.isfinite(rates))
    if not isinstance(kernel, NO_TRAJECTORY):  # no gradient carries these away
        assert np.all(result["position"][:, 0] <= 0.5) and np.any(result["diverging"] | result["non_finite"])


@pytest.mark.parametrize(
    "name", [each for each in KERNELS if each not in ("EllipticalSlice", "Ensemble", *_SLOW)]
)  # by chance
def test_the_length_of_a_trajectory_is_bounded(name: str) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    start = standing_at(kernel, jax.jit(case.evaluate), np.array([0.5, -1.0, 0.2]), 1e-6)
    program = compile_program(kernel, case.evaluate, 3)
    _, result = run_draws(program, start, diagonal_metric(3, 3), keys.chain_key(0, 0), 5)
    # Twenty widths of each coordinate, and one point within them, which is inside.
    longest = 2**6 - 1
    most = {
        "NUTS": longest,
        "HMC": 40,
        "ChEES": 40,
        "Slice": 3 * (19 + 1),
        "Gibbs": longest,
        "Repeat": longest,
        "Mixture": longest,
    }
    columns = [result[each] for each in result if each.endswith("n_steps")]
    assert np.max(columns or [1]) == most.get(name, 1)


@each_kernel
def test_statistics_of_a_draw_are_those_of_its_trajectory(name: str) -> None:
    kernel, case = KERNELS[name](3), normal(CORRELATED)
    start = standing_at(kernel, jax.jit(case.evaluate), np.array([0.5, -1.0, 0.2]), 0.4)
    program = compile_program(kernel, case.evaluate, 3)
    _, result = run_draws(program, start, dense_metric(3), keys.chain_key(1, 0), 200)
    values, gradients = zip(*map(case.numpy, result["position"]), strict=True)
    np.testing.assert_allclose(result["lp"], values, rtol=1e-12)
    # Terms of size one may cancel in a gradient: what is left is right to their roundings, some 2e-16 each.
    np.testing.assert_allclose(result["gradient"], gradients, rtol=1e-12, atol=1e-14)
    if name in ("NUTS", "HMC", "ChEES"):
        # Energy is that of the start: log density there, and a momentum, chi-square with 3 degrees of freedom.
        kinetic = result["energy"][1:] + result["lp"][:-1]
        assert np.all(kinetic > 0)
        assert abs(np.mean(kinetic) - 1.5) < 4 * np.sqrt(1.5 / 199)  # false alarm 6e-5
    rates = np.array([result[each] for each in result if each.endswith("acceptance_rate")])
    assert len(rates) and np.all((rates >= 0) & (rates <= 1))
    if name == "NUTS":
        full = 2.0 ** result["tree_depth"] - 1
        assert np.all((result["n_steps"] >= full) & (result["n_steps"] <= 2 * full + 1))


def _advance(kernel: AbstractKernel, evaluate: Callable[[jax.Array, Any], Any]) -> Callable[..., Any]:
    """One probe, jitted, with a metric that is not the identity: `(state, is_evaluation, step_size, data)`."""

    @jax.jit
    def advance(state: Any, is_evaluation: Any, step_size: Any, data: Any) -> Any:
        metric = dense_metric(state.point.position.free.shape[0])
        tuning = tuning_of(kernel, metric, step_size, is_probe=jnp.ones((), bool))
        key = jnp.zeros(2, jnp.uint32)
        return advanced(kernel, key, lambda at: evaluate(at.free, data), state, tuning, is_evaluation)

    return advance


def _nowhere(position: Any) -> Point:
    """A point that was not evaluated yet."""
    return Point(Position(position), np.zeros(()), np.zeros_like(position))


def _stats(kernel: AbstractKernel, info: Any) -> dict[str, float]:
    return {each.name: float(number) for each, number in zip(kernel.stats, info.stats, strict=True)}


def _marked(evaluate: Callable[[jax.Array], Any]) -> Callable[[jax.Array], Any]:
    """The same target as a call that can be found in a traced program."""

    def marked_target(position: jax.Array) -> Any:
        return evaluate(position)

    return jax.jit(marked_target)


def _paths_to_target(jaxpr: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """For each call of the target, the loops and branches around it."""
    for equation in jaxpr.eqns:
        if equation.params.get("name") == "marked_target":
            yield path
            continue
        primitive = equation.primitive.name
        inside = (*path, primitive) if primitive in ("while", "scan", "cond") else path
        for leaf in jax.tree.leaves(equation.params, is_leaf=_is_jaxpr):
            if _is_jaxpr(leaf):
                yield from _paths_to_target(getattr(leaf, "jaxpr", leaf), inside)


def _is_jaxpr(value: Any) -> bool:
    return isinstance(value, jax.extend.core.Jaxpr | jax.extend.core.ClosedJaxpr)
