"""Data outside of a site's support are refused before anything is compiled, wherever they are observed."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.density.flat import flatten
from accord.density.host import HostArray, computed

Law = Callable[[Any, Any], Any]


def model_of(law: Law) -> Any:
    """A model that observes `y`, one event for each row, from a law of the unknown `p` in (0, 1) and of data `n`."""

    @ac.model
    def rows(y, n=None):
        p = ac.sample("p", dist.Beta(2, 2))
        with ac.plate("row", len(y)):
            ac.sample("y", law(p, n), obs=y)

    return rows


def bernoulli(p: Any, n: Any) -> Any:
    return dist.Bernoulli(p)


def poisson(p: Any, n: Any) -> Any:
    return dist.Poisson(p)


def binomial(p: Any, n: Any) -> Any:
    return dist.Binomial(n, p)


def categorical(p: Any, n: Any) -> Any:
    return dist.Categorical(logits=p * jnp.arange(3.0))


def dirichlet(p: Any, n: Any) -> Any:
    return dist.Dirichlet(p * jnp.ones(3))


EYE = np.eye(2)

OUTSIDE = {
    "codes 1 and 2": (bernoulli, [1, 2, 2], None, ["2 of 3", "2 at index 1 of argument 'y'", "subtract 1"]),
    "codes -1 and 1": (bernoulli, [1, -1], None, ["-1 at index 1", "`obs=y == 1`"]),
    "proportions": (bernoulli, [1.0, 0.5], None, ["0.5 at index 1", "0 or 1", "dist.Beta"]),
    "an end of an interval in float32": (
        lambda p, n: dist.Uniform(0.0, 0.1),
        np.float32([0.05, 0.1]),
        None,
        ["0.1000000015", "rounding", "`np.clip(np.asarray(y, float), 0.0, 0.1)`"],
    ),
    "pi in float32": (
        lambda p, n: dist.VonMises(p, 2.0),
        np.float32([0.5, np.pi]),
        None,
        ["3.141592741", "rounding", "`np.clip(np.asarray(y, float), -np.pi, np.pi)`"],
    ),
    "a rate": (poisson, [1.0, 2.5], None, ["2.5 at index 1", "whole number", "Gamma"]),
    "a missing code": (poisson, [3, -1, 2], None, ["-1 at index 1", "missing", "mask=y >= 0"]),
    "a negative count": (poisson, [3, -4], None, ["-4 at index 1", "at least 0", "Check the data"]),
    "too many successes": (
        binomial,
        [1, 5],
        [3, 4],
        ["5 at index 1", "from 0 to 4", "more successes than trials"],
    ),
    "shares of trials": (binomial, [0.5, 0.2], [3, 4], ["2 of 2", "0.5 at index 0", "number of successes"]),
    "trials are computed": (lambda p, n: dist.Binomial(n[:, 0] + 1, p), [1, 5], [[3], [3]], ["from 0 to 4"]),
    "a category too many": (categorical, [0, 3, 1], None, ["3 at index 1", "0 to 2", "Codes begin at 0"]),
    "categories from one": (categorical, [1, 3, 2], None, ["1 of 3", "subtract 1"]),
    "exponential": (lambda p, n: dist.Exponential(p), [0.0, -1.5], None, ["-1.5 at index 1", "at least 0"]),
    "a zero": (lambda p, n: dist.LogNormal(p, 1), [0.0, 1.0], None, ["0 at index 0", "above 0", "censor"]),
    "percentages": (lambda p, n: dist.Beta(p, 1), [50.0, 2.0], None, ["50 at index 0", "y / 100"]),
    "degrees": (lambda p, n: dist.VonMises(p, 1), [1.0, 90.0], None, ["90 at index 1", "deg2rad"]),
    "bounds of data": (lambda p, n: dist.Uniform(0, n), [1.0, 3.0], 2.0, ["3 at index 1", "between 0 and 2"]),
    "truncated": (lambda p, n: dist.Normal(p, 1).truncate(low=1.0), [1.0, 0.5], None, ["0.5 at index 1"]),
    "a simplex": (dirichlet, [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], None, ["events", "index 1", "sum is 1.1"]),
    "counts in kinds": (
        lambda p, n: dist.Multinomial(n, logits=p * jnp.arange(2.0)),
        [[1, 2], [2, 2]],
        [3, 3],
        ["[2 2] at index 1", "sum 3", "Its sum is 4"],
    ),
    "a correlation": (lambda p, n: dist.LKJ(2, 1 + p), [EYE, EYE + 1], None, ["index 1", "diagonal of ones"]),
    "a covariance": (
        lambda p, n: dist.Wishart(3 + p, EYE),
        [EYE, [[1.0, 2.0], [2.0, 1.0]]],
        None,
        ["index 1", "positive definite", "from -1 to 3"],
    ),
    "not symmetric": (lambda p, n: dist.Wishart(3 + p, EYE), [[[1.0, 0.5], [0.0, 1.0]]], None, ["transpose"]),
    "no factor": (lambda p, n: dist.LKJCholesky(2, 1 + p), [EYE + 0.5], None, ["cholesky"]),
    "whole rows": (
        lambda p, n: dist.Poisson(p * jnp.ones(2)).to_event(1),
        [[1, 2], [1, -3]],
        None,
        ["[ 1 -3]"],
    ),
}


@each(OUTSIDE)
def test_values_outside_of_the_support_are_named_with_the_remedy(case: tuple) -> None:
    law, y, n, words = case
    with pytest.raises(SiteError) as caught:
        model_of(law)(np.array(y), n if n is None or isinstance(n, float) else np.array(n)).log_density()
    message = str(caught.value)
    for word in ["site 'y'", "test_observed.py", "outside of the support", *words]:
        assert word in message, message


INSIDE = {
    "booleans": (bernoulli, [True, False], None),
    "whole floats": (poisson, [1.0, 2.0], None),
    "a bound that is unknown": (lambda p, n: dist.Uniform(0, p), [0.1, 7.0], None),
    "as many successes as trials": (binomial, [3, 4], [3, 4]),
    "a simplex to rounding": (dirichlet, np.float32([[0.1, 0.2, 0.7]]), None),
    "masked": (lambda p, n: dist.Poisson(p).mask(n > 0), [-1, 2], [0, 1]),
    "the end of an interval": (lambda p, n: dist.Uniform(0, 1), [0.0, 1.0], None),
    "an exponential law at zero": (lambda p, n: dist.Gamma(1.0, p), [0.0, 1.0], None),
    "another component's bounds": (
        lambda p, n: dist.MixtureGeneral(
            dist.Categorical(np.array([0.5, 0.5])), [dist.Uniform(0, 1), dist.Uniform(1, 2)]
        ),
        [0.5, 1.5],
        None,
    ),
}


@each(INSIDE)
def test_values_of_the_support_are_taken(case: tuple) -> None:
    law, y, n = case
    model_of(law)(np.array(y), n if n is None else np.array(n)).log_density()


@ac.model
def hidden(y):
    p = ac.sample("p", dist.Gamma(2, 2))
    with ac.plate("row", len(y)), handlers.mask(mask=jnp.isfinite(y) & (y > -3)):
        ac.sample("y", dist.LogNormal(p, 1), obs=y)


@ac.model
def partly(y, is_there):
    p = ac.sample("p", dist.Gamma(2, 2))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.LogNormal(p, 1), obs=y, obs_mask=is_there)


@ac.model
def series(y, n):
    p = ac.sample("p", dist.Beta(2, 2))

    def step(carry, x):
        with ac.plate("unit", 2):
            ac.sample("y", dist.Binomial(x["n"], p), obs=x["y"])
        return carry, None

    ac.scan(step, 0.0, {"y": y, "n": n})


@ac.model
def inner(y):
    p = ac.sample("p", dist.Gamma(2, 2))
    ac.sample("y", dist.Poisson(p), obs=y)


@ac.model
def outer(y):
    ac.submodel(inner(y), prefix="inner")


@ac.model
def branch(y, is_dense):
    p = ac.sample("p", dist.Beta(2, 2))
    with ac.plate("row", len(y)):
        ac.cond(
            is_dense,
            lambda: ac.sample("y", dist.Poisson(p), obs=y),
            lambda: ac.sample("y", dist.Poisson(2 * p), obs=y),
        )


Y = np.array([[1, 2], [2, 3], [4, 4]])
IN_PARTS = {
    "a mask": (hidden(np.array([-4.0, np.nan, 2.0, -2.0])), "1 of 4 observed values is", "-2 at index 3"),
    "an obs_mask": (partly(np.array([1.0, np.nan, -2.0]), np.array([True, False, True])), "1 of 3", "-2 at index 2"),
    "a scan": (series(Y, np.array([3, 2, 4])), "1 of 6", "3 at index (1, 1) of argument 'y'; it", "from 0 to 2"),
    "a submodel": (outer(-3), "site 'inner/y'", "The first is -3; it"),
    "a branch": (branch(np.array([1, -2]), np.array(True)), "1 of 2", "-2 at index 1"),
    "a condition": (inner(None).condition({"y": 2.5}), "1 of 1", "The first is 2.5; it"),
}  # fmt: skip


@each(IN_PARTS)
def test_only_entries_that_count_are_judged(case: tuple) -> None:
    model, *words = case
    with pytest.raises(SiteError) as caught:
        model.log_density()
    assert all(word in str(caught.value) for word in words), caught.value


def test_entries_that_are_hidden_are_not_judged() -> None:
    hidden(np.array([-4.0, np.nan, 2.0])).log_density()
    partly(np.array([1.0, np.nan, -2.0]), np.array([True, False, False])).log_density()
    series(Y, np.array([4, 4, 4])).log_density()


def test_new_data_of_the_same_shape_are_judged_without_a_trace() -> None:
    density = model_of(binomial)(np.array([1, 2]), np.array([3, 3])).log_density()
    assert density.with_data({"y": np.array([0, 3])}).program is density.program
    for one in (density, copy.deepcopy(density)):
        with pytest.raises(SiteError, match="4 at index 1"):
            one.with_data({"y": np.array([0, 4])})
    with pytest.raises(SiteError, match="from 0 to 1"):
        density.with_data({"n": np.array([1, 1])})


def test_a_trace_around_the_model_leaves_its_data_unknown() -> None:
    @jax.jit
    def at_a_half(y, trials):
        @ac.model
        def closes_over(y):
            p = ac.sample("p", dist.Beta(2, 2))
            with ac.plate("row", len(y)):
                ac.sample("y", dist.Binomial(trials, p), obs=y)

        return closes_over(y).log_density()(jnp.zeros(1))

    assert jnp.isfinite(at_a_half(np.array([1, 2]), np.array([3, 3])))
    assert at_a_half(np.array([1, 4]), np.array([3, 3])) == -np.inf


def test_rows_in_a_file_are_judged_as_they_are_read(tmp_path) -> None:
    np.save(tmp_path / "y.npy", np.arange(-1, 9))
    with pytest.raises(SiteError, match=r"1 of 10 .* -1 at index 0 of argument 'y'"):
        model_of(poisson)(infer.rows(tmp_path / "y.npy")).log_density()
    np.save(tmp_path / "z.npy", np.arange(10))
    model_of(poisson)(infer.rows(tmp_path / "z.npy")).log_density()


CALLS = {
    "sample": lambda model: infer.sample(model, draws=1, quiet=True),
    "find_mode": lambda model: infer.find_mode(model),
    "log_likelihood": lambda model: infer.log_likelihood({"p": np.full((1, 1), 0.5)}, model),
}


@each(CALLS)
def test_every_use_of_a_likelihood_refuses_them_before_it_compiles(call: Callable[[Any], Any]) -> None:
    compiles: list[str] = []

    def listen(event: str, seconds: float, **_: Any) -> None:
        if "backend_compile" in event:
            compiles.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        with pytest.raises(SiteError, match="outside of the support of Poisson"):
            call(model_of(poisson)(np.array([1, -4])))
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert not compiles


def test_check_lists_them() -> None:
    report = infer.check(model_of(poisson)(np.array([1, -4])))
    assert any("outside of the support" in finding.message for finding in report.findings), report


def test_predictions_take_the_place_of_what_was_observed() -> None:
    found = infer.predict({"p": np.full((1, 1), 0.5)}, model_of(poisson)(np.array([-1, -1])), quiet=True)
    assert found["y"].shape == (1, 1, 2)


def test_what_was_judged_is_not_judged_again_in_another_process() -> None:
    density = inner(3).log_density()
    claims = density.program.whole.claims
    assert claims.claims
    assert not pickle.loads(pickle.dumps(claims)).claims


A = np.array([[1.0, -2.0, 3.5], [0.0, 5.0, np.nan]])
FUNCTIONS = {
    "arithmetic": lambda a, i: (a * 2 - 1) / 3 + a**2 - jnp.abs(a),
    "comparison": lambda a, i: (a > 1) & ~jnp.isnan(a) | (a <= -1),
    "choice": lambda a, i: jnp.where(jnp.isfinite(a), a, 0.0),
    "sums": lambda a, i: jnp.nansum(a, axis=0) + a[0].max() - jnp.cumsum(a[0])[-1],
    "shapes": lambda a, i: jnp.concatenate([a.T.reshape(2, 3), a[:, ::-1]], axis=0)[1:, None, :],
    "an index": lambda a, i: a[0][i] + a.T[i].sum(-1),
    "integers": lambda a, i: (i - 1) * 3 // 2 + i % 2 + jnp.arange(3),
    "a remainder by zero": lambda a, i: jax.lax.rem(i + 5, i) + (i + 5) // i,
    "numbers beyond integers": lambda a, i: jnp.stack(
        [
            (a[0] * scale).astype(dtype).astype(int)
            for scale, dtype in ((1e30, int), (100, jnp.int8), (100, jnp.uint8))
        ]
    ),
    "functions": lambda a, i: jnp.log(jnp.exp(a)) + jnp.sqrt(jnp.square(a)) + jnp.log1p(jnp.expm1(a)),
    "limits": lambda a, i: jnp.clip(a, 0.0, 2.0) + jnp.minimum(a, 1.0) + jnp.sign(a) + jnp.floor(a),
    "windows": lambda a, i: a[jnp.array([0, 7]), i[:2]] + jax.lax.dynamic_slice(a, (1, i[1]), (1, 2))[0],
    "entries put in": lambda a, i: a.at[1, i].set(9.0).at[:, 0].add(2.0),
    "a loop": lambda a, i: jax.lax.scan(lambda total, row: (total + row, total * 2), a[0], a)[1],
    "a loop until": lambda a, i: jax.lax.while_loop(lambda x: jnp.sum(x) < 50, lambda x: x * 2, a[0]),
    "a choice of functions": lambda a, i: jax.lax.cond(i[0] > 1, jnp.exp, jnp.negative, a),
    "a sort": lambda a, i: jnp.sort(a, axis=1)[:, i],
    "a product": lambda a, i: jnp.dot(a[0], jnp.ones((3, 2))),
    "a branch of Python": lambda a, i: jax.nn.relu(a) + jnp.float32(0.5).astype(a.dtype),
}


@each(FUNCTIONS)
def test_numpy_computes_what_jax_would(function: Callable[..., Any]) -> None:
    i = np.array([2, 0, 1])
    traced = jax.make_jaxpr(function)(A, i)
    (found,) = computed(flatten(traced), [HostArray(A), HostArray(i)])
    expected = function(jnp.asarray(A), jnp.asarray(i))
    assert found is not None
    assert found.value.dtype == expected.dtype
    np.testing.assert_allclose(found.value, expected, rtol=1e-14)


def test_what_depends_on_unknowns_is_not_known() -> None:
    traced = jax.make_jaxpr(lambda z, a: (a + z, a + 1, a.at[jnp.array([1])].set(z[None])))(0.0, A[0])
    both, alone, some = computed(flatten(traced), [None, HostArray(A[0])])
    assert both is None
    np.testing.assert_array_equal(alone.value, A[0] + 1)
    np.testing.assert_array_equal(some.entries, [True, False, True])


def test_entries_are_known_as_far_as_they_follow_from_data() -> None:
    def function(z: Any, a: Any) -> Any:
        table = jnp.stack([a, jnp.full(3, z)]).at[0, 1].set(z)
        return jnp.concatenate([a, z[None]]), table.T[::-1], table + 1, a[jnp.int64(z) + jnp.arange(2)]

    end, table, arithmetic, by_unknown = computed(
        flatten(jax.make_jaxpr(function)(0.0, A[0])), [None, HostArray(A[0])]
    )
    np.testing.assert_array_equal(end.entries, [True, True, True, False])
    np.testing.assert_array_equal(table.entries, [[True, False], [False, False], [True, False]])
    np.testing.assert_array_equal(table.value[[0, 2], 0], [3.5, 1.0])
    assert arithmetic is None and by_unknown is None
