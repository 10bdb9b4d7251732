"""Define the noncentral F distribution."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ... import constraints
from ...constraint import Constraint
from .beta import AbstractNoncentralRatio


class NoncentralFisherSnedecor(AbstractNoncentralRatio):
    """Noncentral F distribution: an F statistic under the alternative hypothesis, whose tail gives the power.

    **Fields**
    - `df1`: degrees of freedom above, > 0.
    - `df2`: degrees of freedom below, > 0; the mean exists above 2, the variance above 4.
    - `noncentrality`: of the variable above, >= 0; at 0 the distribution is Fisher and Snedecor's F.

    **Density**: `Sum over j >= 0 of exp(-c/2) (c/2)^j / j! r^(p+j) (1 + r)^(-p-j-df2/2) / (x B(p + j, df2 / 2))`,
    c = noncentrality, p = df1 / 2, r = x df1 / df2.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 30.
    """

    df1: Any
    df2: Any
    noncentrality: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
        "noncentrality": constraints.nonnegative,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        df1, df2, noncentrality = self._arrays(*self.parameters)
        safe = jnp.where(df2 > 2, df2, 3.0)
        return jnp.where(df2 > 2, safe / (safe - 2) * ((df1 + noncentrality) / df1), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        df1, df2, noncentrality = self._arrays(*self.parameters)
        safe = jnp.where(df2 > 4, df2, 5.0)
        share, size = safe / (safe - 2), (df1 + noncentrality) / df1
        spread = size * size + (df1 + 2 * noncentrality) / df1 * ((safe - 2) / df1)
        return jnp.where(df2 > 4, 2 * share * share * spread / (safe - 4), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        # The density of the ratio is the density of the share times (1 - x)^2.
        (p, _, noncentrality), distance = self._mode_distance(2.0)
        df1, df2 = self._arrays("df1", "df2")
        is_falling = (p < 1) | ((p == 1) & (0.5 * noncentrality * (1 + 0.5 * df2) <= 0.5 * df2 + 1))
        peak = self._value(distance, df1)
        return jnp.where(is_falling, jnp.where((p == 1) & (noncentrality == 0), jnp.nan, 0.0), peak)

    def _shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        df1, df2, noncentrality = parameters
        return 0.5 * df1, 0.5 * df2, noncentrality

    def _distance(self, value: jax.Array, *parameters: Any) -> tuple[jax.Array, jax.Array]:
        return jnp.log(value) - jnp.log1p(2 / parameters[0]), -jnp.log(value)

    def _value(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        return jnp.exp(distance + jnp.log1p(2 / parameters[0]))

    def _outside(self, value: jax.Array) -> tuple[jax.Array, jax.Array]:
        return value <= 0, value == jnp.inf

    def _log_slope(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        return -(distance + jnp.log1p(2 / parameters[0]))
