"""Test constraints: who is inside, a point well inside, words for messages, and the map that covers them."""

import math
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, compiled, each

from accord.bijectors import float_type
from accord.core.errors import DistributionError
from accord.distributions import biject_to, constraints
from accord.distributions import constraint as c

inf, nan = np.inf, np.nan
FLOATS = (np.float32, np.float64)
CORRELATION = [[1.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.0]]
FACTOR = np.linalg.cholesky(CORRELATION)


class Line(NamedTuple):
    """A constraint, events inside and outside of it, words that describe it, and why no map covers it, if none does."""

    make: Callable[[], c.Constraint]
    inside: Any
    outside: Any
    words: str
    unmapped: str = ""


LINES = {
    "real": Line(lambda: constraints.real, [0.0, -inf, inf], [nan], "a real number"),
    "real vector": Line(lambda: constraints.real_vector, [[0.0, 1.0]], [[0.0, nan]], "a real number"),
    "real matrix": Line(lambda: constraints.real_matrix, [[[0.0, 1.0]]], [[[0.0, nan]]], "a real number"),
    "complex": Line(lambda: constraints.complex, [0j, 1 - 2j], [complex(nan, 0)], "a complex number"),
    "positive": Line(lambda: constraints.positive, [1e-30, 3.0], [0.0, -1.0, nan], "above 0.0"),
    "softplus positive": Line(lambda: constraints.softplus_positive, [1e-9, 3.0], [0.0, nan], "above 0.0"),
    "nonnegative": Line(lambda: constraints.nonnegative, [0.0, 3.0], [-1e-9, nan], "at least 0.0"),
    "greater than": Line(lambda: constraints.greater_than(2), [2.1], [2.0, nan], "above 2"),
    "greater than, array": Line(
        lambda: constraints.greater_than(np.array([0.0, -inf])),
        [[1.0, -9.0]],
        [[0.0, nan]],
        "above [  0. -inf]",
    ),
    "greater than or equal": Line(lambda: constraints.greater_than_eq(2), [2.0], [1.9], "at least 2"),
    "less than": Line(lambda: constraints.less_than(2.0), [1.9], [2.0, nan], "below 2.0"),
    "less than or equal": Line(lambda: constraints.less_than_eq(2.0), [2.0], [2.1, nan], "at most 2.0"),
    "unit interval": Line(
        lambda: constraints.unit_interval, [0.0, 0.5, 1.0], [-0.1, 1.1], "between 0.0 and 1.0"
    ),
    "interval": Line(lambda: constraints.interval(-1, 3), [-1.0, 3.0], [-1.1, 3.1, nan], "between -1 and 3"),
    "interval, open above": Line(
        lambda: constraints.interval(-1, inf), [-1.0, 3e9], [-1.1, nan], "between -1 and inf"
    ),
    "open interval": Line(
        lambda: constraints.open_interval(-1, 3), [-0.9, 2.9], [-1.0, 3.0], "strictly between -1 and 3"
    ),
    "circular": Line(
        lambda: constraints.circular, [-math.pi, 3.0], [3.2, nan], "an angle between -pi and pi"
    ),
    "boolean": Line(lambda: constraints.boolean, [0, 1], [2, -1], "0 or 1", "discrete"),
    "nonnegative integer": Line(
        lambda: constraints.nonnegative_integer, [0.0, 7.0], [-1.0, 0.5, nan], "at least 0", "discrete"
    ),
    "positive integer": Line(lambda: constraints.positive_integer, [1, 7], [0], "at least 1", "discrete"),
    "integer greater than": Line(
        lambda: constraints.integer_greater_than(3), [3, 7], [2], "a whole number of at least 3", "discrete"
    ),
    "integer interval": Line(
        lambda: constraints.integer_interval(1, 3), [1, 3], [0, 4], "a whole number from 1 to 3", "discrete"
    ),
    "multinomial": Line(
        lambda: constraints.multinomial(3),
        [[3, 0, 0], [1, 1, 1]],
        [[4, -1, 0], [1, 1, 0]],
        "counts with sum 3",
        "discrete",
    ),
    "simplex": Line(
        lambda: constraints.simplex,
        [[0.2, 0.8, 0.0]],
        [[0.3, 0.8, 0.0], [-0.1, 1.1, 0.0], [nan, 1, 0]],
        "sum 1",
    ),
    "l1 ball": Line(
        lambda: constraints.l1_ball, [[0.5, -0.5], [0.0, 0.1]], [[0.6, -0.5], [nan, 0.0]], "at most 1"
    ),
    "sphere": Line(
        lambda: constraints.sphere,
        [[0.6, -0.8], [0.0, 1.0]],
        [[0.6, 0.6], [nan, 1.0]],
        "of length 1",
        "sphere",
    ),
    "ordered vector": Line(
        lambda: constraints.ordered_vector,
        [[-1.0, 0.0, 2.0]],
        [[0.0, 0.0, 1.0], [0.0, nan, 1.0]],
        "increasing",
    ),
    "positive ordered vector": Line(
        lambda: constraints.positive_ordered_vector,
        [[0.1, 2.0]],
        [[0.0, 1.0], [2.0, 1.0]],
        "positive and incr",
    ),
    "zero sum": Line(lambda: constraints.zero_sum(), [[1.0, -3.0, 2.0]], [[1.0, -3.0, 2.1]], "of sum 0"),
    "zero sum, two axes": Line(
        lambda: constraints.zero_sum(event_dim=2),
        [[[1.0, -1.0], [-1.0, 1.0]]],
        [[[1.0, -1.0], [1.0, -1.0]], [[1.0, 1.0], [-1.0, -1.0]], [[nan, 0.0], [0.0, 0.0]]],
        "last 2 axes",
    ),
    "circulant": Line(
        lambda: constraints.positive_definite_circulant_vector,
        [[1.0, 0.2, 0.1, 0.2]],
        [[1.0, 0.2, 0.1, 0.3], [1.0, 0.9, 0.1, 0.9], [nan, 0.0, 0.0, 0.0]],
        "positive Fourier coefficients",
        "no map",
    ),
    "lower cholesky": Line(
        lambda: constraints.lower_cholesky,
        [[[1.0, 0.0], [-3.0, 0.1]]],
        [[[1.0, 0.1], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [nan, 1.0]]],
        "lower triangular with a positive diagonal",
    ),
    "softplus lower cholesky": Line(
        lambda: constraints.softplus_lower_cholesky, [FACTOR], [FACTOR.T], "lower triangular"
    ),
    "scaled unit lower cholesky": Line(
        lambda: constraints.scaled_unit_lower_cholesky, [FACTOR], [FACTOR.T], "lower triangular"
    ),
    "correlation cholesky": Line(
        lambda: constraints.corr_cholesky, [FACTOR, np.eye(3)], [2 * FACTOR, FACTOR.T], "rows of length 1"
    ),
    "positive definite": Line(
        lambda: constraints.positive_definite,
        [[[2.0, 0.5], [0.5, 1.0]]],
        [
            [[1.0, 0.5], [0.4, 1.0]],
            [[1.0, 2.0], [2.0, 1.0]],
            [[nan, 0.0], [0.0, 1.0]],
            [[inf, 0.0], [0.0, 1.0]],
        ],
        "symmetric and positive definite",
    ),
    "positive semidefinite": Line(
        lambda: constraints.positive_semidefinite,
        [[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]],
        [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.5, 1.0]], [[inf, 0.0], [0.0, 1.0]]],
        "positive semidefinite",
    ),
    "below identity": Line(
        lambda: constraints.below_identity,
        [[[0.9, 0.1], [0.1, 0.5]]],
        [
            [[0.9, 0.4], [0.4, 0.9]],
            [[0.1, 0.5], [0.5, 0.1]],
            [[1.0, 0.0], [0.0, 0.5]],
            [[0.5, 0.1], [0.0, 0.5]],
            [[nan, 0.0], [0.0, 0.5]],
        ],
        "eigenvalues between 0 and 1",
    ),
    "correlation": Line(
        lambda: constraints.corr_matrix,
        [CORRELATION],
        [2 * np.array(CORRELATION), np.ones((3, 3))],
        "a diagonal of ones",
    ),
    "independent": Line(
        lambda: constraints.independent(constraints.positive, 1), [[1.0, 2.0]], [[1.0, -2.0]], "above 0.0"
    ),
    "slices": Line(
        lambda: constraints.cat([constraints.simplex, constraints.positive], lengths=(2, 1)),
        [[0.2, 0.8, 3.0]],
        [[0.2, 0.7, 3.0], [0.2, 0.8, -3.0]],
        "then 1 along axis -1 above 0.0",
    ),
    "slices of numbers": Line(
        lambda: constraints.cat([constraints.positive, constraints.real]),
        [[1.0, -1.0]],
        [[-1.0, nan]],
        "a real",
    ),
}
MAPPED = {name: line for name, line in LINES.items() if not line.unmapped}


def in_shape(events: Any) -> np.ndarray:
    """Events as an array; whole numbers stay whole."""
    return np.asarray(events)


@each(LINES)
def test_a_constraint_contains_its_members_and_no_others(line: Line) -> None:
    constraint = line.make()
    for events, expected in ((line.inside, True), (line.outside, False)):
        value = in_shape(events)
        found = constraint(value)
        assert isinstance(found, (np.ndarray, np.generic))
        assert found.shape == value.shape[: value.ndim - constraint.event_dim]
        # As an argument of a compiled function the bounds are traced.
        traced = compiled(lambda constraint, value: constraint(value))(constraint, value)
        np.testing.assert_array_equal(found, np.full(found.shape, expected))
        np.testing.assert_array_equal(traced, found)


@each(LINES)
def test_the_feasible_value_is_inside(line: Line) -> None:
    constraint, value = line.make(), in_shape(line.inside)
    for dtype in FLOATS if value.dtype.kind == "f" else (value.dtype,):
        feasible = constraint.feasible_like(value.astype(dtype))
        assert feasible.shape == value.shape
        # Bounds in a wider array widen it.
        assert feasible.dtype == (
            float_type(np.zeros((), dtype), *jax.tree.leaves(constraint)) if dtype in FLOATS else dtype
        )
        assert np.all(constraint(np.asarray(feasible)))


@each(LINES)
def test_a_constraint_has_words_and_survives_a_pickle(line: Line) -> None:
    constraint = line.make()
    assert line.words in constraint.describe()
    again = pickle.loads(pickle.dumps(constraint))
    assert hash(again) == hash(constraint)
    assert again.describe() == constraint.describe()


@each(MAPPED)
def test_the_map_covers_the_constraint(line: Line) -> None:
    constraint, value = line.make(), in_shape(line.inside)
    shape = (5, *biject_to(constraint).inverse_shape(value.shape))
    x = np.random.default_rng(0).normal(size=shape)

    def look(constraint: c.Constraint, x: jax.Array) -> tuple:
        bijector = biject_to(constraint)
        y = bijector.forward(x)
        return constraint(y), constraint(bijector.forward(x.astype(np.float32))), bijector.inverse(y)

    inside, inside_float32, back = compiled(look)(constraint, x)
    assert np.all(inside)
    assert np.all(inside_float32)
    assert_close(back, x, rtol=1e-7, atol=1e-7)


@each({name: line for name, line in LINES.items() if line.unmapped})
def test_a_constraint_without_a_map_says_so(line: Line) -> None:
    with pytest.raises(DistributionError, match=line.unmapped):
        biject_to(line.make())


def test_known_bounds_choose_the_plain_map() -> None:
    kinds = {
        "Exp": constraints.positive,
        "Sigmoid": constraints.unit_interval,
        "Softplus": constraints.softplus_positive,
        "Interval": constraints.circular,
        "CorrCholesky": constraints.corr_cholesky,
        "LowerCholesky": constraints.lower_cholesky,
    }
    assert {kind: type(biject_to(constraint)).__name__ for kind, constraint in kinds.items()} == {
        kind: kind for kind in kinds
    }


def test_a_dependent_constraint_sends_the_user_to_the_support() -> None:
    for ask in (
        lambda: constraints.dependent(np.ones(2)),
        lambda: constraints.dependent.feasible_like(np.ones(2)),
        lambda: biject_to(constraints.dependent),
    ):
        with pytest.raises(DistributionError, match="support"):
            ask()
    assert constraints.is_dependent(constraints.independent(constraints.dependent, 1))
    assert constraints.is_dependent(constraints.cat([constraints.real, constraints.dependent]))
    assert not constraints.is_dependent(constraints.real)


def test_slices_must_fit_the_value() -> None:
    with pytest.raises(DistributionError, match="2 long"):
        constraints.cat([constraints.real, constraints.positive], lengths=(1, 2))(np.ones(2))
    with pytest.raises(DistributionError, match="one length for each"):
        constraints.cat([constraints.real], lengths=(1, 2))
    with pytest.raises(DistributionError, match="counted from the end"):
        constraints.cat([constraints.real], dim=0)


def test_every_named_constraint_has_a_line() -> None:
    made = {type(line.make()) for line in LINES.values()} | {c.Dependent}
    named = {getattr(constraints, name) for name in constraints.__all__ if name != "is_dependent"}
    kinds = {item if isinstance(item, type) else type(item) for item in named}
    assert kinds - {c.Constraint} == made
    assert jnp.issubdtype(
        constraints.complex.feasible_like(jnp.zeros(2, np.float32)).dtype, jnp.complexfloating
    )
