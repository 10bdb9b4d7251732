"""Define the truncated normal distribution; bounds may be infinite, traced or both."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint
from ..parameters import check_bounds
from ..special.normal.normal_mass import Mass, choose, either, is_there, mass_between
from .normal_interval import clip, log_density, log_share, quantile, share_below


class TruncatedNormal(AbstractDistribution):
    """Truncated normal distribution on [low, high].

    An infinite bound, traced or not, gives the same value and derivatives as no bound.

    **Fields**
    - `loc`, `scale`: mean and standard deviation (> 0) of the normal before truncation.
    - `low`, `high`: bounds, `low < high`; None, -inf or inf for no bound. They may depend on other sites.

    **Density**: `exp(-z^2 / 2) / (sqrt(2 pi) scale P)`, z = (x - loc) / scale, P the normal's mass in [low, high].

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 13.10.1.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    low: Any = eqx.field(default=None, kw_only=True)
    high: Any = eqx.field(default=None, kw_only=True)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "low": constraints.real,
        "high": constraints.real,
    }

    def __check_init__(self) -> None:
        check_bounds(self, self.low, self.high)

    @property
    def support(self) -> Constraint:
        match is_there(self.low, -np.inf), is_there(self.high, np.inf):
            case False, False:
                return constraints.real
            case _, False:
                return constraints.greater_than_eq(self.low)
            case _:
                return constraints.interval(-np.inf if self.low is None else self.low, self.high)

    @property
    def mean(self) -> jax.Array:
        loc, scale, mass = self._parts()
        return loc + scale * mass.mean

    @property
    def variance(self) -> jax.Array:
        _, scale, mass = self._parts()
        return scale**2 * mass.variance

    @property
    def mode(self) -> jax.Array:
        _, loc, _, low, high, known = self._align(jnp.zeros(self.batch_shape, self.dtype))
        return jnp.broadcast_to(clip(loc, low, high, known), self.batch_shape)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale, low, high, known = self._align(value)
        result = log_density(known, x, loc, scale, low, high)
        outside = either(False if known[0] is False else x < low, False if known[1] is False else x > high)
        return choose(outside, -jnp.inf, result)

    def cdf(self, value: Any) -> jax.Array:
        x, *parameters, known = self._align(value)
        return share_below(known, x, *parameters)

    def log_cdf(self, value: Any) -> jax.Array:
        x, *parameters, known = self._align(value)
        return log_share(known, False, x, *parameters)

    def log_survival(self, value: Any) -> jax.Array:
        x, *parameters, known = self._align(value)
        return log_share(known, True, x, *parameters)

    def icdf(self, q: Any) -> jax.Array:
        q, *parameters, known = self._align(q)
        return quantile(known, q, *parameters)

    def entropy(self) -> jax.Array:
        _, scale, mass = self._parts()
        return jnp.log(scale * mass.width) + 0.5 * (1 + mass.excess - mass.reference**2)

    def _parts(self) -> tuple[jax.Array, jax.Array, Mass]:
        """Return location, scale and mass, of the batch shape."""
        _, loc, scale, low, high, known = self._align(jnp.zeros(self.batch_shape, self.dtype))
        return loc, scale, mass_between(known, loc, scale, low, high)

    def _align(self, value: Any) -> tuple[Any, ...]:
        """Return value and parameters in one dtype and rank, and what is known of the bounds; 0 where absent."""
        known = (is_there(self.low, -np.inf), is_there(self.high, np.inf))
        bounds = (0.0 if known[0] is False else self.low, 0.0 if known[1] is False else self.high)
        arguments = (value, self.loc, self.scale, *bounds)
        dtype, rank = float_type(*arguments), max(np.ndim(argument) for argument in arguments)
        arrays = [jnp.asarray(argument, dtype) for argument in arguments]
        return (*(a.reshape((1,) * (rank - a.ndim) + a.shape) if a.ndim else a for a in arrays), known)
