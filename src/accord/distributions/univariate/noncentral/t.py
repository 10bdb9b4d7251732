"""Define the noncentral t distribution."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log_gamma_step, solve_increasing
from ...special.basic.quadrature import together
from ...special.basic.tails import solve_tails
from ...special.bessel.bell import find_bell
from ..common.two_tails import AbstractTwoTailed, with_ends
from .student_tail import log_noncentral_student, log_noncentral_student_tails

# Inverse hyperbolic sines beyond which tails are power laws, in any precision.
_FAR = 60.0


class NoncentralT(AbstractTwoTailed):
    """Noncentral t distribution: a t statistic under the alternative hypothesis, whose tail gives the power.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean exists above 1, the variance above 2.
    - `noncentrality`: any real, the true mean over its standard error; at 0 the distribution is Student's t.

    **Density**: `Integral of s phi(x s - c) g(s)` over s > 0, c = noncentrality, phi the standard normal density and g
    the density of a chi variable over `sqrt(df)`.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 31.
    """

    df: Any
    noncentrality: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "noncentrality": constraints.real,
    }

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        safe = jnp.where(df > 1, df, 2.0)
        stretch = jnp.sqrt(safe / (safe - 1)) * jnp.exp(-log_gamma_step(0.5 * (safe - 1)))
        return jnp.where(df > 1, noncentrality * stretch, jnp.nan)

    @property
    def variance(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        safe = jnp.where(df > 2, df, 3.0)
        # Mean square less squared mean, which nearly cancel when df is large.
        short = -jnp.expm1(jnp.log1p(-1 / (safe - 1)) - 2 * log_gamma_step(0.5 * (safe - 1)))
        finite = safe / (safe - 2) * (1 + noncentrality**2 * short)
        return jnp.where(df > 2, finite, jnp.where(df > 1, jnp.inf, jnp.nan))

    @property
    def mode(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        size = jnp.abs(noncentrality)

        def fall(t: jax.Array) -> jax.Array:
            return -jax.jvp(lambda t: log_noncentral_student(t, size, df), (t,), (jnp.ones_like(t),))[1]

        # Its bounds over the noncentrality: van Aubel & Gawronski (2003), Appl. Math. Comput. 141, 3-12.
        low, high = jnp.sqrt(df / (df + 2.5)), jnp.sqrt(df / (df + 1))
        found = solve_increasing(
            fall, jnp.zeros_like(df), size * (0.999 * low), size * jnp.minimum(1.001 * high, 1.0)
        )
        return jnp.where(noncentrality < 0, -found, found)

    def log_prob(self, value: Any) -> jax.Array:
        is_below, is_above, *inside = self._aligned(value)
        return jnp.where(is_below | is_above, -jnp.inf, log_noncentral_student(*inside))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_normal, key_gamma = jax.random.split(key)
        shape, (df, noncentrality) = self._shape(sample_shape), self._arrays("df", "noncentrality")
        half, centre = jnp.broadcast_to(0.5 * df, shape), jnp.broadcast_to(noncentrality, shape)
        # The chi-squared variable is drawn as a logarithm, because for small df it underflows.
        log_size = 0.5 * (jnp.log(half) - jax.random.loggamma(key_gamma, half, shape, df.dtype))
        most = math.log(float(jnp.finfo(df.dtype).max)) - 10
        noise = jax.random.normal(key_normal, shape, df.dtype) + centre
        return keep_inside(noise * jnp.exp(jnp.minimum(log_size, most)))

    def icdf(self, q: Any) -> jax.Array:
        q, noncentrality, df = together(*align(q, self.noncentrality, self.df))

        def tails(t: jax.Array) -> tuple[jax.Array, jax.Array]:
            return log_noncentral_student_tails(t, noncentrality, df)

        most = float(jnp.finfo(q.dtype).max) ** 0.9
        found = solve_tails(tails, q, -most, most, noncentrality)
        ends = jnp.where(q == 0, -jnp.inf, jnp.inf).astype(q.dtype)
        return jnp.where((q == 0) | (q == 1), ends, found)

    def entropy(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")

        def log_density(y: jax.Array, step: jax.Array, c: jax.Array, df: jax.Array) -> jax.Array:
            # In the inverse hyperbolic sine of t, in which all tails are exponential.
            y = y + step
            near = jnp.clip(y, -_FAR, _FAR)
            inside = log_noncentral_student(jnp.sinh(near), c, df) + _log_cosh(near)
            return inside - df * jnp.abs(y - near)

        centre = jnp.arcsinh(noncentrality)
        bell = find_bell(log_density, centre - 3.0, centre + 3.0, noncentrality, df)
        wide = [jnp.broadcast_to(a[..., None], bell.step.shape) for a in (bell.peak, noncentrality, df)]
        log_height = log_density(wide[0], bell.step, *wide[1:])
        rest = _log_cosh(wide[0] + bell.step) - log_height
        return (bell.weight * jnp.exp(log_height) * rest).sum(-1)

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        is_below, is_above, *inside = self._aligned(value)
        return with_ends(is_below, is_above, log_noncentral_student_tails(*inside))

    def _aligned(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether the value is -inf or inf, a safe value, and the parameters, of one shape."""
        t, noncentrality, df = together(*align(value, self.noncentrality, self.df))
        is_below, is_above = t == -jnp.inf, t == jnp.inf
        return is_below, is_above, jnp.where(is_below | is_above, 1.0, t), noncentrality, df


def _log_cosh(y: jax.Array) -> jax.Array:
    """Compute the log of the hyperbolic cosine."""
    return jnp.logaddexp(y, -y) - math.log(2)
