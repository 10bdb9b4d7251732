"""Check parameters once, on construction, as far as they are known while tracing."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..bijectors import is_concrete, is_number
from ..core.errors import DistributionError
from .constraint import Constraint, Real

if TYPE_CHECKING:
    from .base import AbstractDistribution


def check_parameter(distribution: str, name: str, constraint: Constraint, value: Any) -> None:
    """Raise `DistributionError` when a parameter known now is of the wrong kind or outside its constraint."""
    if not (is_number(value) or isinstance(value, (jax.Array, np.ndarray, np.generic))):
        if hasattr(value, "shape") or type(value) is object:
            return  # a placeholder that JAX puts in a pytree while it takes structures apart
        raise DistributionError(
            f"{distribution}: {name} is a {type(value).__name__}. Give a number, a NumPy array or a JAX array."
        )
    if np.ndim(value) < constraint.event_dim:
        raise DistributionError(
            f"{distribution}: {name} has shape {np.shape(value)}, but needs at least {constraint.event_dim} "
            f"{'axis' if constraint.event_dim == 1 else 'axes'}."
        )
    if not is_concrete(value):
        return
    plain = np.asarray(value)
    if plain.ndim == 0 and np.isnan(plain):
        raise DistributionError(f"{distribution}: {name} is NaN. It must be {constraint.describe()}.")
    if isinstance(constraint, Real):
        return
    # NaN in an array may stand behind a mask: it makes the log density NaN where it is used, which a run explains.
    inside = constraint(plain) | np.isnan(plain).any(
        tuple(range(plain.ndim - constraint.event_dim, plain.ndim))
    )
    if not np.all(inside):
        where = np.argwhere(~np.asarray(inside))[0]
        found = plain[tuple(where)]
        at = f" at index {tuple(int(i) for i in where)}" if where.size else ""
        raise DistributionError(
            f"{distribution}: {name} must be {constraint.describe()}, got {found}{at}. "
            f"Check the sign and the order of the arguments, or transform {name} first."
        )


def exactly_one(distribution: "AbstractDistribution", *names: str) -> None:
    """Raise `DistributionError` unless exactly one of the named parameters was given."""
    given = [name for name in names if getattr(distribution, name) is not None]
    if len(given) != 1:
        raise DistributionError(
            f"{type(distribution).__name__}: got {' and '.join(given) or 'none'} of {', '.join(names)}. "
            "Give exactly one."
        )


def check_bounds(distribution: "AbstractDistribution", low: Any, high: Any) -> None:
    """Raise `DistributionError` unless `low < high` wherever both are known now; None is no bound."""
    if low is None or high is None or not (is_concrete(low) and is_concrete(high)):
        return
    low, high = np.broadcast_arrays(np.asarray(low), np.asarray(high))
    if (low >= high).any():
        where = np.argwhere(low >= high)[0]
        at = f" at index {tuple(int(i) for i in where)}" if where.size else ""
        raise distribution.refuse(
            f"low must be below high, got low={low[tuple(where)]} and high={high[tuple(where)]}{at}",
            "Check the order of the bounds.",
        )
