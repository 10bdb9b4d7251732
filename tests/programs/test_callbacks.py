"""Programs that would raise have NaN instead; other callbacks stay, and are refused where they would lose digits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.traced import equations
from accord.programs.callbacks import without_raising


def guarded(x):
    return eqx.error_if(x, x > 3, "too far")


@jax.custom_jvp
def by_rule(x):
    return jnp.sin(guarded(x))


by_rule.defjvp(lambda primals, tangents: (by_rule(*primals), jnp.cos(primals[0]) * tangents[0]))

PROGRAMS = {
    "straight": guarded,
    "in a jit": jax.jit(guarded),
    "in a scan": lambda x: jax.lax.scan(lambda c, _: (guarded(1.1 * c), None), x, None, length=3)[0],
    "in a branch": lambda x: jax.lax.cond(x > 0, guarded, jnp.negative, x),
    "in a loop": lambda x: jax.lax.fori_loop(0, 2, lambda _, c: guarded(1.1 * c), x),
    "under a rule": by_rule,
    "made again": jax.checkpoint(lambda x: jnp.exp(guarded(x))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_would_raise_is_nan_and_all_else_is_the_same(name):
    both = jax.value_and_grad(PROGRAMS[name])
    traced = jax.make_jaxpr(both)(1.0)
    assert any("callback" in each.primitive.name for each in equations(traced.jaxpr))
    changed = without_raising(traced)
    assert not any("callback" in each.primitive.name for each in equations(changed.jaxpr))
    run = jax.jit(jaxpr_as_fun(changed))
    for x in (-1.0, 0.5, 1.5):
        np.testing.assert_array_equal(run(x), jax.jit(both)(x))
    assert np.isnan(run(4.0)[0])


def test_integers_are_zero_where_there_is_no_nan():
    traced = jax.make_jaxpr(lambda n: eqx.error_if(n, n > 3, "too many"))(2)
    run = jaxpr_as_fun(without_raising(traced))
    assert run(2) == [2] and run(4) == [0]


def test_callbacks_that_compute_stay():
    def by_python(x):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), x.dtype), x)

    traced = jax.make_jaxpr(by_python)(1.0)
    assert without_raising(traced) is traced


def test_a_place_where_a_model_raises_is_counted_and_left():
    @ac.model
    def model():
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("f", 0.1 * guarded(x * 3))

    draws = infer.sample(model(), draws=300, warmup=100, chains=2, progress=False, quiet=True)
    assert draws.complete and not draws.lost_chains
    assert draws["x"].max() <= 1 and draws.stats["non_finite"].any()
