"""Define the circulant normal distribution of real vectors on a ring."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import Shape
from ...constraint import Constraint, Independent
from ...parameters import exactly_one
from ...special import HALF_LOG_TWO_PI
from ...special.basic.linear import first_given
from .centred import AbstractCentredVector


class CirculantNormal(AbstractCentredVector):
    """Multivariate normal distribution with a circulant covariance, evaluated by FFT in n log n steps.

    **Fields**
    - `loc`: mean, shape `(..., n)`, or a number for all elements where `covariance_row` is given.
    - `covariance_row`: first row of the covariance matrix, shape `(..., n)`; give this or its transform.
    - `covariance_rfft`: real Fourier transform of that row, which is the eigenvalues, shape `(..., n // 2 + 1)`, > 0.

    **Density**: `exp(-(x - loc)' C^-1 (x - loc) / 2) / sqrt((2 pi)^n det C)`, C_ij = covariance_row[|i - j|].

    **Source**: Rue & Held (2005), Gaussian Markov Random Fields, section 2.6.
    """

    loc: Any
    covariance_row: Any = None
    covariance_rfft: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "covariance_row": constraints.positive_definite_circulant_vector,
        "covariance_rfft": Independent(constraints.positive, 1),
    }

    def __check_init__(self) -> None:
        exactly_one(self, "covariance_row", "covariance_rfft")
        loc, row, rfft = (np.shape(value) for value in (self.loc, self.covariance_row, self.covariance_rfft))
        if self.covariance_row is not None:
            fits = not loc or loc[-1] in (1, row[-1])
        else:
            fits = bool(loc) and loc[-1] // 2 + 1 == rfft[-1]
        if not fits:
            raise self.refuse(
                f"loc has shape {loc}, covariance_row {row or None} and covariance_rfft {rfft or None}",
                "Give loc of shape (..., n) and a row of length n, or its transform of length n // 2 + 1.",
            )

    @property
    def batch_shape(self) -> Shape:
        vector = first_given(self.covariance_row, self.covariance_rfft)
        return np.broadcast_shapes(np.shape(self.loc)[:-1], np.shape(vector)[:-1])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.loc if self.covariance_row is None else self.covariance_row)[-1:]

    @property
    def variance(self) -> jax.Array:
        if self.covariance_row is not None:
            return self._full(jnp.asarray(self.covariance_row, self.dtype)[..., :1])
        eigenvalues = self._eigenvalues(self.dtype)
        total = (self._multiplicity(eigenvalues) * eigenvalues).sum(axis=-1, keepdims=True)
        return self._full(total / self.event_shape[0])

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.loc, self.covariance_row, self.covariance_rfft)
        x, loc, eigenvalues = align(jnp.asarray(value, dtype), self.loc, self._eigenvalues(dtype))
        size, count = self.event_shape[0], self._multiplicity(eigenvalues)
        waves = jnp.fft.rfft(jnp.broadcast_to(x - loc, np.broadcast_shapes(x.shape, (size,))))
        # Scale before squaring, so that dividing by small eigenvalues does not overflow.
        scale = jnp.sqrt(eigenvalues * size)
        power = (waves.real / scale) ** 2 + (waves.imag / scale) ** 2
        log_volume = 0.5 * (count * jnp.log(eigenvalues)).sum(axis=-1)
        return -0.5 * (count * power).sum(axis=-1) - (log_volume + size * HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jnp.fft.rfft(jax.random.normal(key, self._shape(sample_shape), self.dtype))
        scale = jnp.sqrt(self._eigenvalues(self.dtype))
        scale = scale.reshape((1,) * (noise.ndim - scale.ndim) + scale.shape)
        waves = jax.lax.complex(noise.real * scale, noise.imag * scale)
        coloured, loc = align(jnp.fft.irfft(waves, self.event_shape[0]), self.loc)
        return loc + coloured

    def entropy(self) -> jax.Array:
        eigenvalues = self._eigenvalues(self.dtype)
        log_volume = 0.5 * (self._multiplicity(eigenvalues) * jnp.log(eigenvalues)).sum(axis=-1)
        return self._batched(log_volume) + self.event_shape[0] * (HALF_LOG_TWO_PI + 0.5)

    def _eigenvalues(self, dtype: Any) -> jax.Array:
        """Return the eigenvalues of the covariance; each repeated eigenvalue appears once."""
        if self.covariance_rfft is not None:
            return jnp.asarray(self.covariance_rfft, dtype)
        return jnp.fft.rfft(jnp.asarray(self.covariance_row, dtype)).real

    def _multiplicity(self, eigenvalues: jax.Array) -> np.ndarray:
        """Return how often each eigenvalue occurs: twice, but once for the constant and the alternating wave."""
        count = np.full(eigenvalues.shape[-1], 2, eigenvalues.dtype)
        count[0] = 1
        if self.event_shape[0] % 2 == 0:
            count[-1] = 1
        return count.reshape((1,) * (eigenvalues.ndim - 1) + (-1,))
