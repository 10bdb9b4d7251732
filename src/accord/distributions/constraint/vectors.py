"""Constrain vectors: to the simplex, the sphere, the l1 ball, a fixed sum, or increasing elements."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_concrete
from .base import Constraint, float_of, repeat, slack


class Simplex(Constraint):
    """Vectors of non-negative numbers that sum to one, to within rounding."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "non-negative with sum 1 along the last axis"

    def __call__(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) <= slack(np.shape(value)[-1]))

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.full(np.shape(value), 1 / np.shape(value)[-1], float_of(value))


class L1Ball(Constraint):
    """Vectors whose absolute values sum to at most one, to within rounding."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "of absolute values with sum at most 1 along the last axis"

    def __call__(self, value: Any) -> Any:
        return abs(value).sum(-1) <= 1 + slack(np.shape(value)[-1])

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros(np.shape(value), float_of(value))


class Sphere(Constraint):
    """Vectors of Euclidean length one, to within rounding."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "of length 1 along the last axis"

    def __call__(self, value: Any) -> Any:
        return abs((value * value).sum(-1) - 1) <= 2 * slack(np.shape(value)[-1])

    def feasible_like(self, value: Any) -> jax.Array:
        size = np.shape(value)[-1]
        return jnp.full(np.shape(value), size**-0.5, float_of(value))


class ZeroSum(Constraint):
    """Arrays that sum to zero along each of their last `event_dim` axes, to within rounding."""

    event_dim: int = eqx.field(static=True, default=1)  # pyright: ignore[reportIncompatibleVariableOverride]
    words: ClassVar[str] = "of sum 0 along each of the last {event_dim} axes"

    def __call__(self, value: Any) -> Any:
        axes = tuple(range(-self.event_dim, 0))
        inside = (value == value).all(axes)
        for axis in axes:
            # Relative to the parts, since they have no natural size.
            size = slack(np.shape(value)[axis]) * abs(value).sum(axis)
            inside = inside & (abs(value.sum(axis)) <= size).all(axes[1:])
        return inside

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros(np.shape(value), float_of(value))


class Ordered(Constraint):
    """Vectors of strictly increasing numbers."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "increasing along the last axis"

    def __call__(self, value: Any) -> Any:
        return (value[..., 1:] > value[..., :-1]).all(-1) & (value == value).all(-1)

    def feasible_like(self, value: Any) -> jax.Array:
        return repeat(np.arange(1.0, np.shape(value)[-1] + 1), value)


class PositiveOrdered(Constraint):
    """Vectors of strictly increasing positive numbers."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "positive and increasing along the last axis"

    def __call__(self, value: Any) -> Any:
        return (value[..., 1:] > value[..., :-1]).all(-1) & (value[..., :1] > 0).all(-1)

    def feasible_like(self, value: Any) -> jax.Array:
        return repeat(np.arange(1.0, np.shape(value)[-1] + 1), value)


class PositiveDefiniteCirculantVector(Constraint):
    """First rows of symmetric positive definite circulant matrices: real, positive Fourier coefficients."""

    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "symmetric around its first element, with positive Fourier coefficients"

    def __call__(self, value: Any) -> Any:
        fft: Any = jnp.fft if isinstance(value, jax.Array) else np.fft
        coefficients = fft.rfft(value)
        tolerance = slack(np.shape(value)[-1]) * abs(value).sum(-1)
        return (coefficients.real > 0).all(-1) & (abs(coefficients.imag).max(-1) <= tolerance)

    def feasible_like(self, value: Any) -> jax.Array:
        return repeat(np.eye(1, np.shape(value)[-1])[0], value)


class Multinomial(Constraint):
    """Vectors of counts, of integer or floating dtype, that sum to `upper`."""

    upper: Any
    is_discrete: ClassVar[bool] = True
    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "counts with sum {upper} along the last axis"

    def __call__(self, value: Any) -> Any:
        whole = ((value >= 0) & (value % 1 == 0)).all(-1)
        if isinstance(value, (np.ndarray, np.generic)) and is_concrete(self.upper):
            return whole & (value.sum(-1) == np.asarray(self.upper))
        total, upper = align(value.sum(-1), self.upper)
        return whole & (total == upper)

    def feasible_like(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        upper = jnp.asarray(self.upper).astype(value.dtype)
        first = jnp.broadcast_to(upper, value.shape[:-1])[..., None]
        return jax.lax.stop_gradient(
            jnp.concatenate([first, jnp.zeros((*value.shape[:-1], value.shape[-1] - 1), value.dtype)], -1)
        )
