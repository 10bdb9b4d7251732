"""Map parameters of fits between unconstrained numbers and the values that their constraints allow."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ..distributions.transforms import Transform
from .densities import transform_fn


def constrained(maps: Mapping[str, Transform], values: Mapping[str, Any]) -> dict[str, Any]:
    """Map unconstrained values by name; trees, such as the parameters of a network, stay as they are."""
    leaves = {name: value for name, value in values.items() if is_array(value)}
    trees = {name: value for name, value in values.items() if name not in leaves}
    return {**transform_fn(maps, leaves), **trees}


def unconstrained_value(of: Transform, value: Any) -> Any:
    """Map a value, or the arrays of a tree, to unconstrained numbers."""
    return jax.tree.map(lambda x: of.inv(x) if is_array(x) else x, value)


def log_jacobian(maps: Mapping[str, Transform], values: Mapping[str, Any]) -> Any:
    """Return log |d value / d number| at unconstrained values, of all of them together."""
    terms = [
        jnp.sum(maps[name].log_abs_det_jacobian(value, None))
        for name, value in values.items()
        if is_array(value)
    ]
    return sum(terms, jnp.zeros(()))


def is_array(value: Any) -> bool:
    """Return whether a parameter is one array, in place of a tree of them."""
    return hasattr(value, "dtype") or isinstance(value, int | float)
