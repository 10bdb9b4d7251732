"""Test the laws of flows: one-to-one, with the log determinant of their Jacobian, trainable, safe far out."""

import pickle
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, each, no_leaks
from scipy import stats

from accord.bijectors import (
    AbstractBijector,
    AffineFamily,
    AutoregressiveNN,
    BatchNorm,
    BlockNeuralAutoregressive,
    BlockNeuralAutoregressiveNN,
    Chain,
    Coupling,
    DenseNN,
    InverseAutoregressive,
    MaskedDense,
    Planar,
    Radial,
    RationalQuadraticSpline,
    SplineFamily,
)

KEY = jax.random.key(3)


def iaf(size: int, hidden: tuple[int, ...] = (8,), **options: object) -> InverseAutoregressive:
    return InverseAutoregressive(AutoregressiveNN.init(KEY, size, hidden, **options))


def bnaf(size: int, factors: tuple[int, ...] = (3,), **options: object) -> BlockNeuralAutoregressive:
    return BlockNeuralAutoregressive(BlockNeuralAutoregressiveNN.init(KEY, size, factors, **options))


FLOWS: dict[str, Callable[[], AbstractBijector]] = {
    "inverse autoregressive": lambda: iaf(4),
    "inverse autoregressive, permuted": lambda: iaf(4, permutation=(2, 0, 3, 1), skip_connections=True),
    "inverse autoregressive, no hidden layer": lambda: iaf(4, ()),
    "block": lambda: bnaf(4),
    "block, residual": lambda: bnaf(4, residual="normal"),
    "block, gated": lambda: bnaf(4, (4, 4), residual="gated"),
    "planar": lambda: Planar.init(KEY, 4, 2.0),
    "planar, bent most": lambda: Planar(np.full(4, -5.0), np.ones(4), 0.3),
    "planar, no weight": lambda: Planar(np.ones(4), np.zeros(4), 0.3),
    "radial": lambda: Radial(np.array([0.5, 0.0, -1.0, 2.0]), 0.3, 2.0),
    "radial, drawn in": lambda: Radial(np.zeros(4), 0.5, -4.0),
    "spline": lambda: RationalQuadraticSpline.init(KEY, 5, scale=1.5),
    "spline of one piece": lambda: RationalQuadraticSpline(np.zeros(1), np.zeros(1), np.zeros(0), 2.0),
    "splines": lambda: RationalQuadraticSpline.init(KEY, 5, (4,), scale=1.5, bound=2.0),
    "coupling": lambda: Coupling.init(KEY, 4, 2, hidden_dims=(8,), last_scale=1.0),
    "coupling, splines": lambda: Coupling.init(
        KEY, 4, 1, family=SplineFamily(4), hidden_dims=(8,), last_scale=2.0
    ),
    "coupling, any network": lambda: Coupling(take_sines, AffineFamily(), 1),
    "batch norm": lambda: BatchNorm(
        np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 2.0, 9.0, 1.0]), np.full(4, 0.2), np.ones(4)
    ),
    "chain": lambda: Chain((Planar.init(KEY, 4), iaf(4), Radial.init(KEY, 4))),
}
VARIANTS = (
    "inverse autoregressive",
    "inverse autoregressive, no hidden layer",
    "block, residual",
    "block, gated",
    "planar, no weight",
    "planar, bent most",
    "radial, drawn in",
    "spline",
    "spline of one piece",
    "coupling, any network",
    "chain",
)


def take_sines(kept: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.sin(3 * kept), jnp.cos(kept), kept, kept, -kept, jnp.sin(kept)], axis=-1)


def standard_input(rows: int, scale: float = 1.5) -> jax.Array:
    return scale * jax.random.normal(jax.random.key(1), (rows, 4))


FAR = np.array(
    [[-1e4, 1e4, 0.0, 1e4], [1e4, -1e4, -1e4, 1.0], [0.0, 0.0, 0.0, 0.0], [-60.0, 60.0, 3.0, -3.0]]
)
# Variants whose code is that of another line, once their values are right.
OTHERS = {name: flow for name, flow in FLOWS.items() if name not in VARIANTS}
LONG = ("block", "inverse autoregressive, permuted", "coupling, splines")  # they take seconds to compile


@each(FLOWS, slow=(*VARIANTS, *LONG[1:]))
def test_inverse_undoes_forward_and_the_log_det_is_that_of_the_jacobian(flow: AbstractBijector) -> None:
    @jax.jit
    def facts(x: jax.Array) -> tuple:
        y, log_det = flow.forward_and_log_det(x)
        return y, log_det, *flow.inverse_and_log_det(y), jax.vmap(jax.jacfwd(flow.forward))(x)

    x = jnp.concatenate([standard_input(6), FAR])
    y, log_det, back, log_det_back, jacobian = facts(x)
    assert y.shape == flow.forward_shape(x.shape) == flow.inverse_shape(x.shape)
    assert log_det.shape == log_det_back.shape == x.shape[: 2 - flow.domain_event_dim]
    assert_close(back, x, rtol=1e-9, atol=1e-9)
    assert_close(log_det_back, -log_det, rtol=1e-9, atol=1e-9)
    total = log_det if flow.domain_event_dim else log_det.sum(axis=-1)
    assert_close(jnp.linalg.slogdet(jacobian)[1], total, rtol=1e-9, atol=1e-9)


@each(OTHERS, slow=LONG)
def test_nothing_is_nan_far_out_in_float32(flow: AbstractBijector) -> None:
    def total(flow: AbstractBijector, x: jax.Array) -> tuple[jax.Array, tuple]:
        y, log_det = flow.forward_and_log_det(x)
        return y.sum() + log_det.sum(), (y, log_det)

    @jax.jit
    def facts(flow: AbstractBijector, x: jax.Array) -> tuple:
        (_, (y, log_det)), slopes = jax.value_and_grad(total, (0, 1), has_aux=True)(flow, x)
        back, log_det_back = flow.inverse_and_log_det(y)
        return y, log_det, slopes, back, log_det_back, flow.forward(back)

    found = facts(at_float32(flow), jnp.asarray(FAR, np.float32))
    assert_finite(found)
    assert all(leaf.dtype == np.float32 for leaf in jax.tree.leaves(found))
    assert_close(found[-1], found[0], rtol=1e-3, atol=1e-3)


def at_float32(flow: AbstractBijector) -> AbstractBijector:
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, np.float32), flow)


@each(OTHERS, slow=LONG)
def test_it_is_a_frozen_value_that_can_be_copied_mapped_and_trained(flow: AbstractBijector) -> None:
    x = standard_input(3)
    copy = pickle.loads(pickle.dumps(flow))
    assert hash(copy) == hash(flow)
    assert jax.tree.structure(copy) == jax.tree.structure(flow)

    # The derivative of the log density of data by every parameter, through the inverse, against differences.
    def log_prob(flow: AbstractBijector) -> tuple[jax.Array, jax.Array]:
        free, log_det = jax.vmap(lambda x: flow.inverse_and_log_det(x))(x)
        return (-0.5 * free * free).sum() + log_det.sum(), free

    numbers = jax.tree.map(jnp.asarray, copy)
    random = np.random.default_rng(0)
    step = jax.tree.map(lambda leaf: jnp.asarray(random.normal(size=leaf.shape)), numbers)
    both = jax.jit(jax.value_and_grad(log_prob, has_aux=True))
    with no_leaks():
        (_, free), slopes = both(numbers)
    assert_close(jax.jit(flow.forward)(free), x, rtol=1e-8, atol=1e-8)
    if not jax.tree.leaves(slopes):
        return
    slope = sum((a * b).sum() for a, b in zip(*map(jax.tree.leaves, (slopes, step)), strict=True))
    after = both(jax.tree.map(lambda a, b: a + 1e-5 * b, numbers, step))[0][0]
    before = both(jax.tree.map(lambda a, b: a - 1e-5 * b, numbers, step))[0][0]
    assert_close(slope, (after - before) / 2e-5, rtol=1e-5, atol=1e-5)


PLANE = {
    "inverse autoregressive": lambda: iaf(2),
    "block": lambda: bnaf(2),
    "planar": lambda: Planar.init(KEY, 2, 1.5),
    "radial": lambda: Radial(np.array([0.5, -0.5]), 0.3, 2.0),
    "splines": lambda: RationalQuadraticSpline.init(KEY, 4, (2,), scale=0.5),
    "coupling": lambda: Coupling.init(KEY, 2, 1, hidden_dims=(8,), last_scale=1.0),
}


@each(PLANE)
def test_the_density_of_a_normal_sent_through_a_flow_integrates_to_one(flow: AbstractBijector) -> None:
    # By the midpoint rule on the image of a square that holds all but 1e-10 of the normal; densities with sharp
    # turns need a fine grid.
    corner = jax.jit(flow.forward)(jnp.stack(jnp.meshgrid(*[jnp.linspace(-6.6, 6.6, 41)] * 2), axis=-1))
    low, high = corner.min(axis=(0, 1)) - 0.1, corner.max(axis=(0, 1)) + 0.1
    count = 500 if isinstance(flow, (Planar, Radial, RationalQuadraticSpline)) else 100
    grid = (np.arange(count) + 0.5) / count
    y = jnp.stack(
        jnp.meshgrid(low[0] + grid * (high[0] - low[0]), low[1] + grid * (high[1] - low[1])), axis=-1
    )
    x, log_det = jax.jit(flow.inverse_and_log_det)(y)
    log_det = log_det if flow.domain_event_dim else log_det.sum(axis=-1)
    density = np.exp(stats.norm.logpdf(x).sum(axis=-1) + np.asarray(log_det))
    assert abs(density.mean() * float((high - low).prod()) - 1) < 2e-3


@pytest.mark.slow
def test_an_autoregressive_network_sees_only_what_comes_before() -> None:
    sequence = (2, 0, 3, 1)
    network = AutoregressiveNN.init(KEY, 4, (9, 7), (1, 3), permutation=sequence, skip_connections=True)
    x = standard_input(1)[0]
    loc, more = jax.jit(jax.jacobian(network))(x)
    assert loc.shape == (4, 4)
    assert more.shape == (3, 4, 4)
    place = np.argsort(sequence)
    sees = np.asarray((np.abs(more).max(axis=0) > 0) & (np.abs(loc) > 0))
    np.testing.assert_array_equal(sees, place[:, None] > place[None, :])


def test_a_masked_layer_does_not_train_what_is_masked() -> None:
    allowed = np.array([[True, False, True], [False, True, True]])
    layer = MaskedDense.init(KEY, allowed)
    slope = jax.grad(lambda layer: layer(jnp.ones((5, 3))).sum())(layer)
    np.testing.assert_array_equal(np.asarray(slope.weight) != 0, allowed)
    np.testing.assert_array_equal(layer.mask.array(), allowed)
    assert layer(jnp.ones((2, 3))).shape == (2, 2)


@pytest.mark.slow
def test_a_flow_near_the_identity_can_be_asked_for() -> None:
    x = standard_input(5)
    for flow in (
        Coupling.init(KEY, 4, 2, last_scale=0.0),
        iaf(4, (8,), last_scale=0.0),
        Planar.init(KEY, 4, 0.0),
        Radial.init(KEY, 4),
        RationalQuadraticSpline.init(KEY, 5, scale=0.0),
    ):
        assert jnp.abs(jax.jit(flow.forward)(x) - x).max() < 0.2 * jnp.abs(x).max()
    assert_close(jax.jit(flow.forward)(x), x, atol=1e-10)


@pytest.mark.slow
def test_a_spline_has_a_continuous_slope_and_is_the_identity_outside() -> None:
    spline = RationalQuadraticSpline.init(KEY, 5, scale=1.5, bound=2.0)
    outside = jnp.asarray([-1e300, -2.0, 2.0, 5.0])
    assert_close(spline.forward_and_log_det(outside), (outside, jnp.zeros(4)))
    knots = np.cumsum(np.asarray(1e-3 + (1 - 5e-3) * jax.nn.softmax(spline.widths)))[:-1] * 4 - 2
    knots = np.concatenate([[-2.0], knots, [2.0]])
    both = jax.jit(spline.forward_and_log_det)
    y, log_slope = both(np.stack([knots - 1e-9, knots + 1e-9]))
    assert_close(y[0], y[1], atol=1e-7)
    assert_close(log_slope[0], log_slope[1], atol=1e-6)
    assert (np.diff(both(jnp.linspace(-3, 3, 1000))[0]) > 0).all()


def test_batch_norm_standardises_what_it_has_seen() -> None:
    x = 3.0 + 2.0 * jax.random.normal(KEY, (10, 100, 4))
    flow = BatchNorm.init(4).updated(x, momentum=1.0)
    y = flow.forward(x)
    assert_close(y.mean(axis=(0, 1)), np.zeros(4), atol=1e-10)
    assert_close(y.var(axis=(0, 1)), np.ones(4), atol=1e-4)
    assert_close(BatchNorm.init(4).updated(x, momentum=0.25).mean, 0.25 * x.mean(axis=(0, 1)))


def test_a_flow_may_take_a_network_of_equinox() -> None:
    class Net(eqx.Module):
        mlp: eqx.nn.MLP

        def __call__(self, kept: jax.Array) -> jax.Array:
            return jnp.vectorize(self.mlp, signature="(n)->(m)")(kept)

    flow = Coupling(Net(eqx.nn.MLP(2, 4, 8, 1, jax.nn.softplus, key=KEY)), AffineFamily(), 2)
    x = standard_input(3)
    assert_close(jax.jit(lambda x: flow.inverse(flow.forward(x)))(x), x, atol=1e-10)


WRONG = {
    "permutation": (lambda: AutoregressiveNN.init(KEY, 3, (4,), permutation=(0, 1, 1)), "permutation"),
    "residual": (lambda: BlockNeuralAutoregressiveNN.init(KEY, 3, residual="norm"), "residual"),
    "split": (lambda: Coupling.init(KEY, 3, 3), "split"),
}


@pytest.mark.parametrize(("call", "word"), WRONG.values(), ids=list(WRONG))
def test_mistakes_are_refused_in_words(call: Callable[[], object], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        call()


def test_a_dense_network_has_the_sizes_asked_for() -> None:
    network = DenseNN.init(KEY, (3, 5, 2))
    assert network(jnp.ones((7, 3))).shape == (7, 2)
    assert network(np.ones(3, np.float32)).dtype == np.float64
