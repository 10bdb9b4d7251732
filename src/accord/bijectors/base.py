"""Define the base class of bijectors: smooth one-to-one maps to a constrained space, with log determinants."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax

from ..core.modules import Module
from .arrays import value_hash


class AbstractBijector(Module):
    """Abstract base class of bijectors: frozen differentiable maps `y = f(x)` of unconstrained x to constrained y.

    A bijector precomputes and caches nothing: parameters are stored as given and may be tracers.

    **Class variables**
    - `domain_event_dim`, `codomain_event_dim`: how many trailing axes of `x` and `y` form one event; 0 for
      elementwise maps.

    **Example**

    >>> class Cubic(bijectors.AbstractBijector):
    ...     def forward_and_log_det(self, x):
    ...         return x**3, jnp.log(3 * x**2)
    ...
    ...     def inverse_and_log_det(self, y):
    ...         x = jnp.cbrt(y)
    ...         return x, -jnp.log(3 * x**2)
    >>> y, log_det = Cubic().forward_and_log_det(np.array([1.0, 2.0]))
    >>> print(y, log_det)
    [1. 8.] [1.099 2.485]
    """

    domain_event_dim: ClassVar[int] = 0
    codomain_event_dim: ClassVar[int] = 0

    @abstractmethod
    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        """Map to constrained space, and return the log determinant of the Jacobian.

        **Arguments**: `x`, any real array, shape `batch + domain event`. Python numbers and integers are converted.

        **Returns** `y`, shape `batch + codomain event`, and log|det dy/dx|, shape `batch`. Neither is NaN for
        finite `x`, however large; `y` may round to the edge of its space.
        """

    @abstractmethod
    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        """Map to unconstrained space, and return the log determinant of the Jacobian.

        **Arguments**: `y`, shape `batch + codomain event`, inside the constrained space.

        **Returns** `x`, shape `batch + domain event`, and log|det dx/dy|, shape `batch`.
        """

    def __hash__(self) -> int:
        return value_hash(self)

    def forward(self, x: Any) -> jax.Array:
        """Map to constrained space, without the log determinant."""
        return self.forward_and_log_det(x)[0]

    def inverse(self, y: Any) -> jax.Array:
        """Map to unconstrained space, without the log determinant."""
        return self.inverse_and_log_det(y)[0]

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of `y` for an `x` of this whole shape (batch and event)."""
        return tuple(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of `x` for a `y` of this whole shape (batch and event)."""
        return tuple(shape)


def sum_trailing(log_det: jax.Array, count: int) -> jax.Array:
    """Sum the last `count` axes: from elementwise log derivatives to one log determinant per event."""
    return log_det.sum(axis=tuple(range(-count, 0))) if count else log_det
