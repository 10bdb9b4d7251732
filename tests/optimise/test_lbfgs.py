"""Climb functions by asking and telling: on the host, and in a program with the same numbers."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.core.tree import to_numpy
from accord.optimise.lbfgs import LBFGS, LBFGSState, Point


def valley(x):
    return -jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ridge(x):
    """Widths from 0.1 to 10, and a height that hides small gains in float32."""
    return 1e4 - jnp.sum((x / jnp.logspace(-1, 1, x.shape[0])) ** 2) / 2


def bounded(x):
    """Not finite on one side of its top."""
    return jnp.sum(jnp.log(1 - x) + 0.1 * x)


def upward(x):
    """Curved upward where a climb begins, with its top far away."""
    return -jnp.sum(jnp.log1p((x - 50) ** 2))


TOPS = {"valley": (valley, 1.0), "ridge": (ridge, 0.0), "bounded": (bounded, -9.0), "upward": (upward, 50.0)}


def steep(x):
    """A slope of 1e78 where a climb begins, and of order one around the top."""
    return -jnp.sum(x**2 / 2 + jnp.exp(60 * x))


def point_of(function: Callable, position) -> Point:
    return Point(position, *jax.value_and_grad(function)(position))


def on_host(function: Callable, position: np.ndarray, search: LBFGS, most: int = 500) -> list[LBFGSState]:
    """All states of a climb."""
    evaluate = jax.jit(jax.value_and_grad(function))

    def at(position: np.ndarray) -> Point:
        value, gradient = map(np.asarray, evaluate(position))
        return Point(position, value, gradient)

    with np.errstate(all="ignore"):
        states = [search.init(at(position))]
        while not states[-1].is_over and len(states) < most:
            states.append(search.tell(states[-1], at(search.ask(states[-1]))))
    return states


@pytest.mark.parametrize("name", TOPS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_climb_settles_on_the_top(name: str, dtype: str) -> None:
    function, top = TOPS[name]
    search = LBFGS(epsilon=float(np.finfo(dtype).eps), patience=3)
    with jax.enable_x64(dtype == "float64"):
        end = on_host(function, np.linspace(-1, 0.5, 5, dtype=dtype), search)[-1]
        best = function(jnp.full(5, top, dtype))
    assert end.is_settled
    assert best - end.point.log_density < 0.1 * search.epsilon**0.5 + 10 * search.epsilon * abs(best)
    assert {end.point.position.dtype, end.direction.dtype} == {np.dtype(dtype)}


@pytest.mark.parametrize("name", TOPS)
def test_a_program_takes_the_steps_of_the_host(name: str) -> None:
    function, _ = TOPS[name]
    search, start = LBFGS(), np.linspace(-1, 0.5, 5)
    states = on_host(function, start, search)[:8]

    @jax.jit
    def told(state: LBFGSState) -> LBFGSState:
        return search.tell(state, point_of(function, search.ask(state)))

    found = jax.jit(lambda position: search.init(point_of(function, position)))(start)
    for expected in states:
        for one, other in zip(jax.tree.leaves(to_numpy(found)), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
        found = told(found)


def test_a_climb_rises_from_point_to_point_and_ends_no_line_where_it_is_steep() -> None:
    states = on_host(valley, np.linspace(-1, 0.5, 5), LBFGS())
    for old, new in pairwise(states):
        slope = old.point.gradient @ old.direction
        if new.num_lines == old.num_lines:
            assert new.point is old.point
            assert new.num_tries == old.num_tries + 1
        else:
            assert new.point.log_density > old.point.log_density
            assert new.point.gradient @ old.direction <= 0.9 * slope


def test_no_coordinate_first_tries_to_move_by_more_than_it_may() -> None:
    states = on_host(upward, np.full(3, -5.0), LBFGS(longest=2.0))
    firsts = [state for state in states if state.num_tries == 0]
    moves = [np.max(np.abs(state.step * state.direction)) for state in firsts]
    assert max(moves) <= 2.0 * (1 + 1e-12)


def test_a_line_that_begins_much_too_short_soon_reaches_as_far_as_it_may() -> None:
    """After the first line, a step that is right by the slopes so far is 1e50 times too short."""
    states = on_host(steep, np.full(3, 3.0), LBFGS(longest=2.0, patience=3))
    tries = max(state.num_tries for state in states)
    assert states[-1].is_settled
    assert tries < 12
    assert len(states) < 60


def test_a_climb_ends_after_as_many_lines_that_promise_little_as_it_has_patience_for() -> None:
    ends = [on_host(valley, np.linspace(-1, 0.5, 5), LBFGS(gain=0.1, patience=n))[-1] for n in (1, 3)]
    assert [end.num_flat for end in ends] == [1, 3]
    assert all(end.is_settled and end.promise <= 0.1 + 1e-6 for end in ends)
    assert ends[0].num_lines < ends[1].num_lines


@pytest.mark.parametrize(
    "point",
    [
        Point(np.zeros(2), np.float64(-np.inf), np.zeros(2)),
        Point(np.zeros(2), np.float64(np.nan), np.ones(2)),
        Point(np.zeros(2), np.float64(0), np.array([1.0, np.nan])),
        Point(np.zeros(2), np.float64(0), np.array([np.inf, 1.0])),
    ],
)
def test_a_climb_cannot_begin_where_numbers_are_not_finite(point: Point) -> None:
    with np.errstate(all="ignore"):
        state = LBFGS().init(point)
    assert state.is_over
    assert not state.is_settled


def test_a_climb_begins_settled_where_the_gradient_is_zero() -> None:
    assert LBFGS().init(Point(np.zeros(2), np.float64(0), np.zeros(2))).is_settled


def test_a_line_without_a_higher_point_is_tried_again_without_what_is_remembered_and_then_given_up() -> None:
    search = LBFGS()
    state = on_host(valley, np.linspace(-1, 0.5, 5), search)[20]
    assert np.any(state.turns != 0)
    lower = replace(state.point, log_density=state.point.log_density - 1)
    forgot = False
    while not state.is_over:
        state = search.tell(state, replace(lower, position=search.ask(state)))
        forgot |= bool(np.all(state.turns == 0))
    assert forgot
    assert not state.is_settled
    assert state.num_tries == 30
