"""Define the noncentral beta distribution, computed in its log odds."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log1m, log_of, softplus, solve_increasing
from ...special.basic.quadrature import together
from ...special.bessel.bell import find_bell
from ...special.gamma_beta.incomplete_beta import log_odds
from ..common.two_tails import AbstractTwoTailed, with_ends
from .beta_tail import (
    log_noncentral_beta,
    log_noncentral_beta_tails,
    mean_index,
    noncentral_beta_moments,
    reference_odds,
)

_Shapes = tuple[jax.Array, jax.Array, jax.Array]


class AbstractNoncentralRatio(AbstractTwoTailed):
    """Abstract base class of increasing functions of a noncentral beta variable's log odds."""

    @abstractmethod
    def _shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        """Return both concentrations and the noncentrality."""

    @abstractmethod
    def _distance(self, value: jax.Array, *parameters: Any) -> tuple[jax.Array, jax.Array]:
        """Return the log odds of a value inside, less their reference, and the log of their slope."""

    @abstractmethod
    def _value(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        """Return the value at a distance."""

    @abstractmethod
    def _outside(self, value: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return whether a value is below, and whether above, all numbers of the support."""

    def log_prob(self, value: Any) -> jax.Array:
        below, above, distance, log_slope, shapes = self._aligned(value)
        return jnp.where(below | above, -jnp.inf, log_noncentral_beta(distance, *shapes) + log_slope)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, parameters = self._shape(sample_shape), self._arrays(*self.parameters)
        shapes = [jnp.broadcast_to(array, shape) for array in self._shapes(*parameters)]
        a, b, noncentrality = jax.lax.stop_gradient(shapes)
        key_count, key_1, key_0 = jax.random.split(key, 3)
        count = jax.random.poisson(key_count, 0.5 * noncentrality, shape).astype(self.dtype)
        # Logarithms, because gamma variables of small shapes underflow.
        upper = jax.random.loggamma(key_1, a + count, shape, self.dtype)
        lower = jax.random.loggamma(key_0, b, shape, self.dtype)
        distance = _moved_with(jax.lax.stop_gradient(upper - lower - reference_odds(a, b)), *shapes)
        return self._inside(self._value(*align(distance, *parameters)))

    def icdf(self, q: Any) -> jax.Array:
        q, *parameters = together(*align(q, *(getattr(self, name) for name in self.parameters)))
        a, b, noncentrality = self._shapes(*parameters)
        is_inside = (q > 0) & (q < 1)
        level = jnp.where(is_inside, q, 0.5)

        def rise(distance: jax.Array) -> jax.Array:
            below, above = log_noncentral_beta_tails(distance, a, b, noncentrality)
            return below - above

        most = -math.log(float(jnp.finfo(q.dtype).tiny)) - 1
        start = jnp.log((a + 0.5 * noncentrality) / (a + 1.0))
        distance = solve_increasing(rise, log_of(level) - log1m(level), -most, most, start)
        found = self._value(distance, *parameters)
        low, high = self._ends
        return jnp.where(is_inside, found, jnp.where(q == 0, low, jnp.where(q == 1, high, jnp.nan)))

    def entropy(self) -> jax.Array:
        parameters = self._arrays(*self.parameters)

        def log_density(distance: jax.Array, step: jax.Array, *parameters: jax.Array) -> jax.Array:
            return log_noncentral_beta(distance + step, *self._shapes(*parameters))

        a, _, noncentrality = self._shapes(*parameters)
        low, high = jnp.log(a / (a + 1.0)) - 1.0, jnp.log1p(0.5 * noncentrality / (a + 1.0)) + 1.0
        bell = find_bell(log_density, low, high, *parameters)
        peak, *wide = (jnp.broadcast_to(p[..., None], bell.step.shape) for p in (bell.peak, *parameters))
        log_height = log_density(peak, bell.step, *wide)
        log_slope = self._log_slope(peak + bell.step, *wide)
        return -(bell.weight * jnp.exp(log_height) * (log_height + log_slope)).sum(-1)

    @property
    def _ends(self) -> tuple[float, float]:
        """Return the ends of the support."""
        return 0.0, math.inf

    @abstractmethod
    def _log_slope(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        """Return the log derivative of the distance by the value, at a distance."""

    def _inside(self, draws: jax.Array) -> jax.Array:
        """Move draws that rounding put on an end next to it."""
        return keep_inside(draws, 0.0)

    def _mode_distance(self, excess: float) -> tuple[_Shapes, jax.Array]:
        """Return the shapes, and the distance that maximises the density times (1 - x)^excess."""
        a, b, noncentrality = self._shapes(*self._arrays(*self.parameters))
        # The mode if it is inside; any number otherwise.
        one, other = jnp.where(a >= 1, a, 1.5), jnp.where(b + excess > 1, b, 2.0)

        def fall(odds: jax.Array) -> jax.Array:
            weight = one - 1.0 + mean_index(odds, one, other, noncentrality)
            return (other - 1.0 + excess) * jax.lax.logistic(odds) - weight * jax.lax.logistic(-odds)

        most = -math.log(float(jnp.finfo(a.dtype).tiny)) - 1
        start = jnp.log((one + 0.5 * noncentrality) / other)
        odds = solve_increasing(fall, jnp.zeros_like(a), -most, most, start)
        return (a, b, noncentrality), odds - reference_odds(a, b)

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        below, above, distance, _, shapes = self._aligned(value)
        return with_ends(below, above, log_noncentral_beta_tails(distance, *shapes))

    def _aligned(self, value: Any) -> tuple[Any, ...]:
        """Return whether the value is below or above the support, its safe distance and slope, and the shapes."""
        x, *parameters = together(*align(value, *(getattr(self, name) for name in self.parameters)))
        below, above = self._outside(x)
        distance, log_slope = self._distance(jnp.where(below | above, 0.5, x), *parameters)
        return below, above, distance, log_slope, self._shapes(*parameters)


class NoncentralBeta(AbstractNoncentralRatio):
    """Noncentral beta distribution: a noncentral chi-squared variable's share in its sum with a central one.

    **Fields**
    - `concentration1`: half of the degrees of freedom of the noncentral variable, > 0.
    - `concentration0`: half of the degrees of freedom of the central variable, > 0.
    - `noncentrality`: of the noncentral variable, >= 0; at 0 the distribution is beta.

    **Density**: `Sum over j >= 0 of exp(-c/2) (c/2)^j / j! x^(a+j-1) (1-x)^(b-1) / B(a + j, b)`, a = concentration1,
    b = concentration0, c = noncentrality.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 30.7.
    """

    concentration1: Any
    concentration0: Any
    noncentrality: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
        "noncentrality": constraints.nonnegative,
    }

    @property
    def support(self) -> Constraint:
        return constraints.unit_interval

    @property
    def mean(self) -> jax.Array:
        return noncentral_beta_moments(*self._arrays(*self.parameters))[0]

    @property
    def variance(self) -> jax.Array:
        return noncentral_beta_moments(*self._arrays(*self.parameters))[1]

    @property
    def mode(self) -> jax.Array:
        (a, b, noncentrality), distance = self._mode_distance(0.0)
        # At a = 1 the slope at 0 decides.
        is_falling = (a < 1) | ((a == 1) & (0.5 * noncentrality * (1 + b) <= b - 1))
        peak = jnp.where(b > 1, self._value(distance, a, b), 1.0)
        return jnp.where(is_falling, 0.0, peak)

    @property
    def _ends(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        a, b, noncentrality = parameters
        return a, b, noncentrality

    def _distance(self, value: jax.Array, *parameters: Any) -> tuple[jax.Array, jax.Array]:
        return log_odds(value) - reference_odds(parameters[0], parameters[1]), -jnp.log(value) - jnp.log1p(
            -value
        )

    def _value(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        return jax.lax.logistic(distance + reference_odds(parameters[0], parameters[1]))

    def _outside(self, value: jax.Array) -> tuple[jax.Array, jax.Array]:
        return value <= 0, value >= 1

    def _log_slope(self, distance: jax.Array, *parameters: Any) -> jax.Array:
        odds = distance + reference_odds(parameters[0], parameters[1])
        return softplus(odds) + softplus(-odds)

    def _inside(self, draws: jax.Array) -> jax.Array:
        return keep_inside(draws, 0.0, 1.0)


@jax.custom_jvp
def _moved_with(distance: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array) -> jax.Array:
    """Attach to a draw the derivative of the inverse cdf by the parameters."""
    del a, b, noncentrality
    return distance


@_moved_with.defjvp
def _moved_with_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    distance, *shapes = primals

    def rise(distance: jax.Array, *shapes: jax.Array) -> jax.Array:
        below, above = log_noncentral_beta_tails(distance, *shapes)
        return below - above

    _, by_distance = jax.jvp(
        lambda distance: rise(distance, *shapes), (distance,), (jnp.ones_like(distance),)
    )
    _, moved = jax.jvp(lambda *shapes: rise(distance, *shapes), tuple(shapes), tangents[1:])
    return _moved_with(*primals), tangents[0] - moved / by_distance
