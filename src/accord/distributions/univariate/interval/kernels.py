"""Define the polynomial kernel distributions of density estimation."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ..common.symmetric_arch import AbstractSymmetricArch, invert_tail


class AbstractPolynomialKernel(AbstractSymmetricArch):
    """Abstract base class of distributions with density proportional to a power of 1 - z^2.

    **Class variables**
    - `power`: the power.
    - `coefficients`: of the lower tail over u^(power + 1), u = z + 1, in rising powers of u.
    """

    power: ClassVar[int]
    coefficients: ClassVar[tuple[float, ...]]

    def _inner_log_density(self, z: jax.Array) -> jax.Array:
        constant = math.lgamma(self.power + 1.5) - math.lgamma(self.power + 1) - 0.5 * math.log(math.pi)
        return self.power * (jnp.log1p(z) + jnp.log1p(-z)) + constant

    def _tail(self, u: jax.Array) -> jax.Array:
        total = jnp.full_like(u, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:
            total = coefficient + u * total
        return u ** (self.power + 1) * total

    def _tail_distance(self, p: jax.Array) -> jax.Array:
        start = (p / self.coefficients[0]) ** (1 / (self.power + 1))
        return invert_tail(self._tail, p, 1.0, start)


class Epanechnikov(AbstractPolynomialKernel):
    """Epanechnikov distribution: a parabolic density, the kernel with the least squared error.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: half the width, > 0; the standard deviation is `scale / sqrt(5)`.

    **Density**: `3 (1 - z^2) / (4 scale)`, z = (x - loc) / scale in [-1, 1].

    **Source**: Epanechnikov (1969), Theory of Probability and its Applications 14, 153-158.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    power: ClassVar[int] = 1
    coefficients: ClassVar[tuple[float, ...]] = (3 / 4, -1 / 4)
    unit_variance: ClassVar[float] = 1 / 5
    unit_entropy: ClassVar[float] = 5 / 3 - math.log(3)

    def _tail_distance(self, p: jax.Array) -> jax.Array:
        # The cubic equation is solved by a third of an angle, which keeps the digits of small probabilities.
        is_end = p == 0
        third = 2 / 3 * jnp.arcsin(jnp.sqrt(jnp.where(is_end, 0.5, p)))
        distance = 2 * jnp.sin(0.5 * third) ** 2 + math.sqrt(3) * jnp.sin(third)
        return jnp.where(is_end, 0.0, distance)


class Biweight(AbstractPolynomialKernel):
    """Biweight (quartic) distribution: a squared parabola, whose density meets 0 without an edge.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: half the width, > 0; the standard deviation is `scale / sqrt(7)`.

    **Density**: `15 (1 - z^2)^2 / (16 scale)`, z = (x - loc) / scale in [-1, 1].

    **Source**: Silverman (1986), Density Estimation, table 3.1.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    power: ClassVar[int] = 2
    coefficients: ClassVar[tuple[float, ...]] = (20 / 16, -15 / 16, 3 / 16)
    unit_variance: ClassVar[float] = 1 / 7
    unit_entropy: ClassVar[float] = 47 / 15 - math.log(15)


class Triweight(AbstractPolynomialKernel):
    """Triweight distribution: a cubed parabola, whose slope meets 0 without an edge.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: half the width, > 0; the standard deviation is a third of it.

    **Density**: `35 (1 - z^2)^3 / (32 scale)`, z = (x - loc) / scale in [-1, 1].

    **Source**: Silverman (1986), Density Estimation, section 3.3.2.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    power: ClassVar[int] = 3
    coefficients: ClassVar[tuple[float, ...]] = (70 / 32, -84 / 32, 35 / 32, -5 / 32)
    unit_variance: ClassVar[float] = 1 / 9
    unit_entropy: ClassVar[float] = 319 / 70 - math.log(70)
