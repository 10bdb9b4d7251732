"""Test log densities by Python functions of NumPy arrays, which compiled programs call back."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

from accord import LogDensity, infer
from accord.core.errors import DataError, ModelError

RUN = dict(draws=20, warmup=20, chains=2, quiet=True)
EXAMPLE = {"a": np.zeros(2), "b": 0.0}


def normal(t):
    return -0.5 * ((t["a"] ** 2).sum() + t["b"] ** 2), {"a": -t["a"], "b": -t["b"]}


def walled(x):
    if np.abs(x).max() > 3:
        raise ValueError("beyond the wall")
    return -0.5 * (x**2).sum() / 100, -x / 100


@pytest.fixture(scope="module")
def drawn():
    return infer.sample(LogDensity.from_callback(normal, EXAMPLE), executor=infer.Serial(), **RUN)


def test_value_and_gradient_are_those_of_the_function():
    density = LogDensity.from_callback(normal, EXAMPLE)
    q = np.array([1.0, 2.0, 3.0])
    assert density.program.name == "normal" and density(q) == -7.0
    for function in (density.value_and_grad, jax.jit(density.value_and_grad)):
        value, slope = function(q)
        assert value == -7.0
        np.testing.assert_array_equal(slope, -q)
    np.testing.assert_array_equal(jax.vmap(density)(np.stack([q, 2 * q])), [-7.0, -28.0])
    assert jax.jvp(density, (jnp.asarray(q),), (jnp.ones(3),))[1] == -6.0


@pytest.mark.slow
@each({"threads": lambda: infer.Threads(2), "processes": lambda: infer.Processes(2)})
def test_draws_have_the_same_bits_with_any_executor(executor, drawn):
    found = infer.sample(LogDensity.from_callback(normal, EXAMPLE), executor=executor, **RUN)
    np.testing.assert_equal(dict(found), dict(drawn))


def test_draws_are_those_of_the_same_density_in_jax(drawn):
    density = LogDensity.from_function(lambda t: -0.5 * ((t["a"] ** 2).sum() + t["b"] ** 2), EXAMPLE)
    found = infer.sample(density, **RUN)
    for name in found:
        np.testing.assert_allclose(found[name], drawn[name], rtol=1e-6)


def test_constrain_dims_and_coords_are_those_of_a_function():
    density = LogDensity.from_callback(
        normal,
        EXAMPLE,
        constrain=lambda t: {"a": jnp.exp(t["a"])},
        dims={"a": "side"},
        coords={"side": ["left", "right"]},
    )
    tree = infer.sample(density, **RUN).to_arviz()["posterior"]
    assert list(tree.data_vars) == ["a"] and list(tree["side"].values) == ["left", "right"]
    assert (tree["a"] > 0).all()


def test_an_error_of_the_function_is_told_with_its_traceback():
    density = LogDensity.from_callback(walled, np.zeros(2))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"(?s)in walled.*ValueError: beyond the wall"):
        infer.sample(density, executor=infer.Serial(), **RUN)
    with pytest.raises(ValueError, match="beyond the wall"):
        LogDensity.from_callback(walled, np.full(2, 9.0))


def test_second_derivatives_are_refused_by_name():
    density = LogDensity.from_callback(normal, EXAMPLE)
    with pytest.raises(ModelError, match=r"'normal' is a callback.*second.*from_function"):
        jax.hessian(density)(np.zeros(3))
    with pytest.raises(ModelError, match=r"'normal' is a callback"):
        infer.find_mode(density, quiet=True)


def test_the_function_may_change_the_arrays_that_it_is_given():
    def careless(x):
        value = -0.5 * (x**2).sum()
        x *= -1
        return value, x

    q = jnp.arange(3.0)
    value, slope = LogDensity.from_callback(careless, np.zeros(3)).value_and_grad(q)
    assert value == -2.5
    np.testing.assert_array_equal(slope, -np.arange(3.0))
    np.testing.assert_array_equal(q, np.arange(3.0))


def test_each_thread_that_runs_chains_may_call_it():
    names = set()

    def watched(x):
        names.add(threading.get_ident())
        return -0.5 * (x**2).sum(), -x

    assert infer.sample(
        LogDensity.from_callback(watched, np.zeros(2)), executor=infer.Threads(2), **RUN
    ).complete
    assert names


ERRORS = {
    "no gradient": (lambda t: 0.0, "returns a pair.*it returned 0.0"),
    "no number": (lambda t: (t["a"], t), "the log density that .* returned is .*, not one real number"),
    "a complex number": (lambda t: (1j, t), "not one real number"),
    "text": (lambda t: ("high", t), "not one real number"),
    "another tree": (lambda t: (0.0, t["a"]), "one array for each of 'a', 'b'"),
    "another shape": (lambda t: (0.0, {**t, "a": np.zeros(3)}), r"by 'a'.*shape \(3,\).*needs.*shape \(2,\)"),
    "complex slopes": (lambda t: (0.0, {**t, "b": 1j}), "by 'b'.*complex128"),
}


@each(ERRORS)
def test_what_the_function_returns_is_checked_at_once(error):
    function, words = error
    with pytest.raises(DataError, match=words):
        LogDensity.from_callback(function, EXAMPLE)


def test_a_gradient_of_another_shape_in_a_run_is_named():
    calls = []

    def fickle(x):
        calls.append(None)
        return 0.0, x if len(calls) < 3 else x[:1]

    with pytest.raises(
        jax.errors.JaxRuntimeError, match=r"gradient by 'x' that 'fickle' returned has shape \(1,\)"
    ):
        infer.sample(LogDensity.from_callback(fickle, np.zeros(2)), executor=infer.Serial(), **RUN)
