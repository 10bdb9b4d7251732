"""Check parameters once, at construction, if their values are known while tracing; hold them constant."""

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..bijectors import is_concrete, is_number
from ..core.errors import DistributionError
from ..core.masked import mask_of, masked_words
from ..core.options import hint
from .constraint import Constraint, Real

if TYPE_CHECKING:
    from .base import AbstractDistribution


def check_parameter(distribution: str, name: str, constraint: Constraint, value: Any) -> None:
    """Raise `DistributionError` for a parameter of the wrong kind or, if known now, outside its constraint."""
    if not (is_number(value) or isinstance(value, (jax.Array, np.ndarray, np.generic))):
        if hasattr(value, "shape") or type(value) is object:
            return  # a placeholder that JAX puts in a pytree while it flattens structures
        raise DistributionError(
            f"{distribution}: {name} is a {type(value).__name__}. Give a number, a NumPy array or a JAX array."
        )
    mask = mask_of(value)
    if mask is not None:
        raise DistributionError(masked_words(f"{distribution}: {name}", mask))
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
    # A NaN in an array may be masked. Where it is used, it makes the log density NaN, which a run explains.
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


def may_be_none(cls: type, name: str) -> bool:
    """Return whether the constructor of `cls` accepts None for a parameter, one of several alternatives."""
    parameter = inspect.signature(cls).parameters.get(name)
    return parameter is None or parameter.default is None


def check_names(cls: type, given: Iterable[str]) -> None:
    """Raise `DistributionError` for a parameter name that the constructor of `cls` does not have."""
    known = inspect.signature(cls).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in given:
        if name not in known:
            raise DistributionError(
                f"{cls.__name__} has no parameter {name!r}.{hint(f'dist.{cls.__name__}', name, known)} It takes "
                f"{', '.join(known)}."
            )


def check_shapes(distribution: "AbstractDistribution") -> None:
    """Raise `DistributionError` if the shapes of parameters do not broadcast to one batch shape."""
    try:
        _ = distribution.batch_shape
    except DistributionError:
        raise
    except ValueError as error:
        values = {name: getattr(distribution, name) for name in distribution.parameters}
        shapes = [f"{name} {np.shape(value)}" for name, value in values.items() if value is not None]
        raise distribution.refuse(
            f"the parameters do not broadcast together: {', '.join(shapes)}",
            "Index the shorter one so that it follows the longer, as in `theta[group]`, or give one of them a trailing "
            "axis of 1, as in `x[:, None]`, to combine each entry with each.",
        ) from error


def exactly_one(distribution: "AbstractDistribution", *names: str) -> None:
    """Raise `DistributionError` unless exactly one of the named parameters was given."""
    given = [name for name in names if getattr(distribution, name) is not None]
    if len(given) != 1:
        raise DistributionError(
            f"{type(distribution).__name__}: got {' and '.join(given) or 'none'} of {', '.join(names)}. "
            "Give exactly one."
        )


def check_bounds(distribution: "AbstractDistribution", low: Any, high: Any) -> None:
    """Raise `DistributionError` unless `low < high` wherever both are known now; None means no bound."""
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


def without_gradient(distribution: Any) -> Any:
    """Return the distribution with its parameters held constant for derivatives."""
    return jax.tree.map(lambda leaf: leaf if is_number(leaf) else jax.lax.stop_gradient(leaf), distribution)
