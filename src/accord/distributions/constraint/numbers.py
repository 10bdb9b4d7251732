"""Constrain single numbers: to the real line, a half-line, an interval, or whole numbers in one."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_concrete, is_number
from .base import Constraint, float_of


class Real(Constraint):
    """The real numbers, infinities included."""

    words: ClassVar[str] = "a real number"

    def __call__(self, value: Any) -> Any:
        return value == value

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros(np.shape(value), float_of(value))


class Complex(Constraint):
    """The complex numbers, infinities included."""

    words: ClassVar[str] = "a complex number"

    def __call__(self, value: Any) -> Any:
        return value == value

    def feasible_like(self, value: Any) -> jax.Array:
        dtype = jnp.result_type(value)
        if not jnp.issubdtype(dtype, jnp.complexfloating):
            dtype = np.result_type(float_of(value), np.complex64)
        return jnp.zeros(np.shape(value), dtype)


class GreaterThan(Constraint):
    """Numbers above `lower`."""

    lower: Any
    words: ClassVar[str] = "above {lower}"

    def __call__(self, value: Any) -> Any:
        value, lower = _ranked(value, self.lower)
        return value > lower

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, np.inf)


class SoftplusPositive(GreaterThan):
    """Positive numbers mapped by softplus instead of exp, so that large ones grow linearly."""

    lower: Any = 0.0


class GreaterThanOrEqual(Constraint):
    """Numbers not below `lower`."""

    lower: Any
    words: ClassVar[str] = "at least {lower}"

    def __call__(self, value: Any) -> Any:
        value, lower = _ranked(value, self.lower)
        return value >= lower

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, np.inf)


class LessThan(Constraint):
    """Numbers below `upper`."""

    upper: Any
    words: ClassVar[str] = "below {upper}"

    def __call__(self, value: Any) -> Any:
        value, upper = _ranked(value, self.upper)
        return value < upper

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, -np.inf, self.upper)


class LessThanOrEqual(Constraint):
    """Numbers not above `upper`."""

    upper: Any
    words: ClassVar[str] = "at most {upper}"

    def __call__(self, value: Any) -> Any:
        value, upper = _ranked(value, self.upper)
        return value <= upper

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, -np.inf, self.upper)


class Interval(Constraint):
    """Numbers between `lower` and `upper`, ends included; either may be infinite."""

    lower: Any
    upper: Any
    words: ClassVar[str] = "between {lower} and {upper}"

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value >= lower) & (value <= upper)

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, self.upper)


class Circular(Interval):
    """Angles from -pi to pi; both ends are the same angle."""

    lower: Any = -math.pi
    upper: Any = math.pi
    words: ClassVar[str] = "an angle between -pi and pi"


class OpenInterval(Constraint):
    """Numbers between `lower` and `upper`, ends excluded."""

    lower: Any
    upper: Any
    words: ClassVar[str] = "strictly between {lower} and {upper}"

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value > lower) & (value < upper)

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, self.upper)


class Boolean(Constraint):
    """0 and 1, or False and True."""

    is_discrete: ClassVar[bool] = True
    words: ClassVar[str] = "0 or 1"

    def __call__(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros_like(value)


class IntegerGreaterThanOrEqual(Constraint):
    """Whole numbers not below `lower`, of integer or floating dtype."""

    lower: Any
    is_discrete: ClassVar[bool] = True
    words: ClassVar[str] = "a whole number of at least {lower}"

    def __call__(self, value: Any) -> Any:
        value, lower = _ranked(value, self.lower)
        return (value >= lower) & (value % 1 == 0)

    def feasible_like(self, value: Any) -> jax.Array:
        return _whole(value, self.lower)


class IntegerInterval(Constraint):
    """Whole numbers from `lower` to `upper`, both included, of integer or floating dtype."""

    lower: Any
    upper: Any
    is_discrete: ClassVar[bool] = True
    words: ClassVar[str] = "a whole number from {lower} to {upper}"

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value >= lower) & (value <= upper) & (value % 1 == 0)

    def feasible_like(self, value: Any) -> jax.Array:
        return _whole(value, self.lower)


def _ranked(value: Any, *bounds: Any) -> tuple[Any, ...]:
    """Align values and bounds in dtype and rank where they are not comparable already."""
    if all(is_number(bound) for bound in bounds):
        return (value, *bounds)
    if isinstance(value, (np.ndarray, np.generic)) and all(is_concrete(bound) for bound in bounds):
        return (value, *(np.asarray(bound) for bound in bounds))
    return align(value, *bounds)


def _between(value: Any, low: Any, high: Any) -> jax.Array:
    """Return a point inside (low, high), of the shape of `value`, without gradient; the bounds may be infinite."""
    shaped, low, high = align(jnp.zeros(np.shape(value), float_of(value)), low, high)
    low, high = jax.lax.stop_gradient((low, high))
    has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
    from_low = jnp.where(has_low, low, 0.0) + 1.0
    from_high = jnp.where(has_high, high, 0.0) - 1.0
    middle = jnp.where(
        has_low & has_high, 0.5 * (from_low + from_high), jnp.where(has_low, from_low, from_high)
    )
    return shaped + jnp.where(has_low | has_high, middle, 0.0)


def _whole(value: Any, lower: Any) -> jax.Array:
    """Return the whole number `lower`, in the shape and dtype of `value`."""
    value = jnp.asarray(value)
    lower = jnp.asarray(lower).astype(value.dtype)
    lower = lower.reshape((1,) * (value.ndim - lower.ndim) + lower.shape)
    return jax.lax.stop_gradient(jnp.broadcast_to(lower, value.shape))
