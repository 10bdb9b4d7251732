"""Map arrays linearly: by a triangular matrix, along a recursion, permuted, reshaped, or paired as complex numbers."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from .arrays import align, is_concrete
from .base import AbstractBijector


class LowerCholeskyAffine(AbstractBijector):
    """Map vectors to vectors: `y = loc + scale_tril @ x`.

    **Fields**
    - `loc`: shape broadcasting to `batch + (n,)`.
    - `scale_tril`: lower triangular with a positive diagonal, shape broadcasting to `batch + (n, n)`.

    **Example**

    >>> bijector = bijectors.LowerCholeskyAffine(np.ones(2), np.array([[2.0, 0.0], [1.0, 3.0]]))
    >>> y, log_det = bijector.forward_and_log_det(np.ones(2))
    >>> print(y, f"{log_det:.3f}")
    [3. 5.] 1.792
    """

    loc: Any
    scale_tril: Any
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, loc, factor = self._aligned(x)
        y = loc + jnp.matmul(factor, x, precision="highest")
        return y[..., 0], self._log_det(factor, y)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, loc, factor = self._aligned(y)
        rest = y - loc
        batch = np.broadcast_shapes(rest.shape[:-2], factor.shape[:-2])
        x = jax.scipy.linalg.solve_triangular(
            jnp.broadcast_to(factor, batch + factor.shape[-2:]),
            jnp.broadcast_to(rest, batch + rest.shape[-2:]),
            lower=True,
        )
        return x[..., 0], -self._log_det(factor, x)

    def _aligned(self, x: Any) -> tuple[jax.Array, ...]:
        """Return the argument and the fields in one dtype and rank, vectors as columns."""
        x, loc = jnp.asarray(x)[..., None], self.loc
        return align(x, loc if np.ndim(loc) == 0 else loc[..., None], self.scale_tril)

    def _log_det(self, factor: jax.Array, column: jax.Array) -> jax.Array:
        log_det = jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        return jnp.broadcast_to(log_det, column.shape[:-2])


class RecursiveLinear(AbstractBijector):
    """Map innovations to states: `y[t] = transition_matrix @ y[t - 1] + x[t]`; volume is preserved.

    **Fields**
    - `transition_matrix`: shape broadcasting to `batch + (n, n)`, for events of shape `(steps, n)`.
    - `initial_value`: `y[-1]`, the state before the first, shape broadcasting to `batch + (n,)`; None is 0.

    **Example**

    >>> bijector = bijectors.RecursiveLinear(np.array([[0.5]]))
    >>> y, log_det = bijector.forward_and_log_det(np.array([[1.0], [0.0], [0.0]]))
    >>> print(y, f"{log_det:.3f}")
    [[1.  ]
     [0.5 ]
     [0.25]] 0.000
    """

    transition_matrix: Any
    initial_value: Any = None
    domain_event_dim: ClassVar[int] = 2
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, matrix, start = self._aligned(x)

        def step(state: jax.Array, noise: jax.Array) -> tuple[jax.Array, jax.Array]:
            state = jnp.matmul(matrix, state, precision="highest") + noise
            return state, state

        _, states = jax.lax.scan(step, start[..., None], jnp.moveaxis(x, -2, 0)[..., None])
        return jnp.moveaxis(states[..., 0], 0, -2), jnp.zeros(x.shape[:-2], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, matrix, start = self._aligned(y)
        before = jnp.concatenate([start[..., None, :], y[..., :-1, :]], axis=-2)
        moved = jnp.matmul(before, matrix.swapaxes(-1, -2), precision="highest")
        return y - moved, jnp.zeros(y.shape[:-2], y.dtype)

    def _aligned(self, x: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return series, matrix and initial state in one dtype, over their common batch shape."""
        given = self.initial_value
        start = 0.0 if given is None else given if np.ndim(given) == 0 else given[..., None, :]
        x, matrix, start = align(x, self.transition_matrix, start)
        size = x.shape[-1]
        batch = np.broadcast_shapes(x.shape[:-2], matrix.shape[:-2], np.shape(start)[:-2])
        start = jnp.broadcast_to(jnp.asarray(start, x.dtype), (*batch, 1, size))[..., 0, :]
        return (
            jnp.broadcast_to(x, batch + x.shape[-2:]),
            jnp.broadcast_to(matrix, (*batch, size, size)),
            start,
        )


class Permute(AbstractBijector):
    """Permute the elements of vectors: `y[i] = x[permutation[i]]`.

    **Fields**
    - `permutation`: the whole numbers 0 to n - 1, each once, shape `(n,)`; may be traced.

    **Example**

    >>> bijector = bijectors.Permute(np.array([2, 0, 1]))
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> print(y, f"{log_det:.3f}")
    [ 2.   0.5 -1. ] 0.000
    """

    permutation: Any
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def __check_init__(self) -> None:
        if is_concrete(self.permutation):
            order = np.asarray(self.permutation)
            if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(order.size)):
                raise DistributionError(
                    f"Permute: got {order.tolist()}. Give each of the whole numbers 0 to n - 1 once."
                )

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jnp.take(x, jnp.asarray(self.permutation), axis=-1), jnp.zeros(x.shape[:-1], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        places = jnp.argsort(jnp.asarray(self.permutation))
        return jnp.take(y, places, axis=-1), jnp.zeros(y.shape[:-1], y.dtype)


class Reshape(AbstractBijector):
    """Reshape events, with the same elements in the same order.

    **Fields**
    - `codomain_shape`, `domain_shape`: event shapes of `y` and of `x`.

    **Example**

    >>> bijector = bijectors.Reshape((2, 2), (4,))
    >>> y, log_det = bijector.forward_and_log_det(np.arange(4.0))
    >>> print(y, f"{log_det:.3f}")
    [[0. 1.]
     [2. 3.]] 0.000
    """

    codomain_shape: tuple[int, ...] = eqx.field(static=True, converter=tuple)
    domain_shape: tuple[int, ...] = eqx.field(static=True, converter=tuple)

    def __check_init__(self) -> None:
        if np.prod(self.codomain_shape) != np.prod(self.domain_shape):
            raise DistributionError(
                f"Reshape: {self.domain_shape} and {self.codomain_shape} have different numbers of elements. "
                "Give two shapes of one size."
            )

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return len(self.domain_shape)

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return len(self.codomain_shape)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        batch = x.shape[: x.ndim - len(self.domain_shape)]
        return x.reshape(self.forward_shape(x.shape)), jnp.zeros(batch, x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return Reshape(self.domain_shape, self.codomain_shape).forward_and_log_det(y)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        batch = len(shape) - len(self.domain_shape)
        if tuple(shape[batch:]) != self.domain_shape:
            raise DistributionError(
                f"Reshape: a value of shape {tuple(shape)} does not end in {self.domain_shape}. Check the order of the "
                "two shapes."
            )
        return (*shape[:batch], *self.codomain_shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return Reshape(self.domain_shape, self.codomain_shape).forward_shape(shape)


class Complex(AbstractBijector):
    """Map pairs of real numbers to complex numbers: real part, then imaginary part.

    **Example**

    >>> bijector = bijectors.Complex()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(y, f"{log_det:.3f}")
    (0.5-1j) 0.000
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 0

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jax.lax.complex(x[..., 0], x[..., 1]), jnp.zeros(x.shape[:-1], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y = jnp.asarray(y)
        x = jnp.stack([jnp.real(y), jnp.imag(y)], axis=-1)
        return x, jnp.zeros(y.shape, x.dtype)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(shape[:-1])

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape, 2)
