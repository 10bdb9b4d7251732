"""Define the noncentral chi-squared distribution."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log1m, log_of, solve_increasing
from ...special.basic.quadrature import together
from ...special.gamma_beta.noncentral_gamma import log_noncentral_density, log_noncentral_tails
from ..common.entropy_quadrature import entropy_on_half_line
from ..common.two_tails import AbstractTwoTailed, with_ends


class NoncentralChi2(AbstractTwoTailed):
    """Noncentral chi-squared distribution: the sum of `df` squared unit-variance normals with non-zero means.

    **Fields**
    - `df`: degrees of freedom, > 0.
    - `noncentrality`: >= 0; at 0 the distribution is chi-squared.

    **Density**: `exp(-(x + c)/2) / 2 * (x / c)^(df/4 - 1/2) I_(df/2 - 1)(sqrt(c x))`, c = noncentrality, with the
    modified Bessel function `I`.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 29.
    """

    df: Any
    noncentrality: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "noncentrality": constraints.nonnegative,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        return df + noncentrality

    @property
    def variance(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        return 2 * (df + 2 * noncentrality)

    @property
    def mode(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        is_inside = (df > 2) | ((df == 2) & (noncentrality > 2))
        p = jnp.where(df > 2, 0.5 * df, 2.0)

        def rise(x: jax.Array) -> jax.Array:
            # The density grows where the density with two degrees of freedom less is larger.
            pair = together(x, noncentrality, jnp.stack([p, p - 1]))
            here, less = log_noncentral_density(*pair)
            return here - less

        found = solve_increasing(
            rise, jnp.zeros_like(p), float(jnp.finfo(p.dtype).tiny), 2 * p + noncentrality
        )
        return jnp.where(is_inside, found, jnp.where(df == 2, jnp.nan, 0.0))

    def log_prob(self, value: Any) -> jax.Array:
        is_below, is_above, *inside = self._aligned(value)
        return jnp.where(is_below | is_above, -jnp.inf, log_noncentral_density(*inside))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_count, key_gamma = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        df, noncentrality = self._arrays("df", "noncentrality")
        p, noncentrality = (jnp.broadcast_to(a, shape) for a in (0.5 * df, noncentrality))
        count = jax.random.poisson(key_count, jax.lax.stop_gradient(0.5 * noncentrality), shape)
        shape_drawn = jax.lax.stop_gradient(p) + count.astype(dtype)
        draw = keep_inside(2 * jax.random.gamma(key_gamma, shape_drawn, shape, dtype), 0.0)
        return _moved_with(jax.lax.stop_gradient(draw), noncentrality, p)

    def icdf(self, q: Any) -> jax.Array:
        q, df, noncentrality = align(q, self.df, self.noncentrality)
        return noncentral_quantile(*together(q, noncentrality, 0.5 * df))

    def entropy(self) -> jax.Array:
        df, noncentrality = self._arrays("df", "noncentrality")
        return noncentral_entropy(noncentrality, 0.5 * df)

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        is_below, is_above, *inside = self._aligned(value)
        return with_ends(is_below, is_above, log_noncentral_tails(*inside))

    def _aligned(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether the value is below or above the support, a safe value, and the parameters, of one shape."""
        x, df, noncentrality = align(value, self.df, self.noncentrality)
        x, noncentrality, p = together(x, noncentrality, 0.5 * df)
        is_below, is_above = x <= 0, x == jnp.inf
        return is_below, is_above, jnp.where(is_below | is_above, 1.0, x), noncentrality, p


def noncentral_quantile(q: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    """Compute the quantile of level q with 2 p degrees of freedom; 0 at 0 and infinite at 1; all of one shape."""
    is_inside = (q > 0) & (q < 1)
    level = jnp.where(is_inside, q, 0.5)

    def log_odds(s: jax.Array) -> jax.Array:
        below, above = log_noncentral_tails(jnp.exp(s), noncentrality, p)
        return below - above

    limits = jnp.finfo(q.dtype)
    least, most = math.log(float(limits.tiny)) + 1, math.log(float(limits.max)) - 1
    start = jnp.log(2 * p + noncentrality)
    s = solve_increasing(log_odds, log_of(level) - log1m(level), least, most, start)
    # Values that underflow have no derivative.
    found = jnp.exp(jnp.where(s > least, s, least))
    ends = jnp.where(q == 0, 0.0, jnp.where(q == 1, jnp.inf, jnp.nan))
    return jnp.where(is_inside, found, ends)


def noncentral_entropy(noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    """Compute the entropy in nats with 2 p degrees of freedom; all of one shape."""
    mean, variance = 2 * p + noncentrality, 4 * (p + noncentrality)
    typical = mean + variance / mean
    spread = jnp.minimum(jnp.sqrt(variance) / mean, 1.0)
    return entropy_on_half_line(
        lambda x: log_noncentral_density(*together(x, noncentrality[None], p[None])),
        typical,
        spread,
        p - 1,
        40 / p,
    )


@jax.custom_jvp
def _moved_with(draw: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    """Attach to a draw the derivative of the inverse cdf by the parameters."""
    del noncentrality, p
    return draw


@_moved_with.defjvp
def _moved_with_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    draw, noncentrality, p = primals
    is_lower = draw < 2 * p + noncentrality

    def nearer(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
        below, above = log_noncentral_tails(x, noncentrality, p)
        return jnp.where(is_lower, below, above)

    _, by_x = jax.jvp(lambda x: nearer(x, noncentrality, p), (draw,), (jnp.ones_like(draw),))
    _, moved = jax.jvp(lambda c, p: nearer(draw, c, p), (noncentrality, p), tangents[1:])
    return _moved_with(*primals), tangents[0] - moved / by_x
