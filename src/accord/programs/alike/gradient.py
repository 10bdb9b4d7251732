"""Trace the gradient of a log density with very many sites, which JAX differentiates one operation at a time."""

from collections.abc import Callable
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ...core.traced import equations
from .merge import merged

MANY_SITES = 100
"""Sites, from which on a log density is merged before its gradient is taken."""

# What is differentiated by a rule of its own would be differentiated through, once it is merged.
_WITH_RULES = "custom_"


def gradient_of_merged(
    density: Callable[..., Any], data: Any, position: Any, *others: Any
) -> ClosedJaxpr | None:
    """Trace `density(data, position, *others)` and its gradient by position, an array, merged before.

    The results are those of `jax.value_and_grad`.

    None for a log density that has a derivative rule of its own somewhere, an effect, or a value of another trace.
    """
    forward = jax.make_jaxpr(density)(data, position, *others)
    has_rules = any(each.primitive.name.startswith(_WITH_RULES) for each in equations(forward.jaxpr))
    if has_rules or forward.effects or any(isinstance(value, Tracer) for value in forward.consts):
        return None
    value = jaxpr_as_fun(merged(forward, 1))

    def both(data: Any, position: Any, *others: Any) -> Any:
        return jax.value_and_grad(lambda position: value(*jax.tree.leaves(data), position, *others)[0])(
            position
        )

    return jax.make_jaxpr(both)(data, position, *others)
