"""Test the laws of bijectors: one-to-one, with the log determinant of their Jacobian, safe far out."""

import functools
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bijector_table import BIJECTORS, Line, standard_input
from laws import assert_close, assert_finite, compiled, each, no_leaks

import accord.distributions as dist
from accord.bijectors import (
    AbstractBijector,
    Cdf,
    Chain,
    CorrCholesky,
    CorrMatrix,
    Exp,
    Identity,
    Interval,
    Inverse,
    LowerBounded,
    LowerCholesky,
    Named,
    Ordered,
    Permute,
    PositiveOrdered,
    Reshape,
    Sigmoid,
    SimplexToOrdered,
    Softplus,
    Stacked,
    StickBreaking,
    Unpack,
    UpperBounded,
    ZeroSum,
    float_type,
)
from accord.core.errors import DistributionError

inf = np.inf
COMPLEX = {"float32": "complex64", "float64": "complex128"}
FAR = np.array([[-700.0, 700.0, 0.0, 700.0, -700.0, 1.0], [-60.0, 60.0, 80.0, -80.0, 30.0, -30.0]])


class Seen(NamedTuple):
    """What a bijector does with ordinary inputs."""

    x: Any
    y: Any
    log_det: Any
    back: Any
    log_det_back: Any
    jacobian_log_det: Any  # at ordinary inputs, and with the elements of the first row set to 0
    log_det_near_zero: Any
    second: Any  # derivatives, along one direction


@functools.cache
def seen(make: Callable[[], Line]) -> Seen:
    """All of it in one compilation, which every law then looks at."""
    bijector, domain, free = make()
    start = Identity() if domain is None else domain
    normal = standard_input()
    with_zeros = normal * np.array([[0.0], [1.0]])

    def free_part(u: jax.Array) -> jax.Array:
        y = bijector.forward(start.forward(u))
        return (y if free is None else free(y)).reshape(-1)

    def bend(u: jax.Array) -> jax.Array:
        return jnp.sin(free_part(u)).sum() + bijector.forward_and_log_det(start.forward(u))[1].sum()

    def look(normal: jax.Array, with_zeros: jax.Array) -> Seen:
        x, log_det_start = start.forward_and_log_det(normal)
        y, log_det = bijector.forward_and_log_det(x)
        x_zero, log_det_start_zero = start.forward_and_log_det(with_zeros)
        log_det_zero = bijector.forward_and_log_det(x_zero)[1].sum() + log_det_start_zero.sum()
        both = jnp.stack([normal, with_zeros])
        jacobians = jax.vmap(jax.jacobian(free_part))(both)
        volumes = log_volume(jacobians.reshape(*jacobians.shape[:2], -1))
        return Seen(
            x,
            y,
            log_det,
            *bijector.inverse_and_log_det(y),
            volumes,
            jnp.stack([log_det.sum() + log_det_start.sum(), log_det_zero]),
            jax.jvp(jax.vmap(jax.grad(bend)), (both,), (jnp.cos(both),))[1],
        )

    return compiled(look)(normal, with_zeros)


def log_volume(jacobian: jax.Array) -> jax.Array:
    """Log of how much a map with this Jacobian stretches volume, or area where there are more rows than columns."""
    if jacobian.shape[-2] > jacobian.shape[-1]:
        jacobian = jnp.linalg.qr(jacobian)[1]
    return jnp.linalg.slogdet(jacobian)[1]


# The makers of the lines rather than the lines, so that what laws have in common is computed once.
MAKERS = {name: (make,) for name, make in BIJECTORS.items()}


@each(MAKERS)
def test_inverse_undoes_forward_and_negates_the_log_det(case: tuple) -> None:
    result = seen(*case)
    assert_close(result.back, result.x, rtol=1e-6, atol=1e-6)
    assert_close(result.log_det_back, -result.log_det, rtol=1e-6, atol=1e-6)


@each(MAKERS)
def test_log_det_is_that_of_the_jacobian(case: tuple) -> None:
    result = seen(*case)
    assert_close(result.log_det_near_zero, result.jacobian_log_det, rtol=1e-9, atol=1e-9)


@each(MAKERS)
def test_second_derivatives_are_finite_at_zero_too(case: tuple) -> None:
    assert_finite(seen(*case).second)


@each(BIJECTORS)
def test_shapes_and_dtypes_are_as_announced(line: Line) -> None:
    bijector, domain, _ = line
    start = Identity() if domain is None else domain
    for dtype in (np.float32, np.float64):
        x = jax.eval_shape(start.forward, jax.ShapeDtypeStruct((2, 2, 6), dtype))
        y, log_det = jax.eval_shape(bijector.forward_and_log_det, x)
        assert y.shape == bijector.forward_shape(x.shape)
        assert bijector.inverse_shape(y.shape) == x.shape
        assert log_det.shape == x.shape[: x.ndim - bijector.domain_event_dim]
        back, log_det_back = jax.eval_shape(bijector.inverse_and_log_det, y)
        assert back.shape == x.shape
        assert log_det_back.shape == y.shape[: y.ndim - bijector.codomain_event_dim]
        # Whole numbers in an array take no part in the choice of dtype.
        expected = float_type(jnp.zeros((), dtype), *jax.tree.leaves(bijector))
        assert log_det.dtype == back.dtype == log_det_back.dtype == expected
        assert y.dtype == (COMPLEX[expected.name] if y.dtype.kind == "c" else expected)


@each({name: make for name, make in BIJECTORS.items() if make().domain is None})
def test_nothing_is_nan_far_out(line: Line) -> None:
    bijector = line.bijector

    def look(x: jax.Array) -> tuple:
        def total(x: jax.Array) -> jax.Array:
            y, log_det = bijector.forward_and_log_det(x)
            return log_det.sum() + jnp.real(y).sum() + jnp.imag(y).sum()

        # Derivatives may overflow with the value, to inf; NaN they never are.
        return *bijector.forward_and_log_det(x), jax.grad(total)(jnp.clip(x, -60, 60))

    for y, log_det, slope in compiled(lambda *both: [look(x) for x in both])(FAR, FAR.astype(np.float32)):
        assert not np.isnan(y).any()
        assert not np.isnan(slope).any()
        assert_finite(log_det)


@each(MAKERS)
def test_a_bijector_maps_alike_as_an_argument_from_a_pickle_and_under_vmap(case: tuple) -> None:
    bijector = case[0]().bijector
    fresh = pickle.loads(pickle.dumps(bijector))
    assert jax.tree.structure(bijector) == jax.tree.structure(fresh)
    assert hash(bijector) == hash(fresh)
    result = seen(*case)
    # Rows are a batch, unless they make up the event or lie along the axis that is cut.
    has_batch = np.ndim(result.log_det) > 0 and not (isinstance(bijector, Stacked) and bijector.dim < -1)

    def again(bijector: AbstractBijector, x: jax.Array) -> tuple:
        apply = bijector.forward_and_log_det
        return (jax.vmap(apply) if has_batch else apply)(x)

    with no_leaks():
        y, log_det = compiled(again)(fresh, result.x)
    assert_close((y, log_det), (result.y, result.log_det), rtol=1e-10, atol=1e-10)


MIXED = {
    "lower": (2.0, inf, lambda: LowerBounded(2.0)),
    "upper": (-inf, 2.0, lambda: UpperBounded(2.0)),
    "neither": (-inf, inf, lambda: Identity()),
    "both": (2.0, 3.5, lambda: Interval(2.0, 3.5)),
}


@each(MIXED)
def test_a_traced_infinite_bound_is_no_bound(case: tuple) -> None:
    low, high, plain = case
    x = np.array([*standard_input(1)[0], 0.0])

    def total(x: jax.Array, low: float, high: float) -> tuple[jax.Array, jax.Array]:
        y, log_det = Interval(low, high).forward_and_log_det(x)
        return (jnp.sin(y) + log_det).sum(), y

    def undo(y: jax.Array, low: float, high: float) -> tuple[jax.Array, tuple]:
        x, log_det = Interval(low, high).inverse_and_log_det(y)
        return (jnp.sin(x) + log_det).sum(), (x, log_det)

    def look(x: jax.Array, low: float, high: float) -> tuple:
        (_, y), slopes = jax.value_and_grad(total, argnums=(0, 1, 2), has_aux=True)(x, low, high)
        return y, slopes, jax.value_and_grad(undo, argnums=(0, 1, 2), has_aux=True)(y, low, high)

    def expect(x: jax.Array) -> tuple:
        y, log_det = plain().forward_and_log_det(x)
        slope = jax.grad(lambda x: (jnp.sin(plain().forward(x)) + plain().forward_and_log_det(x)[1]).sum())(x)
        back = jax.grad(lambda y: (jnp.sin(plain().inverse(y)) + plain().inverse_and_log_det(y)[1]).sum())(y)
        return y, log_det, slope, back

    y, (slope, by_low, by_high), ((_, back), (slope_back, low_back, high_back)) = compiled(look)(x, low, high)
    expected, log_det, want, want_back = compiled(expect)(x)
    assert_close(y, expected)
    assert_close(slope, want, rtol=1e-10)
    assert_close(slope_back, want_back, rtol=1e-8)
    assert_close(back, (jnp.asarray(x), -log_det), rtol=1e-10, atol=1e-10)
    assert_finite((by_low, by_high, low_back, high_back))
    assert (by_low == 0) == (low_back == 0) == (low == -inf)
    assert (by_high == 0) == (high_back == 0) == (high == inf)


def test_interval_keeps_digits_near_both_ends() -> None:
    near_low = Interval(0.0, 8.0).forward(-80.0)
    near_high = Interval(-8.0, 0.0).forward(80.0)
    assert_close(near_low, jnp.asarray(8 * np.exp(-80.0)), rtol=1e-14, atol=0.0)
    assert_close(near_high, jnp.asarray(-8 * np.exp(-80.0)), rtol=1e-14, atol=0.0)
    ends = Interval(1.0, 3.0).forward(jnp.asarray([-1000.0, 1000.0]))
    assert_close(ends, jnp.asarray([1.0, 3.0]), rtol=0.0, atol=0.0)


def test_interval_has_the_slope_of_the_sigmoid_at_its_middle() -> None:
    assert_close(jax.grad(Interval(-1.0, 3.0).forward)(0.0), jnp.asarray(1.0))
    assert_close(jax.grad(jax.grad(Interval(-1.0, 3.0).forward))(0.0), jnp.asarray(0.0))


def test_sigmoid_stays_inside_the_open_interval() -> None:
    for dtype in (np.float32, np.float64):
        y = Sigmoid().forward(jnp.asarray([-2000.0, -100.0, 100.0, 2000.0], dtype))
        assert ((y > 0) & (y < 1)).all()


def test_simplex_maps_zeros_to_the_uniform_point() -> None:
    assert_close(StickBreaking().forward(jnp.zeros((2, 4))), jnp.full((2, 5), 0.2))


def test_simplex_inverts_points_close_to_a_vertex() -> None:
    y = jnp.asarray([1.0, 1e-18, 1e-200, 1e-250])
    assert_close(StickBreaking().forward(StickBreaking().inverse(y)), y, rtol=1e-12, atol=0.0)


def test_ordered_keeps_the_digits_of_small_parts_of_the_simplex() -> None:
    y = jnp.asarray([1e-30, 1.0, 1e-12, 1e-40])
    cut = SimplexToOrdered().forward(y)
    assert_close(
        SimplexToOrdered().inverse(cut)[jnp.asarray([0, 3])], y[jnp.asarray([0, 3])], rtol=1e-12, atol=0.0
    )


def test_structured_values_lie_in_their_sets() -> None:
    x = standard_input()
    assert_close(StickBreaking().forward(x).sum(-1), jnp.ones(2))
    assert (jnp.diff(Ordered().forward(x), axis=-1) > 0).all()
    assert (PositiveOrdered().forward(x) > 0).all()
    factor = LowerCholesky().forward(x)
    assert factor.shape == (2, 3, 3)
    assert (factor == jnp.tril(factor)).all()
    assert (jnp.diagonal(factor, axis1=-2, axis2=-1) > 0).all()


def test_a_zero_sum_is_an_isometry() -> None:
    matrix = np.asarray(jax.jacobian(ZeroSum().forward)(jnp.zeros(5)))
    assert_close(matrix.T @ matrix, np.eye(5), atol=1e-14)
    assert_close(matrix.sum(0), np.zeros(5), atol=1e-14)


def test_a_large_correlation_is_mapped_without_loops() -> None:
    x = jnp.zeros(190)
    assert len(jax.make_jaxpr(CorrCholesky().forward_and_log_det)(x).eqns) < 60
    assert CorrMatrix().forward_shape((190,)) == (20, 20)
    assert CorrCholesky().inverse_shape((20, 20)) == (190,)


def test_python_numbers_that_went_through_jit_do_not_widen_float32() -> None:
    for bijector in (LowerBounded(1.5), Interval(0, 2.5), Chain((Exp(), LowerBounded(1.5)))):
        x = jnp.zeros(3, np.float32)
        y, log_det = jax.eval_shape(jax.jit(lambda b, x: b.forward_and_log_det(x)), bijector, x)
        assert y.dtype == log_det.dtype == np.float32


def test_softplus_has_the_derivatives_of_its_smooth_self_at_zero() -> None:
    forward = Softplus().forward
    assert_close(jax.grad(forward)(0.0), jnp.asarray(0.5))
    assert_close(jax.grad(jax.grad(forward))(0.0), jnp.asarray(0.25))


def test_a_vector_is_unpacked_into_names_each_mapped_on_its_own() -> None:
    unpack = Unpack({"a": (), "b": (2,), "c": (1, 3)})
    both = Chain((unpack, Named({"a": Exp(), "b": Ordered(), "c": StickBreaking()})))
    x = standard_input(1)[0]
    y, log_det = jax.jit(both.forward_and_log_det)(x)
    assert {name: array.shape for name, array in y.items()} == {"a": (), "b": (2,), "c": (1, 4)}
    assert both.forward_shape((6,)) == {"a": (), "b": (2,), "c": (1, 4)}
    assert both.inverse_shape(both.forward_shape((6,))) == (6,)
    parts = [Exp().forward_and_log_det(x[0]), Ordered().forward_and_log_det(x[1:3])]
    parts.append(StickBreaking().forward_and_log_det(x[3:]))
    assert_close(log_det, sum(part[1] for part in parts))
    assert_close(both.inverse_and_log_det(y), (jnp.asarray(x), -log_det))
    assert_close(jax.vmap(both.forward)(x[None])["b"][0], y["b"])
    assert pickle.loads(pickle.dumps(both)).forward(x)["a"] == y["a"]
    batch = standard_input(3)
    assert_close(unpack.inverse(unpack.forward(batch)), jnp.asarray(batch))
    assert unpack.forward(batch)["c"].shape == (3, 1, 3)


REFUSED = {
    "no triangle": (lambda: LowerCholesky().forward(jnp.zeros(5)), ["length 5", "3 or 6"]),
    "no permutation": (lambda: Permute(np.array([0, 0, 2])), ["[0, 0, 2]", "once"]),
    "no reshaping": (lambda: Reshape((2, 3), (5,)), ["(5,)", "(2, 3)", "one size"]),
    "another shape": (lambda: Reshape((2, 3), (6,)).forward(jnp.zeros(5)), ["(5,)", "(6,)"]),
    "lengths of slices": (lambda: Stacked((Exp(), Exp()), lengths=(1,)), ["lengths=(1,)", "one length"]),
    "lengths that do not fit": (
        lambda: Stacked((Exp(), Exp()), lengths=(1, 4)).forward(jnp.zeros(6)),
        ["(1, 4)", "6 long"],
    ),
    "axis from the front": (lambda: Stacked((Exp(),), dim=0), ["negative dim"]),
    "axes added inside an event": (lambda: Stacked((LowerCholesky(),)), ["add no axes"]),
    "vector of another length": (lambda: Unpack({"a": (2,)}).forward(jnp.zeros(3)), ["3 elements", "2"]),
    "arrays of another shape": (
        lambda: Unpack({"a": (2,), "b": ()}).inverse({"a": 1.0, "b": 1.0}),
        ["a has"],
    ),
    "no dictionary": (lambda: Named({"a": Exp()}).forward(1.0), ["float", "dictionary"]),
    "misspelt name": (
        lambda: Named({"scale": Exp()}).forward({"scal": 1.0}),
        ["'scal'", "Did you mean 'scale'"],
    ),
    "missing name": (lambda: Named({"a": Exp(), "b": Exp()}).forward({"a": 1.0}), ["'b' is missing"]),
}


@each({name: (call, words) for name, (call, words) in REFUSED.items()})
def test_an_impossible_bijector_is_refused_with_a_remedy(case: tuple) -> None:
    call, words = case
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_draws_of_one_distribution_become_draws_of_another() -> None:
    x = jnp.asarray([-3.0, 0.0, 2.0])
    y = Chain((Cdf(dist.Normal(0.0, 1.0)), Inverse(Cdf(dist.Normal(5.0, 2.0))))).forward(x)
    assert_close(y, 5 + 2 * x, rtol=1e-10)
