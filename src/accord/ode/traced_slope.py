"""Trace a slope once, so that equal equations are recognised as equal."""

from collections.abc import Callable, Hashable
from typing import Any

import equinox as eqx
import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ..core.traced import equations, key_of

Slope = Callable[[jax.Array, jax.Array], jax.Array]
"""`slope(t, y)`, of the shape of `y`."""


class _Code:
    """Traced computation from constants, time and state; equal to any that computes the same.

    Code with derivative rules (`jax.custom_jvp`), or with callbacks created anew, equals only itself.

    A model is traced several times before it is run, and builds its slope anew each time. diffrax, whose tracing takes
    most of the time, caches its traces by equal arguments.
    """

    def __init__(self, jaxpr: Any):
        self.jaxpr = jaxpr
        # Rules for derivatives count: slopes are differentiated.
        self._key: Hashable = key_of(jaxpr, with_rules=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Code) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class TracedSlope(eqx.Module):
    """Slope whose leaves are all the arrays that it closes over.

    **Fields**: `constants`; `code`, the computation from constants, time and state.
    """

    constants: tuple[Any, ...]
    code: _Code = eqx.field(static=True)

    @staticmethod
    def of(slope: Slope, t: jax.Array, y: jax.Array) -> "TracedSlope":
        """Trace any slope; only the shapes and dtypes of `t` and `y` matter."""
        closed = jax.make_jaxpr(slope)(t, y)
        return TracedSlope(tuple(closed.consts), _Code(closed.jaxpr))

    @property
    def has_forward_rules(self) -> bool:
        """Return whether the slope has forward-mode derivatives; `jax.custom_vjp` has none."""
        return not any(
            each.primitive.name.startswith("custom_vjp_call") for each in equations(self.code.jaxpr)
        )

    def __call__(self, t: jax.Array, y: jax.Array) -> jax.Array:
        (found,) = jaxpr_as_fun(ClosedJaxpr(self.code.jaxpr, self.constants))(t, y)
        return found
