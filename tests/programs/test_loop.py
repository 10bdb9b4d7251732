"""Hold that a loop compiled in pieces draws what the same loop draws as XLA would have it, whatever the gradient."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun
from jax.scipy import special

from accord import ode
from accord.adaptation.metric import Metric
from accord.adaptation.metric.choose import RANK
from accord.adaptation.tuning import GivenMetric
from accord.core.position import Position
from accord.core.precision import scope
from accord.core.versions import as_one_function
from accord.kernels import NUTS
from accord.mcmc import compiled
from accord.mcmc.block import ATTEMPTS, Limits, start_state
from accord.mcmc.program import advance_program
from accord.programs.callbacks import without_raising
from accord.programs.is_fusible import is_plain
from accord.programs.loop import marked, while_loop_in_pieces

X = np.linspace(0.1, 0.9, 6)
MATRIX = np.random.default_rng(0).standard_normal((6, 6))
ROWS = np.array([0, 3, 3, 5])

PLAIN: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: jnp.tanh(x) + jnp.where(x > 0.5, jnp.log1p(x), x**x) + jax.nn.sigmoid(x),
    "special functions": lambda x: (
        special.gammaln(x) + special.digamma(x) + special.erf(x) + special.erfinv(x) + special.log_ndtr(x)
    ),
    "iterations": lambda x: special.gammainc(x, x) + special.betainc(x, x, x) + special.polygamma(1, x),
    "reductions": lambda x: jax.nn.logsumexp(jnp.outer(x, x), -1) + jnp.prod(x) + jnp.max(x),
    "cumulative": lambda x: jnp.cumsum(x) + jnp.cumprod(x) + jax.lax.cummax(x) + jax.lax.cumlogsumexp(x),
    "reading rows": lambda x: x[ROWS],
    "shapes": lambda x: jnp.concatenate([jnp.pad(x, 2), x[::-1], jnp.tile(x, 2), x.reshape(2, 3).T.ravel()]),
    "matrix and vector": lambda x: MATRIX @ x + x @ MATRIX + jnp.dot(x, x),
    "loops": lambda x: jax.grad(lambda x: jax.lax.scan(lambda c, a: (jnp.sin(c * a), c), 1.0, x)[1].sum())(x),
    "writing a row": lambda x: x.at[jnp.argmin(x)].set(0.5),
    "branches": lambda x: jax.lax.cond(x[0] > 0.5, jnp.sin, jnp.cos, x),
}
OTHER: dict[str, Callable[[Any], Any]] = {
    "setting rows": lambda x: x.at[ROWS].set(0.5),
    "writing rows": jax.grad(lambda x: jnp.sum(jnp.sin(x[ROWS]))),
    "product of matrices": lambda x: (MATRIX * x[0]) @ MATRIX,
    "sorting": jnp.sort,
    "LAPACK": lambda x: jnp.linalg.cholesky(MATRIX @ MATRIX.T + jnp.diag(x)),
    "a large array": lambda x: jnp.sum(jnp.outer(jnp.arange(700.0), x), 0),
    "Python": lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_plain_is_the_same_as_one_function(name: str) -> None:
    assert is_plain(jax.make_jaxpr(PLAIN[name])(X).jaxpr)
    compiled_alone = jax.jit(as_one_function(PLAIN[name])).lower(X).compile()
    np.testing.assert_allclose(compiled_alone(X), jax.jit(PLAIN[name])(X), rtol=1e-14)


@pytest.mark.parametrize("name", OTHER)
def test_what_needs_more_than_arithmetic_is_not_plain(name: str) -> None:
    assert not is_plain(jax.make_jaxpr(OTHER[name])(X).jaxpr)


def solved(x: Any) -> jax.Array:
    """Two states whose equation depends on four numbers."""
    times = np.array([0.5, 1.0, 2.0])
    states = ode.solve(lambda t, y, rates: rates * jnp.sin(y) - 0.25 * y, x[:2], 0.0, times, x[2:4])
    return -0.5 * jnp.sum(x**2) - jnp.sum((states - 0.5) ** 2)


TARGETS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "differential equations": (solved, 1),
    "plain": (lambda x: -0.5 * jnp.sum((x - 0.5 * jnp.roll(x, 1)) ** 2), 1),
    "writing rows": (lambda x: -0.5 * jnp.sum(x**2) - 0.1 * jnp.sum(x[ROWS] ** 4), 2),
    "LAPACK": (lambda x: -0.5 * x @ jnp.linalg.solve(jnp.eye(6) + MATRIX @ MATRIX.T, x), 2),
}


@pytest.mark.parametrize("name", TARGETS)
def test_pieces_draw_what_the_loop_draws(name: str) -> None:
    log_density, num_pieces = TARGETS[name]
    given, zero = _given(np.ones(6), 6), np.zeros(2, np.uint32)
    arguments = (
        start_state(NUTS(), Position(X)),
        given,
        zero,
        zero,
        Limits.at(40, 300, 20, Position(np.zeros((ATTEMPTS, 6)))),
    )
    drawn = []
    for in_pieces in (True, False):
        with scope("float64"):
            run = advance_program(NUTS(), 6, np.dtype(float), 1, 64, in_pieces)
            traced = jaxpr_as_fun(without_raising(jax.make_jaxpr(jax.value_and_grad(log_density))(X)))
            lowered = jax.jit(
                lambda *rest, run=run, traced=traced: run(lambda at: tuple(traced(at.free)), *rest)
            ).lower(*arguments)
            assert lowered.as_text().count("xla_cpu_small_call") == (num_pieces if in_pieces else 0)
            drawn.append(lowered.compile()(*arguments))
    for one, other in zip(*map(jax.tree.leaves, drawn), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_what_cannot_be_compiled_in_pieces_is_compiled_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of XLA may be able to do less than this one."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    @ac.model
    def model(y: Any) -> None:
        m = ac.sample("m", dist.Normal(0, 1.625))
        ac.sample("y", dist.Normal(jnp.sort(jnp.stack([m, -m])), 1), obs=y)

    monkeypatch.setattr("accord.programs.loop.is_plain", lambda jaxpr: True)
    compiles = []
    real = compiled.compile_lowered
    monkeypatch.setattr(
        compiled,
        "compile_lowered",
        lambda lowered, **options: compiles.append(lowered) or real(lowered, **options),
    )
    run: dict[str, Any] = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
    with pytest.warns(RuntimeWarning, match="could not compile the sampling loop in pieces"):
        draws = infer.sample(model(np.array([0.5, 1.0])), **run)
    assert len(compiles) == 3
    assert np.isfinite(draws["m"]).all()


@pytest.mark.parametrize(
    ("num_rows", "dim"),
    [
        (5000, 1),
        (3, 64),
        pytest.param(4095, 1, marks=pytest.mark.slow),
        pytest.param(4096, 1, marks=pytest.mark.slow),
        pytest.param(64, 64, marks=pytest.mark.slow),
        pytest.param(3, 256, marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("error")
def test_sums_of_any_size_are_compiled_at_once(num_rows: int, dim: int) -> None:
    """Of 4096 numbers and more, XLA has a library add them up, which it cannot call from one piece of code."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    @ac.model
    def model(y: Any) -> None:
        with ac.plate("column", dim):
            m = ac.sample("m", dist.Normal(0, 1.125))
            with ac.plate("row", num_rows, dim=-2):
                ac.sample("y", dist.Normal(m, 1), obs=y)

    y = np.random.default_rng(0).normal(size=(num_rows, dim))
    draws = infer.sample(model(y), draws=5, warmup=5, chains=1, progress=False, quiet=True)
    assert np.isfinite(draws["m"]).all()


def test_data_that_only_a_deterministic_site_needs_may_be_part_of_a_model() -> None:
    """XLA aborted the process over an argument of the loop that no gradient used."""
    import accord as ac
    import accord.distributions as dist
    from accord import infer

    @ac.model
    def model(x: Any, y: Any) -> None:
        m = ac.sample("m", dist.Normal(0, 1.375))
        ac.deterministic("line", m * x)
        ac.sample("y", dist.Normal(m, 1), obs=y)

    run: dict[str, Any] = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
    draws = infer.sample(model(np.arange(3.0), 0.5), **run)
    np.testing.assert_array_equal(draws["line"], draws["m"][..., None] * np.arange(3.0))


def test_a_loop_may_hold_what_nothing_needs() -> None:
    """XLA aborted the process over a table of which a kernel read a row, and did not use it."""
    table = np.arange(6, dtype=np.int32)

    def body(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        count, x = carry
        jax.lax.dynamic_index_in_dim(jnp.asarray(table), count, keepdims=False)
        return count + 1, marked(OTHER["sorting"])(0.5 * x)

    def run(start: Any) -> Any:
        return while_loop_in_pieces(lambda carry: carry[0] < 3, body, start)

    with scope("float64"):
        count, x = jax.jit(run)((jnp.int32(0), jnp.asarray(X[::-1])))
    assert count == 3
    np.testing.assert_allclose(x, X / 8, rtol=1e-15)


def test_a_loop_may_hold_an_inner_one_that_carries_what_nothing_needs() -> None:
    """XLA aborted the process over what only the dead carry began with, as a ladder of HMC on labels has."""

    def body(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        count, x, y = carry

        def step(inner: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            return inner[0] + 1, 0.5 * inner[1], 2 * inner[2] + inner[1]

        _, x, _ = jax.lax.while_loop(lambda inner: inner[0] < count, step, (0, x, y))
        return count + 1, marked(OTHER["sorting"])(x), y

    def run(x: Any, y: Any) -> Any:
        return while_loop_in_pieces(lambda carry: carry[0] < 3, body, (jnp.int32(0), x, y))

    with scope("float64"):
        _, x, _ = jax.jit(run)(jnp.asarray(X[::-1]), jnp.asarray(X))
    np.testing.assert_allclose(x, X / 8, rtol=1e-15)


def test_many_dimensions_have_pieces_too() -> None:
    with scope("float64"):
        run = advance_program(NUTS(), 2000, np.dtype(float), 1, 8)
        program = jax.jit(lambda *rest: run(lambda at: (-0.5 * at.free @ at.free, -at.free), *rest))
        position, zero = np.zeros(2000), np.zeros(2, np.uint32)
        given, limits = (
            _given(position + 1, RANK),
            Limits.at(1, 1, 0, Position(np.zeros((ATTEMPTS, 2000)))),
        )
        text = program.lower(start_state(NUTS(), Position(position)), given, zero, zero, limits).as_text()
    assert "xla_cpu_small_call" in text


def _given(scale: np.ndarray, rank: int) -> GivenMetric:
    """What a program takes of what was learnt: a diagonal metric."""
    return GivenMetric(Metric.diagonal(scale, rank), np.asarray(0.8), np.bool_(False))
