"""Define the studentized range distribution: a normal range over an independent scale estimate."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log_gamma_step, solve_increasing
from ...special.basic.quadrature import together
from ..common.entropy_quadrature import entropy_on_line
from ..common.two_tails import AbstractTwoTailed, with_ends
from .normal_range_table import range_table
from .range_tail import log_studentized_range, log_studentized_range_tails, studentized_range_quantile

_MOST_GROUPS = 200


class StudentizedRange(AbstractTwoTailed):
    """Studentized range distribution: the range of several equal means over their standard error; Tukey's test.

    The difference of the means is divided by the estimated standard error of one mean. For two groups it is `sqrt(2)`
    times the absolute value of a Student t variable.

    **Fields**
    - `df`: degrees of freedom of the estimated scale, > 0; the mean is finite above 1, the variance above 2.
    - `num_groups`: number of means, a Python integer from 2 to 200.

    **Density**: `Integral of s r(x s) g(s)` over s > 0, r the density of the range of `num_groups` standard normal
    variables and g the density of a chi variable over `sqrt(df)`.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 13.8; Copenhaver &
    Holland (1988), J. Stat. Comput. Simul. 30(1), 1-15.
    """

    df: Any
    num_groups: int = eqx.field(static=True)
    parameters: ClassVar[dict[str, Constraint]] = {"df": constraints.positive}

    def __check_init__(self) -> None:
        if type(self.num_groups) is not int or not 2 <= self.num_groups <= _MOST_GROUPS:
            raise self.refuse(
                f"num_groups is {self.num_groups!r}",
                f"Give a Python integer from 2 to {_MOST_GROUPS}, the number of means.",
            )

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        (df,) = self._arrays("df")
        safe = jnp.where(df > 1, df, 2.0)
        stretch = jnp.sqrt(safe / (safe - 1)) * jnp.exp(-log_gamma_step(0.5 * (safe - 1)))
        return jnp.where(df > 1, range_table(self.num_groups).mean * stretch, jnp.inf)

    @property
    def variance(self) -> jax.Array:
        (df,) = self._arrays("df")
        safe = jnp.where(df > 2, df, 3.0)
        # Mean square less squared mean, which nearly cancel when df is large.
        short = -jnp.expm1(jnp.log1p(-1 / (safe - 1)) - 2 * log_gamma_step(0.5 * (safe - 1)))
        table = range_table(self.num_groups)
        finite = safe / (safe - 2) * (table.variance + table.mean**2 * short)
        return jnp.where(df > 2, finite, jnp.inf)

    @property
    def mode(self) -> jax.Array:
        (df,) = self._arrays("df")
        if self.num_groups == 2:
            return jnp.zeros_like(df)
        table = range_table(self.num_groups)

        def fall(log_x: jax.Array) -> jax.Array:
            tangent = (jnp.ones_like(log_x),)
            return -jax.jvp(lambda log_x: log_studentized_range(log_x, df, table), (log_x,), tangent)[1]

        low = math.log(0.01) + jnp.minimum(0.5 * jnp.log(df), 0.0)
        return jnp.exp(solve_increasing(fall, jnp.zeros_like(df), low, math.log(2.0 * table.mean)))

    def log_prob(self, value: Any) -> jax.Array:
        x, df = together(*align(value, self.df))
        is_outside = (x < 0) | (x == jnp.inf) | ((x == 0) & (self.num_groups > 2))
        log_x = jnp.log(self._safe(x, is_outside))
        return jnp.where(is_outside, -jnp.inf, log_studentized_range(log_x, df, range_table(self.num_groups)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_normal, key_gamma = jax.random.split(key)
        shape, (df,) = self._shape(sample_shape), self._arrays("df")
        half = jnp.broadcast_to(0.5 * df, shape)
        # The chi-squared variable is drawn as a logarithm, because for small df it underflows.
        log_size = 0.5 * (jnp.log(half) - jax.random.loggamma(key_gamma, half, shape, df.dtype))
        most = math.log(float(jnp.finfo(df.dtype).max)) - 10
        noise = jax.random.normal(key_normal, (*shape, self.num_groups), df.dtype)
        spread = noise.max(axis=-1) - noise.min(axis=-1)
        return keep_inside(spread * jnp.exp(jnp.minimum(log_size, most)), low=0.0)

    def icdf(self, q: Any) -> jax.Array:
        q, df = together(*align(q, self.df))
        is_end = (q == 0) | (q == 1)
        inside = jnp.where(is_end, 0.5, q)
        found = studentized_range_quantile(inside, df, range_table(self.num_groups))
        return jnp.where(is_end, jnp.where(q == 0, 0.0, jnp.inf), found)

    def entropy(self) -> jax.Array:
        (df,) = self._arrays("df")
        table = range_table(self.num_groups)
        scale = jnp.full_like(df, min(math.sqrt(table.variance) / table.mean, 1.0))
        # In the logarithm both tails are exponential.
        return entropy_on_line(
            lambda log_x: log_studentized_range(*together(log_x, df[None]), table),
            math.log(table.mean) + 0.5 * jnp.minimum(jnp.log(df), 0.0),
            scale,
            14.0 * scale + 40.0 / (self.num_groups - 1) + 0.5 * jnp.log1p(80.0 / jnp.maximum(df, 1.0)),
            14.0 * scale + 40.0 / df,
            lambda log_x: log_x,
        )

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        x, df = together(*align(value, self.df))
        is_below, is_above = x <= 0, x == jnp.inf
        log_x = jnp.log(self._safe(x, is_below | is_above))
        tails = log_studentized_range_tails(log_x, df, range_table(self.num_groups))
        return with_ends(is_below, is_above, tails)

    def _safe(self, x: jax.Array, is_outside: jax.Array) -> jax.Array:
        """Return a value inside the support; the least positive number for 0 inside."""
        return jnp.maximum(jnp.where(is_outside, 1.0, x), float(jnp.finfo(x.dtype).tiny) * 1e3)
