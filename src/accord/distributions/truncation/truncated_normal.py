"""Distribute normal variables known to lie between bounds, any of which may be infinite, traced or both."""

from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint
from ..parameters import check_bounds
from ..special import log_of
from ..special.normal_mass import (
    Known,
    Mass,
    centre_quantile,
    choose,
    either,
    is_there,
    mass_between,
    narrow_quantile,
    tail_quantile,
)


class TruncatedNormal(AbstractDistribution):
    """A normal variable conditioned to lie in [low, high].

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
        return jnp.broadcast_to(_clip(loc, low, high, known), self.batch_shape)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale, low, high, known = self._align(value)
        result = _log_density(known, x, loc, scale, low, high)
        outside = either(False if known[0] is False else x < low, False if known[1] is False else x > high)
        return choose(outside, -jnp.inf, result)

    def cdf(self, value: Any) -> jax.Array:
        share, _ = self._share(value, is_above=False)
        return jnp.clip(share, 0.0, 1.0)

    def log_cdf(self, value: Any) -> jax.Array:
        _, log_share = self._share(value, is_above=False)
        return jnp.minimum(log_share, 0.0)

    def log_survival(self, value: Any) -> jax.Array:
        _, log_share = self._share(value, is_above=True)
        return jnp.minimum(log_share, 0.0)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale, low, high, known = self._align(q)
        mass = mass_between(known, loc, scale, low, high)
        p, rest = choose(mass.is_flipped, 1 - q, q), choose(mass.is_flipped, q, 1 - q)
        narrow = narrow_quantile(p, mass)
        tail = tail_quantile(p, rest, mass)
        step = scale * choose(mass.is_narrow, narrow, tail)
        off_centre = choose(mass.is_flipped, high - step, low + step)
        # Elsewhere with bounds whose quantiles exist: a level above 1 would spoil the derivatives.
        a, b = (choose(mass.is_centre, end, 0.0) for end in (mass.a, mass.b))
        centre = loc + scale * centre_quantile(q, mass._replace(a=a, b=b))
        return _clip(choose(mass.is_centre, centre, off_centre), low, high, known)

    def entropy(self) -> jax.Array:
        _, scale, mass = self._parts()
        return jnp.log(scale * mass.width) + 0.5 * (1 + mass.excess - mass.reference**2)

    def _share(self, value: Any, *, is_above: bool) -> tuple[jax.Array, jax.Array]:
        """The share of the mass below or above a value, and its logarithm."""
        x, loc, scale, low, high, known = self._align(value)
        x = _clip(x, low, high, known)
        whole = mass_between(known, loc, scale, low, high)
        part = (None, known[1]), loc, scale, x, high
        if not is_above:
            part = (known[0], None), loc, scale, low, x
        part = mass_between(*part)
        # W is relative to exp(-m^2/2); around the centre it holds sqrt(2 pi) too, like everywhere else.
        gap = 0.5 * (part.reference - whole.reference) * (part.reference + whole.reference)
        nothing = x == (jnp.inf if is_above else -jnp.inf)
        width = jnp.where(nothing, 0.0, part.width)
        return width / whole.width * jnp.exp(-gap), log_of(width) - jnp.log(whole.width) - gap

    def _parts(self) -> tuple[jax.Array, jax.Array, "Mass"]:
        """Location, scale and mass, of the batch shape."""
        _, loc, scale, low, high, known = self._align(jnp.zeros(self.batch_shape, self.dtype))
        return loc, scale, mass_between(known, loc, scale, low, high)

    def _align(self, value: Any) -> tuple[Any, ...]:
        """Value and parameters as arrays of one dtype and rank, and what is known of the bounds; 0 stands for none."""
        known = (is_there(self.low, -np.inf), is_there(self.high, np.inf))
        bounds = (0.0 if known[0] is False else self.low, 0.0 if known[1] is False else self.high)
        arguments = (value, self.loc, self.scale, *bounds)
        dtype, rank = float_type(*arguments), max(np.ndim(argument) for argument in arguments)
        arrays = [jnp.asarray(argument, dtype) for argument in arguments]
        return (*(a.reshape((1,) * (rank - a.ndim) + a.shape) if a.ndim else a for a in arrays), known)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _log_density(
    known: Known, x: jax.Array, loc: jax.Array, scale: jax.Array, low: jax.Array, high: jax.Array
) -> jax.Array:
    """Log density inside the bounds; outside, that of the untruncated curve continued."""
    return _density_and_mass(known, x, loc, scale, low, high)[0]


def _log_density_jvp(
    known: Known, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, Any]:
    """Derivatives from the moments of the truncated variable; those by arguments that do not vary cost nothing."""
    scale = primals[2]
    result, z, mass = _density_and_mass(known, *primals)
    x_dot, loc_dot, scale_dot, low_dot, high_dot = tangents
    parts = [
        (x_dot, lambda: -z / scale),
        (loc_dot, lambda: (z - mass.mean) / scale),
        (scale_dot, lambda: (z * z - (1 + mass.excess)) / scale),
        (low_dot, lambda: mass.at_low / scale),
        (high_dot, lambda: -mass.at_high / scale),
    ]
    total = jnp.zeros_like(result)
    for dot, partial_derivative in parts:
        if not isinstance(dot, SymbolicZero):
            total = total + partial_derivative() * dot
    return result, total


_log_density.defjvp(_log_density_jvp, symbolic_zeros=True)


def _density_and_mass(
    known: Known, x: Any, loc: Any, scale: Any, low: Any, high: Any
) -> tuple[jax.Array, jax.Array, Mass]:
    """Log density, z = (x - loc) / scale, and the mass."""
    mass = mass_between(known, loc, scale, low, high)
    y = (x - mass.origin) / scale
    # (z^2 - m^2)/2 from the distance to the reference: squares of large numbers are not subtracted.
    result = -0.5 * y * (y + 2 * mass.reference) - jnp.log(scale * mass.width)
    return result, (x - loc) / scale, mass


def _clip(x: jax.Array, low: Any, high: Any, known: Known) -> jax.Array:
    """Clip to the bounds that are there."""
    x = x if known[0] is False else jnp.maximum(x, low)
    return x if known[1] is False else jnp.minimum(x, high)
