"""Test the laws of bijectors: one-to-one, with the log determinant of their Jacobian, safe far out."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, each

from accord.bijectors import (
    AbstractBijector,
    Affine,
    Chain,
    Exp,
    Identity,
    Independent,
    Interval,
    LowerBounded,
    LowerCholesky,
    Ordered,
    PositiveOrdered,
    Sigmoid,
    Softplus,
    StickBreaking,
    UpperBounded,
)

inf = np.inf
SOME_BOUNDS = (np.array([-inf, -1.0, -inf, 2.0, 0.0, -3.0]), np.array([inf, inf, 4.0, 2.5, 1e-9, 1e9]))

BIJECTORS = {
    "identity": lambda: Identity(),
    "exp": lambda: Exp(),
    "softplus": lambda: Softplus(),
    "sigmoid": lambda: Sigmoid(),
    "affine": lambda: Affine(1, -2.5),
    "affine, arrays": lambda: Affine(np.arange(6), np.linspace(1.0, 2.0, 6)),
    "lower bounded": lambda: LowerBounded(3),
    "lower bounded at -inf": lambda: LowerBounded(-inf),
    "lower bounded, mixed": lambda: LowerBounded(SOME_BOUNDS[0]),
    "upper bounded": lambda: UpperBounded(-1.5),
    "upper bounded at inf": lambda: UpperBounded(inf),
    "upper bounded, mixed": lambda: UpperBounded(SOME_BOUNDS[1]),
    "interval": lambda: Interval(-1, 3),
    "interval, tiny": lambda: Interval(0.0, 1e-12),
    "interval to inf": lambda: Interval(2.0, inf),
    "interval from -inf": lambda: Interval(-inf, 2.0),
    "interval, whole line": lambda: Interval(-inf, inf),
    "interval, mixed": lambda: Interval(*SOME_BOUNDS),
    "interval, JAX bounds": lambda: Interval(jnp.zeros(6), jnp.full(6, 2.0)),
    "chain": lambda: Chain((Exp(), Affine(0, 2))),
    "chain with a structured part": lambda: Chain((Affine(0.0, 0.5), Ordered(), Softplus())),
    "independent": lambda: Independent(Exp(), 1),
    "simplex": lambda: StickBreaking(),
    "ordered": lambda: Ordered(),
    "positive ordered": lambda: PositiveOrdered(),
    "lower cholesky": lambda: LowerCholesky(),
}


def standard_input(rows: int = 4, scale: float = 1.0) -> jax.Array:
    """Normal numbers of shape `(rows, 6)`, a length that every bijector of the table takes."""
    return scale * jax.random.normal(jax.random.key(1), (rows, 6))


@each(BIJECTORS)
def test_inverse_undoes_forward_and_negates_the_log_det(bijector: AbstractBijector) -> None:
    x = standard_input()
    y, log_det = bijector.forward_and_log_det(x)
    back, log_det_back = bijector.inverse_and_log_det(y)
    assert_close(back, x, rtol=1e-6, atol=1e-6)
    assert_close(log_det_back, -log_det, rtol=1e-6, atol=1e-6)
    assert_close(bijector.forward(x), y)
    assert_close(bijector.inverse(y), back)


@each(BIJECTORS)
def test_log_det_is_that_of_the_jacobian(bijector: AbstractBijector) -> None:
    x = standard_input(1)[0]

    def free_part(x: jax.Array) -> jax.Array:
        y = bijector.forward(x)
        if isinstance(bijector, StickBreaking):
            return y[:-1]
        return y[np.tril_indices(y.shape[-1])] if isinstance(bijector, LowerCholesky) else y

    jacobian = jax.jacobian(free_part)(x)
    total = bijector.forward_and_log_det(x)[1].sum()
    assert_close(total, jnp.linalg.slogdet(jacobian)[1], rtol=1e-10, atol=1e-10)


@each(BIJECTORS)
def test_shapes_are_as_announced(bijector: AbstractBijector) -> None:
    x = standard_input().reshape(2, 2, 6)
    y, log_det = bijector.forward_and_log_det(x)
    assert y.shape == bijector.forward_shape(x.shape)
    assert bijector.inverse_shape(y.shape) == x.shape
    assert log_det.shape == x.shape[: x.ndim - bijector.domain_event_dim]
    back, log_det_back = bijector.inverse_and_log_det(y)
    assert back.shape == x.shape
    assert log_det_back.shape == y.shape[: y.ndim - bijector.codomain_event_dim]


@each(BIJECTORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_nan_far_out(bijector: AbstractBijector, dtype: type) -> None:
    x = jnp.asarray(
        [[-700.0, 700.0, 0.0, 700.0, -700.0, 1.0], [-60.0, 60.0, 80.0, -80.0, 30.0, -30.0]], dtype
    )
    y, log_det = bijector.forward_and_log_det(x)
    assert not jnp.isnan(y).any()
    assert not jnp.isnan(log_det).any()
    # Derivatives may overflow with the value, to inf; NaN they never are.
    slope = jax.jit(jax.grad(lambda x: bijector.forward_and_log_det(x)[1].sum() + bijector.forward(x).sum()))
    assert not jnp.isnan(slope(jnp.clip(x, -60, 60))).any()


@each(BIJECTORS)
def test_a_float32_input_stays_float32_with_plain_parameters(bijector: AbstractBijector) -> None:
    plain = all(isinstance(leaf, (int, float)) for leaf in jax.tree.leaves(bijector))
    y, log_det = bijector.forward_and_log_det(standard_input().astype(np.float32))
    expected = np.float32 if plain else np.float64
    # Whole numbers in an array take no part in the choice of dtype.
    assert y.dtype == log_det.dtype == expected


@each(BIJECTORS)
def test_it_works_under_jit_grad_and_vmap_and_stays_as_it_was(bijector: AbstractBijector) -> None:
    x = standard_input()
    fresh = pickle.loads(pickle.dumps(bijector))
    with jax.checking_leaks():
        for _ in range(2):
            together = jax.jit(bijector.forward_and_log_det)(x)
            apart = jax.vmap(bijector.forward_and_log_det)(x)
            by_argument = jax.jit(lambda b, x: b.forward_and_log_det(x))(bijector, x)
            jax.jit(jax.grad(lambda x: bijector.forward_and_log_det(x)[1].sum()))(x)
            assert_close(together, apart, rtol=1e-10)
            assert_close(together, by_argument, rtol=1e-10)
    assert jax.tree.structure(bijector) == jax.tree.structure(fresh)
    assert all(
        np.array_equal(a, b) for a, b in zip(jax.tree.leaves(bijector), jax.tree.leaves(fresh), strict=True)
    )


MIXED = {
    "lower": (2.0, inf, lambda: LowerBounded(2.0)),
    "upper": (-inf, 2.0, lambda: UpperBounded(2.0)),
    "neither": (-inf, inf, lambda: Identity()),
    "both": (2.0, 3.5, lambda: Interval(2.0, 3.5)),
}


@each(MIXED)
def test_a_traced_infinite_bound_is_no_bound(case: tuple) -> None:
    low, high, plain = case
    x = standard_input(1)[0]

    def total(x: jax.Array, low: float, high: float) -> tuple[jax.Array, jax.Array]:
        y, log_det = Interval(low, high).forward_and_log_det(x)
        return (jnp.sin(y) + log_det).sum(), y

    (_, y), (slope, by_low, by_high) = jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2), has_aux=True))(
        x, low, high
    )
    expected, log_det = plain().forward_and_log_det(x)
    assert_close(y, expected)
    want = jax.grad(lambda x: (jnp.sin(plain().forward(x)) + plain().forward_and_log_det(x)[1]).sum())(x)
    assert_close(slope, want, rtol=1e-10)
    assert_finite((by_low, by_high))
    assert (by_low == 0) == (low == -inf)
    assert (by_high == 0) == (high == inf)
    back, log_det_back = jax.jit(lambda y, a, b: Interval(a, b).inverse_and_log_det(y))(y, low, high)
    assert_close((back, log_det_back), (x, -log_det), rtol=1e-10, atol=1e-10)


def test_interval_keeps_digits_near_both_ends() -> None:
    near_low = Interval(0.0, 8.0).forward(-80.0)
    near_high = Interval(-8.0, 0.0).forward(80.0)
    assert_close(near_low, jnp.asarray(8 * np.exp(-80.0)), rtol=1e-14, atol=0.0)
    assert_close(near_high, jnp.asarray(-8 * np.exp(-80.0)), rtol=1e-14, atol=0.0)
    ends = Interval(1.0, 3.0).forward(jnp.asarray([-1000.0, 1000.0]))
    assert_close(ends, jnp.asarray([1.0, 3.0]), rtol=0.0, atol=0.0)


def test_sigmoid_stays_inside_the_open_interval() -> None:
    for dtype in (np.float32, np.float64):
        y = Sigmoid().forward(jnp.asarray([-2000.0, -100.0, 100.0, 2000.0], dtype))
        assert ((y > 0) & (y < 1)).all()


def test_simplex_maps_zeros_to_the_uniform_point() -> None:
    assert_close(StickBreaking().forward(jnp.zeros((2, 4))), jnp.full((2, 5), 0.2))


def test_simplex_inverts_points_close_to_a_vertex() -> None:
    y = jnp.asarray([1.0, 1e-18, 1e-200, 1e-250])
    assert_close(StickBreaking().forward(StickBreaking().inverse(y)), y, rtol=1e-12, atol=0.0)


def test_structured_values_lie_in_their_sets() -> None:
    x = standard_input()
    assert_close(StickBreaking().forward(x).sum(-1), jnp.ones(4))
    assert (jnp.diff(Ordered().forward(x), axis=-1) > 0).all()
    assert (PositiveOrdered().forward(x) > 0).all()
    factor = LowerCholesky().forward(x)
    assert factor.shape == (4, 3, 3)
    assert (factor == jnp.tril(factor)).all()
    assert (jnp.diagonal(factor, axis1=-2, axis2=-1) > 0).all()


def test_softplus_has_the_derivatives_of_its_smooth_self_at_zero() -> None:
    forward = Softplus().forward
    assert_close(jax.grad(forward)(0.0), jnp.asarray(0.5))
    assert_close(jax.grad(jax.grad(forward))(0.0), jnp.asarray(0.25))
