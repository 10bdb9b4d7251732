"""Look at what every run can afford to check: which arguments its model depends on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.density import LogDensity
from accord.diagnose.background_checks import cheap_checks
from accord.diagnose.checks.dependence import Dependence

X = np.arange(4.0)
Y = X + 1


@ac.model
def forgotten(x, y):
    a = ac.sample("a", dist.Normal(0, 1))
    with ac.plate("row", 4):
        ac.sample("y", dist.Normal(a * x, 1.0))


@ac.model
def derived(x, y):
    a = ac.sample("a", dist.Normal(0, 1))
    ac.deterministic("later", a * x)
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(a, 1.0), obs=y)


@ac.model
def hidden(x, y):
    a = ac.sample("a", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]), handlers.mask(mask=False):
        ac.sample("y", dist.Normal(a, 1.0), obs=y)


@ac.model
def inside(x, y):
    a = ac.sample("a", dist.Normal(0, 1))
    shift = jax.jit(lambda a, x: a + x[0])(a, x)
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(shift, 1.0), obs=y)


@ac.model
def bounds(x, y):
    with ac.plate("row", 4):
        a = ac.sample("a", dist.Uniform(0.0, x + 1.0))
        ac.sample("y", dist.Normal(a, 1.0), obs=y)


@ac.model
def nested(tree):
    a = ac.sample("a", dist.Normal(0, 1))
    ac.factor("f", a * tree["used"])


@ac.model
def selected(x, y):
    a = ac.sample("a", dist.Normal(0, 1))
    y = y[~jnp.isnan(x)]
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(a, 1.0), obs=y)


UNUSED = {
    "not observed": (lambda: forgotten(X, Y), ["y"]),
    "used by a deterministic site": (lambda: derived(X, Y), []),
    "behind a mask that hides all": (lambda: hidden(X, Y), []),
    "used inside of jit": (lambda: inside(X, Y), []),
    "used by a support": (lambda: bounds(X, Y), []),
    "a leaf of a tree": (lambda: nested({"used": 1.0, "spare": 2.0}), ["tree/spare"]),
    "a constant of the trace": (lambda: selected(X, Y), []),
    "perhaps replaced by a condition": (lambda: forgotten(X, Y).condition({"y": Y}), []),
}


@pytest.mark.parametrize("name", UNUSED)
def test_arguments_that_nothing_depends_on_are_named(name):
    model, unused = UNUSED[name]
    notices = [each for each in cheap_checks(LogDensity.from_model(model())) if each.code == "unused_data"]
    assert len(notices) == len(unused)
    assert all(
        f"argument {argument!r}" in each.message for argument, each in zip(unused, notices, strict=True)
    )


def test_a_function_has_no_arguments_to_look_at():
    assert cheap_checks(LogDensity.from_function(lambda x: -(x**2), 0.0)) == ()


def test_nothing_is_compiled():
    density = LogDensity.from_model(derived(X, Y))
    compiled = []

    def listen(event, duration, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        assert cheap_checks(density) == ()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled == []


def test_terms_say_what_they_depend_on():
    found = Dependence.of(LogDensity.from_model(bounds(X, Y)))
    assert found.terms == {"a": (("a",), ("x",)), "y": (("a",), ("x", "y"))}
    assert found.supports == {"a": ("x",)}
