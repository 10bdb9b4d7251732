"""Define the covariance of periodic processes."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from ..distributions import constraints
from ..distributions.constraint import Constraint
from .base import AbstractCovariance


class Periodic(AbstractCovariance):
    """Periodic covariance: a smooth process on a line that repeats exactly.

    **Fields**
    - `amplitude`: as for `AbstractCovariance`.
    - `lengthscale`: > 0, shape `()`, dimensionless: below 1 the process changes often within a period.
    - `period`: > 0, shape `()`, in the units of `x`.

    **Covariance**: `amplitude^2 exp(-2 sin(pi (x - z) / period)^2 / lengthscale^2)`.

    **Source**: MacKay (1998), Introduction to Gaussian Processes, equation 47; the Fourier series is from Solin &
    Sarkka (2014), Explicit Link between Periodic Covariance Functions and State Space Models, equation 26.

    **Example**

    >>> covariance = gp.Periodic(amplitude=2.0, lengthscale=1.0, period=12.0)  # months
    >>> print(covariance(np.array([0.0, 6.0, 12.0])))
    [[4.    0.541 4.   ]
     [0.541 4.    0.541]
     [4.    0.541 4.   ]]
    """

    period: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        **AbstractCovariance.parameters,
        "period": constraints.positive,
    }

    def __check_init__(self) -> None:
        if np.ndim(self.lengthscale) > 0:
            raise DistributionError(
                f"Periodic: the lengthscale has shape {np.shape(self.lengthscale)}, but the process is on a line. "
                "Give a number."
            )

    def __call__(self, x: Any, z: Any = None) -> jax.Array:
        x, z = self._points(x, x if z is None else z)
        if x.shape[-1] != 1:
            raise DistributionError(
                f"Periodic: the points have {x.shape[-1]} axes, but the process is on a line. Multiply one matrix for "
                "each axis, `a(x[:, 0]) * b(x[:, 1])`."
            )
        amplitude, lengthscale, period = (jnp.asarray(getattr(self, n), x.dtype) for n in self.parameters)
        wave = jnp.sin(jnp.pi * (x - z.T) / period) / lengthscale
        return amplitude**2 * jnp.exp(-2 * wave * wave)
