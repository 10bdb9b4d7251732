"""Say which values a distribution can take, as frozen pytrees whose bounds may be traced.

A constraint is called on NumPy or JAX values alike: it uses only operators and methods that both have, so checking a
constant costs no JAX.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import align, is_concrete, is_number, value_hash


class Constraint(eqx.Module):
    """A set of values.

    **Class variables**
    - `is_discrete`: whether the set is countable.
    - `event_dim`: how many trailing axes of a value form one event.
    """

    is_discrete: ClassVar[bool] = False
    event_dim: ClassVar[int] = 0

    def __hash__(self) -> int:
        return value_hash(self)

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Whether each event lies in the set: booleans of the batch shape. NaN does not."""

    @abstractmethod
    def feasible_like(self, value: Any) -> jax.Array:
        """An array of the shape of `value` whose every event lies well inside the set."""


class Real(Constraint):
    """The real numbers, infinities included."""

    def __call__(self, value: Any) -> Any:
        return value == value

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros(np.shape(value), _float_of(value))


class GreaterThan(Constraint):
    """Numbers above `lower`."""

    lower: Any

    def __call__(self, value: Any) -> Any:
        value, lower = _ranked(value, self.lower)
        return value > lower

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, np.inf)


class GreaterThanOrEqual(Constraint):
    """Numbers not below `lower`."""

    lower: Any

    def __call__(self, value: Any) -> Any:
        value, lower = _ranked(value, self.lower)
        return value >= lower

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, np.inf)


class LessThan(Constraint):
    """Numbers below `upper`."""

    upper: Any

    def __call__(self, value: Any) -> Any:
        value, upper = _ranked(value, self.upper)
        return value < upper

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, -np.inf, self.upper)


class Interval(Constraint):
    """Numbers between `lower` and `upper`, ends included; either may be infinite."""

    lower: Any
    upper: Any

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value >= lower) & (value <= upper)

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, self.upper)


class OpenInterval(Constraint):
    """Numbers between `lower` and `upper`, ends excluded."""

    lower: Any
    upper: Any

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value > lower) & (value < upper)

    def feasible_like(self, value: Any) -> jax.Array:
        return _between(value, self.lower, self.upper)


class Boolean(Constraint):
    """0 and 1, or False and True."""

    is_discrete: ClassVar[bool] = True

    def __call__(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros_like(value)


class IntegerGreaterThanOrEqual(Constraint):
    """Whole numbers not below `lower`, of integer or floating dtype."""

    lower: Any
    is_discrete: ClassVar[bool] = True

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

    def __call__(self, value: Any) -> Any:
        value, lower, upper = _ranked(value, self.lower, self.upper)
        return (value >= lower) & (value <= upper) & (value % 1 == 0)

    def feasible_like(self, value: Any) -> jax.Array:
        return _whole(value, self.lower)


class Simplex(Constraint):
    """Vectors of non-negative numbers that sum to one, to within rounding."""

    event_dim: ClassVar[int] = 1

    def __call__(self, value: Any) -> Any:
        # A float32 sum of n parts is off by up to n * 6e-8; 1e-6 is NumPyro's tolerance, widened here with n.
        slack = 1e-6 * max(1.0, np.shape(value)[-1] / 10)
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) <= slack)

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.full(np.shape(value), 1 / np.shape(value)[-1], _float_of(value))


class Ordered(Constraint):
    """Vectors of strictly increasing numbers."""

    event_dim: ClassVar[int] = 1

    def __call__(self, value: Any) -> Any:
        return (value[..., 1:] > value[..., :-1]).all(-1)

    def feasible_like(self, value: Any) -> jax.Array:
        steps = np.arange(1.0, np.shape(value)[-1] + 1)
        return jnp.broadcast_to(jnp.asarray(steps, _float_of(value)), np.shape(value))


class PositiveOrdered(Constraint):
    """Vectors of strictly increasing positive numbers."""

    event_dim: ClassVar[int] = 1

    def __call__(self, value: Any) -> Any:
        return (value[..., 1:] > value[..., :-1]).all(-1) & (value[..., :1] > 0).all(-1)

    def feasible_like(self, value: Any) -> jax.Array:
        return Ordered().feasible_like(value)


class LowerCholesky(Constraint):
    """Lower triangular square matrices with a positive diagonal."""

    event_dim: ClassVar[int] = 2

    def __call__(self, value: Any) -> Any:
        size = np.shape(value)[-1]
        above = np.triu_indices(size, 1)
        diagonal = np.diag_indices(size)
        return (value[(..., *above)] == 0).all(-1) & (value[(..., *diagonal)] > 0).all(-1)

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.broadcast_to(jnp.eye(np.shape(value)[-1], dtype=_float_of(value)), np.shape(value))


class PositiveDefinite(Constraint):
    """Symmetric matrices with positive eigenvalues."""

    event_dim: ClassVar[int] = 2

    def __call__(self, value: Any) -> Any:
        other = value.swapaxes(-1, -2)
        symmetric = (abs(value - other) <= 1e-6 * (abs(value) + abs(other))).all((-2, -1))
        linalg: Any = jnp.linalg if isinstance(value, jax.Array) else np.linalg
        return symmetric & (linalg.eigvalsh(value)[..., 0] > 0)

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.broadcast_to(jnp.eye(np.shape(value)[-1], dtype=_float_of(value)), np.shape(value))


class Independent(Constraint):
    """Arrays of which every element along the last `count` batch axes lies in `base`."""

    base: Constraint
    count: int = eqx.field(static=True)

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the set is countable."""
        return self.base.is_discrete

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return self.base.event_dim + self.count

    def __call__(self, value: Any) -> Any:
        inside = self.base(value)
        return inside.all(tuple(range(-self.count, 0))) if self.count else inside

    def feasible_like(self, value: Any) -> jax.Array:
        return self.base.feasible_like(value)


def _float_of(value: Any) -> Any:
    """The dtype of `value` where that is floating, else JAX's default float."""
    dtype = jnp.result_type(value)
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.result_type(float)


def _ranked(value: Any, *bounds: Any) -> tuple[Any, ...]:
    """Make values and bounds comparable: left alone where that is plain already, else aligned in dtype and rank."""
    if all(is_number(bound) for bound in bounds):
        return (value, *bounds)
    if isinstance(value, (np.ndarray, np.generic)) and all(is_concrete(bound) for bound in bounds):
        return (value, *(np.asarray(bound) for bound in bounds))
    return align(value, *bounds)


def _between(value: Any, low: Any, high: Any) -> jax.Array:
    """A point inside (low, high), of the shape of `value`, without gradient; the bounds may be infinite."""
    shaped, low, high = align(jnp.zeros(np.shape(value), _float_of(value)), low, high)
    low, high = jax.lax.stop_gradient((low, high))
    has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
    from_low = jnp.where(has_low, low, 0.0) + 1.0
    from_high = jnp.where(has_high, high, 0.0) - 1.0
    middle = jnp.where(
        has_low & has_high, 0.5 * (from_low + from_high), jnp.where(has_low, from_low, from_high)
    )
    return shaped + jnp.where(has_low | has_high, middle, 0.0)


def _whole(value: Any, lower: Any) -> jax.Array:
    """The whole number `lower`, in the shape and dtype of `value`."""
    value = jnp.asarray(value)
    lower = jnp.asarray(lower).astype(value.dtype)
    lower = lower.reshape((1,) * (value.ndim - lower.ndim) + lower.shape)
    return jax.lax.stop_gradient(jnp.broadcast_to(lower, value.shape))
