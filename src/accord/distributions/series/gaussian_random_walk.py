"""Define the Gaussian random walk: paths with independent normal steps."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_number
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..special import HALF_LOG_TWO_PI, log


class GaussianRandomWalk(AbstractDistribution):
    """Gaussian random walk: the positions after each independent normal step from 0.

    The density costs one pass over the path; the covariance of its positions is never built.

    **Fields**
    - `scale`: standard deviation of every step, the first from 0 included, > 0.
    - `num_steps`: length of the path, a whole number of at least 1, known while tracing.

    **Density**: `prod_t exp(-(x_t - x_(t-1))^2 / (2 scale^2)) / (scale sqrt(2 pi))`, x_0 = 0, t from 1 to num_steps.

    **Source**: Rue & Held (2005), Gaussian Markov Random Fields, section 3.3.1; the start is fixed at 0 here.
    """

    scale: Any = 1.0
    num_steps: int = eqx.field(static=True, default=1)
    parameters: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}

    def __check_init__(self) -> None:
        check_num_steps(self, self.num_steps)

    @property
    def event_shape(self) -> Shape:
        return (self.num_steps,)

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def mean(self) -> jax.Array:
        return self._full(0.0)

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    @property
    def variance(self) -> jax.Array:
        # Multiplied in turn, so that the result overflows only where the variance does.
        elapsed, scale = align(np.arange(1, self.num_steps + 1), self._scale_of_path())
        return self._full((scale * elapsed) * scale)

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self._scale_of_path())
        start = jnp.zeros_like(x[..., :1])
        z = jnp.diff(x, prepend=start) / scale
        return (-0.5 * (z * z) - (log(scale) + HALF_LOG_TWO_PI)).sum(axis=-1)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        noise, scale = align(noise, self._scale_of_path())
        return jnp.cumsum(scale * noise, axis=-1)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return self.num_steps * (jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5))

    def _scale_of_path(self) -> Any:
        """Return the scale with a last axis along the path."""
        return self.scale if is_number(self.scale) else jnp.expand_dims(self.scale, -1)


def check_num_steps(distribution: AbstractDistribution, num_steps: Any) -> None:
    """Raise `DistributionError` unless the number of steps is a Python or NumPy whole number of at least 1."""
    if isinstance(num_steps, bool) or not isinstance(num_steps, (int, np.integer)) or num_steps < 1:
        raise distribution.refuse(
            f"num_steps is {num_steps!r}", "Give a whole number of at least 1, known while tracing."
        )
