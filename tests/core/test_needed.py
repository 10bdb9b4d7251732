"""Check that a part of a traced function has what its results need, and nothing of the others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.core.needed import is_needed, only

TABLE = np.array([1.0, 2.0, 3.0])


def function(x, y):
    shared = jnp.exp(x)
    jax.debug.print("{}", shared)
    return shared + TABLE[0], jnp.sin(y) * shared, jnp.sum(y * jnp.asarray(TABLE)), y


CLOSED = jax.make_jaxpr(function)(1.0, np.ones(3))


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (0, 1, 2, 3), ()])
def test_results_are_those_of_the_whole(wanted):
    part = only(CLOSED, [number in wanted for number in range(4)], keeps_effects=False)
    arguments = 0.5, np.arange(3.0)
    found = jax.extend.core.jaxpr_as_fun(part)(*arguments)
    expected = function(*arguments)
    assert len(found) == len(wanted)
    for number, array in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(array, expected[number])


def test_what_only_others_need_is_gone():
    names = [
        {equation.primitive.name for equation in only(CLOSED, wanted, keeps_effects=False).jaxpr.eqns}
        for wanted in ([True, False, False, False], [False, False, True, False])
    ]
    assert "exp" in names[0] and "sin" not in names[0]
    assert "exp" not in names[1]
    assert is_needed(only(CLOSED, [False, False, True, False], keeps_effects=False).jaxpr) == [False, True]


@pytest.mark.parametrize("keeps", [True, False])
def test_what_prints_stays_where_that_is_asked_for(keeps):
    part = only(CLOSED, [False, False, False, True], keeps_effects=keeps)
    assert bool(part.jaxpr.effects) is bool(part.jaxpr.eqns) is keeps
