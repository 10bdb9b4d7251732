"""Hold that traced functions lose what no result needs, also in loops and branches, and that results stay the same."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from laws import each

from accord.programs.alive import alive, variables

X, Y, N = np.linspace(0.1, 0.9, 3), np.linspace(0.2, 0.4, 3), np.int32(4)


def carried_for_itself(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        return s[0] + 1, jnp.sin(s[1]), s[2] * s[1]

    return jax.lax.while_loop(lambda s: s[0] < n, step, (0, x, y))[1]


def carried_for_another(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        return s[0] + 1, jnp.sin(s[1]) + s[2], s[3], s[3] * 0.5

    return jax.lax.while_loop(lambda s: s[0] < n, step, (0, x, x, y))[1]


def carried_for_the_condition(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        return s[0] + 1, jnp.sin(s[1]), s[2] * 0.9

    return jax.lax.while_loop(lambda s: (s[0] < n) & (s[2].sum() > 0.5), step, (0, x, y))[1]


def a_constant_of_what_is_carried_for_itself(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        return s[0] + 1, jnp.sin(s[1]), s[2] * y

    return jax.lax.while_loop(lambda s: s[0] < n, step, (0, x, x))[1]


def a_loop_in_a_loop(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        inner = jax.lax.while_loop(
            lambda t: t[0] < s[0], lambda t: (t[0] + 1, jnp.cos(t[1]), t[2] * t[1]), (0, s[1], y)
        )
        return s[0] + 1, inner[1]

    return jax.lax.while_loop(lambda s: s[0] < n, step, (0, x))[1]


def a_scan(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any, row: Any) -> Any:
        return (jnp.sin(s[0]) + row[0], s[1] * s[0]), (s[0], row[1] * s[1])

    (end, _), (outputs, _) = jax.lax.scan(step, (x, y), (jnp.stack([x, x]), jnp.stack([y, y])))
    return end + outputs[0]


def all_of_a_scan(n: Any, x: Any, y: Any) -> Any:
    def step(s: Any, row: Any) -> Any:
        return (s[1], jnp.sin(s[0]) * row), s[0] + row

    return jax.lax.scan(step, (x, y), jnp.stack([x, y]))


def branches(n: Any, x: Any, y: Any) -> Any:
    return jax.lax.cond(n > 3, lambda: (jnp.sin(x), y), lambda: (jnp.cos(x), 2 * y))[0]


def one_branch(n: Any, x: Any, y: Any) -> Any:
    return jax.lax.cond(n > 3, lambda: (jnp.sin(x), y), lambda: (y, 2 * y))[0]


def beside(n: Any, x: Any, y: Any) -> Any:
    jnp.log(y)
    return x * 2 + n.astype(float)


CASES: dict[str, tuple[Callable[..., Any], str]] = {
    "carried for itself": (carried_for_itself, "nx"),
    "carried for another": (carried_for_another, "nxy"),
    "carried for the condition": (carried_for_the_condition, "nxy"),
    "a constant of what is carried for itself": (a_constant_of_what_is_carried_for_itself, "nx"),
    "a loop in a loop": (a_loop_in_a_loop, "nx"),
    "a scan": (a_scan, "x"),
    "all of a scan": (all_of_a_scan, "xy"),
    "branches": (branches, "nx"),
    "one branch": (one_branch, "nxy"),
    "beside": (beside, "nx"),
}


@each(CASES)
def test_what_no_result_needs_is_left_out(case: tuple[Callable[..., Any], str]) -> None:
    function, needed = case
    closed = jax.make_jaxpr(function)(N, X, Y)
    whole = closed.jaxpr
    kept = alive(whole)
    part = Jaxpr(whole.constvars, whole.invars, whole.outvars, kept, whole.effects, whole.debug_info)
    found = jax.jit(jaxpr_as_fun(ClosedJaxpr(part, closed.consts)))(N, X, Y)
    expected = jax.jit(jaxpr_as_fun(closed))(N, X, Y)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    used = variables([v for equation in kept for v in equation.invars])
    assert "".join(name for name, v in zip("nxy", whole.invars, strict=True) if v in used) == needed


def test_what_prints_is_kept(capfd: Any) -> None:
    def step(s: Any) -> Any:
        jax.debug.print("{}", s[2][0])
        return s[0] + 1, jnp.sin(s[1]), s[2] + 1

    closed = jax.make_jaxpr(lambda x, y: jax.lax.while_loop(lambda s: s[0] < 2, step, (0, x, y))[1])(X, Y)
    whole = closed.jaxpr
    part = Jaxpr((), whole.invars, whole.outvars, alive(whole), whole.effects, whole.debug_info)
    jax.block_until_ready(jax.jit(jaxpr_as_fun(ClosedJaxpr(part, ())))(X, Y))
    jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["0.2", "1.2"]
