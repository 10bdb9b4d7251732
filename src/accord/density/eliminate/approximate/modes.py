"""Find the modes of a log density along groups of numbers that are independent of each other, by Newton's method.

Each group takes its own steps, which are halved until its density rises enough. It begins at a point that the caller
gives and not where a former search ended, so that a mode is a function of the density alone.

**Source**: Nocedal & Wright (2006), Numerical Optimization, sections 3.1 and 3.4; the shift of an indefinite matrix is
by Gershgorin's bound of its eigenvalues.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..normal.square import along_each, factored

MAX_STEPS = 100
"""Newton steps, at most: a density that falls like exp(exp(z)) takes one for each unit of z."""

_MAX_HALVINGS = 30
_ENOUGH = 1e-4  # share of the rise that the slope promises
_NEAR = {jnp.dtype("float64"): 1e-7, jnp.dtype("float32"): 3e-3}
"""Length of the step, in standard deviations, after which a mode is found: the next one is its square."""

_ROUNDINGS = 64.0
_STEADY = 0.1  # share by which second derivatives may change in a step; where a density only levels off, they vanish
_SAME = 0.05  # slopes by standard deviation, within which two are the same

Heights = Callable[[jax.Array], tuple[Any, Any]]
"""From z, shape `(num, size)`, to a log density, shape `()`, and to what each group adds to it, shape `(num,)`.

Where that is not known apart, it is the whole for each group.
"""


class Modes(NamedTuple):
    """The result of a search.

    **Fields**: `z`, where the log density is highest, shape `(num, size)`; `is_found`, for which groups, shape
    `(num,)`; `precision`, minus the second derivatives one step before, a tiny one, shape `(num, size, size)`.
    """

    z: jax.Array
    is_found: jax.Array
    precision: jax.Array


class _Search(NamedTuple):
    z: jax.Array
    precision: jax.Array
    is_found: jax.Array
    is_stuck: jax.Array
    num_steps: jax.Array


def find_modes(heights: Heights, start: jax.Array, *, are_apart: bool) -> Modes:
    """Climb from `start`, shape `(num, size)`.

    **Arguments**: `are_apart`, whether groups are known apart. A slope of a group must then be that of the whole along
    it, else no mode is found: with other data, they may not be what they were.
    """
    eps = jnp.finfo(start.dtype).eps
    near = _NEAR[jnp.dtype(start.dtype)]

    def goes_on(search: _Search) -> jax.Array:
        return (search.num_steps < MAX_STEPS) & ~jnp.all(search.is_found | search.is_stuck)

    def step(search: _Search) -> _Search:
        (slope, before), change = jax.linearize(jax.grad(heights, has_aux=True), search.z)
        columns, own_slopes = along_each(change, search.z)
        precision = -jnp.moveaxis(columns, 0, 2)
        ahead, is_peak = _ahead(slope, precision)
        promised = jnp.sum(slope * ahead, axis=1)
        slack = _ROUNDINGS * eps * (jnp.abs(before) + 1)

        def halve(found: tuple[Any, ...]) -> tuple[Any, ...]:
            share, has_risen, count = found
            share = jnp.where(has_risen, share, share / 2)
            after = heights(search.z + share[:, None] * ahead)[1]
            return share, after >= before + _ENOUGH * share * promised - slack, count + 1

        first = (jnp.full_like(promised, 2.0), jnp.zeros(promised.shape, bool), 0)
        share, has_risen, _ = jax.lax.while_loop(
            lambda found: (found[2] < _MAX_HALVINGS) & ~jnp.all(found[1]), halve, first
        )
        # What a rounding of z is in standard deviations no step can be below.
        scale = jnp.sqrt(jnp.maximum(jnp.diagonal(precision, axis1=1, axis2=2), 0))
        rounding = _ROUNDINGS * eps * jnp.max(jnp.abs(search.z) * scale, axis=1)
        is_near = jnp.sqrt(jnp.maximum(promised, 0)) <= near + rounding
        is_found = is_peak & has_risen & is_near & _is_steady(precision, search.precision)
        if are_apart:
            is_found &= jnp.all(jnp.abs(own_slopes.T - slope) <= _SAME * scale, axis=1)
        z = jnp.where(has_risen[:, None], search.z + share[:, None] * ahead, search.z)
        return _Search(z, precision, is_found, ~has_risen, search.num_steps + 1)

    num, size = start.shape
    none = jnp.zeros(num, bool)
    unknown = jnp.full((num, size, size), jnp.nan, start.dtype)
    search = jax.lax.while_loop(goes_on, step, _Search(start, unknown, none, none, jnp.zeros((), jnp.int32)))
    return Modes(search.z, search.is_found, search.precision)


def _is_steady(precision: jax.Array, before: jax.Array) -> jax.Array:
    """Return for which groups second derivatives are those of the step before."""
    change, size = (jnp.max(jnp.abs(each), axis=(1, 2)) for each in (precision - before, precision))
    return change <= _STEADY * size


def _ahead(slope: jax.Array, precision: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return Newton's steps, upward in any case, and for which groups second derivatives are those of a peak."""

    def solved(matrices: jax.Array) -> jax.Array:
        factor = factored(matrices)
        return factor.solve_transposed(factor.solve(slope))

    ahead = solved(precision)
    is_peak = jnp.all(jnp.isfinite(ahead), axis=1)

    def shifted(_: Any) -> jax.Array:
        diagonal = jnp.diagonal(precision, axis1=1, axis2=2)
        radius = jnp.sum(jnp.abs(precision), axis=2) - jnp.abs(diagonal)
        largest = jnp.max(jnp.abs(precision), axis=(1, 2))
        shift = jnp.maximum(jnp.max(radius - diagonal, axis=1), 0) + largest
        shift = jnp.where(is_peak, 0, shift)
        eye = jnp.eye(precision.shape[-1], dtype=precision.dtype)
        return solved(precision + shift[:, None, None] * eye[None])

    return jax.lax.cond(jnp.all(is_peak), lambda _: ahead, shifted, None), is_peak
