"""Map arrays by Fourier, cosine and wavelet transforms."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .arrays import align
from .base import AbstractBijector


class DiscreteCosine(AbstractBijector):
    """Map by a discrete cosine transform along one axis: orthonormal, then optional volume-preserving weights.

    **Fields**
    - `dim`: the axis, counted from the end: negative.
    - `smooth`: the power of the frequency by which coefficients are multiplied. 0 maps white noise to white noise,
      1 white noise of a random walk.

    **Example**

    >>> bijector = bijectors.DiscreteCosine()
    >>> y, log_det = bijector.forward_and_log_det(np.array([1.0, 1.0, 1.0, 1.0]))
    >>> print(y, f"{log_det:.3f}")
    [2. 0. 0. 0.] 0.000
    """

    dim: int = eqx.field(static=True, default=-1)
    smooth: Any = 0.0

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return -self.dim

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return -self.dim

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        y = jax.scipy.fft.dct(x, axis=self.dim, norm="ortho")
        return y * self._weights(y), jnp.zeros(x.shape[: self.dim], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        x = jax.scipy.fft.idct(y / self._weights(y), axis=self.dim, norm="ortho")
        return x, jnp.zeros(y.shape[: self.dim], y.dtype)

    def _weights(self, y: jax.Array) -> jax.Array:
        """Return powers of the frequency, whose product is one, shaped to multiply along `dim`."""
        logs = np.log(np.arange(y.shape[self.dim]) + 0.5)
        centred = (logs - logs.mean()).astype(y.dtype).reshape((-1,) + (1,) * (-self.dim - 1))
        return jnp.exp(
            jnp.asarray(self.smooth, y.dtype) * centred.reshape((1,) * (y.ndim + self.dim) + centred.shape)
        )


class Haar(AbstractBijector):
    """Map by a Haar wavelet transform along one axis: orthonormal sums and differences, repeated on the sums.

    The coarsest coefficients come first. With an odd length, the element without a neighbour stays unchanged at the end
    of its level.

    **Fields**
    - `dim`: the axis, counted from the end: negative.
    - `flip`: whether to run along the axis backwards, so that the terminal values carry most.

    **Example**

    >>> bijector = bijectors.Haar()
    >>> y, log_det = bijector.forward_and_log_det(np.array([1.0, 1.0, 3.0, 3.0]))
    >>> print(y, f"{log_det:.3f}")
    [ 4. -2.  0.  0.] 0.000
    """

    dim: int = eqx.field(static=True, default=-1)
    flip: bool = eqx.field(static=True, default=False)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return -self.dim

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return -self.dim

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        last = jnp.moveaxis(x, self.dim, -1)
        y = _haar(jnp.flip(last, axis=-1) if self.flip else last)
        return jnp.moveaxis(y, -1, self.dim), jnp.zeros(x.shape[: self.dim], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        last = _undo_haar(jnp.moveaxis(y, self.dim, -1))
        x = jnp.flip(last, axis=-1) if self.flip else last
        return jnp.moveaxis(x, -1, self.dim), jnp.zeros(y.shape[: self.dim], y.dtype)


class RealFastFourier(AbstractBijector):
    """Map real arrays to the complex coefficients of their discrete Fourier transform, without repeated ones.

    The log determinant is with respect to the real and imaginary parts of the coefficients that are independent.

    **Fields**
    - `transform_shape`: event shape of `x`; None takes it from the argument, and the inverse then assumes an even last
      axis.
    - `transform_ndims`: how many trailing axes, >= 1.

    **Example**

    >>> bijector = bijectors.RealFastFourier()
    >>> y, log_det = bijector.forward_and_log_det(np.array([1.0, 1.0, 3.0, 3.0]))
    >>> print(y, f"{log_det:.3f}")
    [ 8.+0.j -2.+2.j  0.+0.j] 2.079
    """

    transform_shape: tuple[int, ...] | None = eqx.field(static=True, default=None)
    transform_ndims: int = eqx.field(static=True, default=1)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return self.transform_ndims

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return self.transform_ndims

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        y = jnp.fft.rfftn(x, axes=range(-self.transform_ndims, 0))
        return y, self._log_det(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        event = self.inverse_shape(np.shape(y))[-self.transform_ndims :]
        x = jnp.fft.irfftn(y, event, axes=range(-self.transform_ndims, 0))
        return x, -self._log_det(x)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] // 2 + 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.transform_shape is None:
            return (*shape[:-1], 2 * (shape[-1] - 1))
        return (*shape[:-1], self.transform_shape[-1])

    def _log_det(self, x: jax.Array) -> jax.Array:
        """Return the log determinant: rows are orthogonal, of length sqrt(n) if real, else sqrt(n / 2)."""
        event = x.shape[x.ndim - self.transform_ndims :]
        size, own_conjugates = math.prod(event), math.prod(1 + (length % 2 == 0) for length in event)
        log_det = 0.5 * own_conjugates * math.log(size) + 0.5 * (size - own_conjugates) * math.log(size / 2)
        return jnp.full(x.shape[: x.ndim - self.transform_ndims], log_det, x.dtype)


class PackRealFastFourierCoefficients(AbstractBijector):
    """Map real vectors to complex coefficients of a real Fourier transform: real parts first, then imaginary.

    **Fields**
    - `transform_shape`: `(n,)`, which tells the inverse whether the length is odd; None assumes even.

    **Example**

    >>> bijector = bijectors.PackRealFastFourierCoefficients()
    >>> y, log_det = bijector.forward_and_log_det(np.array([4.0, 1.0, 0.5, 2.0]))
    >>> print(y, f"{log_det:.3f}")
    [4. +0.j 1. +2.j 0.5+0.j] 0.000
    """

    transform_shape: tuple[int, ...] | None = eqx.field(static=True, default=None)
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        size = x.shape[-1]
        zero = jnp.zeros((*x.shape[:-1], 1), x.dtype)
        # The first coefficient is real, and the last one of an even length.
        imaginary = [zero, x[..., size // 2 + 1 :]] + ([zero] if size % 2 == 0 else [])
        y = jax.lax.complex(x[..., : size // 2 + 1], jnp.concatenate(imaginary, axis=-1))
        return y, jnp.zeros(x.shape[:-1], x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y = jnp.asarray(y)
        size = self.inverse_shape(y.shape)[-1]
        imaginary = jnp.imag(y[..., 1 : (size + 1) // 2])
        x = jnp.concatenate([jnp.real(y), imaginary], axis=-1)
        return x, jnp.zeros(x.shape[:-1], x.dtype)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] // 2 + 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = 2 * (shape[-1] - 1) if self.transform_shape is None else self.transform_shape[-1]
        return (*shape[:-1], size)


def _haar(x: jax.Array) -> jax.Array:
    """Transform along the last axis."""
    half = x.shape[-1] // 2
    if half == 0:
        return x
    even, odd = x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]
    low, high = (even + odd) * math.sqrt(0.5), (even - odd) * math.sqrt(0.5)
    return jnp.concatenate([_haar(low), high, x[..., 2 * half :]], axis=-1)


def _undo_haar(y: jax.Array) -> jax.Array:
    """Invert the transform along the last axis; the inverse is the transpose."""
    half = y.shape[-1] // 2
    if half == 0:
        return y
    low, high = _undo_haar(y[..., :half]), y[..., half : 2 * half]
    pairs = jnp.stack([low + high, low - high], axis=-1) * math.sqrt(0.5)
    return jnp.concatenate([pairs.reshape((*y.shape[:-1], 2 * half)), y[..., 2 * half :]], axis=-1)
