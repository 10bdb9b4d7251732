"""Map the support of a univariate distribution to the unit interval by its cdf."""

from typing import Any

import jax

from .base import AbstractBijector


class Cdf(AbstractBijector):
    """Map the support of a univariate distribution to the unit interval by its cdf.

    `Chain((Cdf(a), Inverse(Cdf(b))))` sends draws of `a` to draws of `b`.

    **Fields**
    - `distribution`: anything that has `cdf`, `icdf` and `log_prob`.

    **Example**

    >>> y, log_det = bijectors.Cdf(dist.Normal(0, 1)).forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [0.5   0.841] [-0.919 -1.419]
    """

    distribution: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        return self.distribution.cdf(x), self.distribution.log_prob(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        x = self.distribution.icdf(y)
        return x, -self.distribution.log_prob(x)
