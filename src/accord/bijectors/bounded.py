"""Map the real line to the numbers above, below or between bounds.

Bounds may be traced and may be infinite: the map is then the one-sided or the identity map, with exactly its values and
derivatives. Choosing between maps inside a compiled program is done on inputs made safe first, because a `where` on the
outputs alone lets NaN through to the gradient.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import align, is_concrete, log
from .base import AbstractBijector
from .elementwise import log_sigmoid_slope


class LowerBounded(AbstractBijector):
    """Map the real line to the numbers above `low`: `y = low + exp(x)`; the identity where `low` is -inf.

    **Fields**
    - `low`: broadcasts with `x`; finite or -inf, may be traced.

    **Example**

    >>> y, log_det = bijectors.LowerBounded(2).forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [3.    4.718] [0. 1.]
    """

    low: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, low = align(x, self.low)
        return _forward(x, low, _static_finite(self.low), np.inf, False)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, low = align(y, self.low)
        return _inverse(y, low, _static_finite(self.low), np.inf, False)


class UpperBounded(AbstractBijector):
    """Map the real line to the numbers below `high`: `y = high - exp(x)`; the identity where `high` is inf.

    **Fields**
    - `high`: broadcasts with `x`; finite or inf, may be traced.

    **Example**

    >>> y, log_det = bijectors.UpperBounded(2).forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [ 1.    -0.718] [0. 1.]
    """

    high: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, high = align(x, self.high)
        return _forward(x, -np.inf, False, high, _static_finite(self.high))

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, high = align(y, self.high)
        return _inverse(y, -np.inf, False, high, _static_finite(self.high))


class Interval(AbstractBijector):
    """Map the real line to (`low`, `high`) by a scaled sigmoid, measured from the nearer end.

    With an infinite bound it equals `LowerBounded`, `UpperBounded` or `Identity`, value for value.

    **Fields**
    - `low`, `high`: broadcast with `x`; `low < high`, finite or infinite, may be traced.

    **Example**

    >>> y, log_det = bijectors.Interval(-1, 3).forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [1.    1.924] [ 0.   -0.24]
    """

    low: Any
    high: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, low, high = align(x, self.low, self.high)
        return _forward(x, low, _static_finite(self.low), high, _static_finite(self.high))

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, low, high = align(y, self.low, self.high)
        return _inverse(y, low, _static_finite(self.low), high, _static_finite(self.high))


def _static_finite(bound: Any) -> bool | None:
    """Return whether a bound is finite (True) or infinite (False) in every element; None if not known."""
    if not is_concrete(bound):
        return None
    finite = np.isfinite(np.asarray(bound))
    return bool(finite.all()) if finite.all() or not finite.any() else None


def _forward(
    x: jax.Array, low: Any, low_finite: bool | None, high: Any, high_finite: bool | None
) -> tuple[jax.Array, jax.Array]:
    """Map forward to (low, high), without the branches that known bounds rule out."""
    if low_finite is False and high_finite is False:
        return x + jnp.zeros(jnp.broadcast_shapes(np.shape(low), np.shape(high)), x.dtype), jnp.zeros_like(x)
    if low_finite is True and high_finite is False:
        return low + jnp.exp(x), x
    if low_finite is False and high_finite is True:
        return high - jnp.exp(x), x
    if low_finite is True and high_finite is True:
        return _forward_two_sided(x, low, high)
    has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
    safe_low = jnp.where(has_low, low, 0.0)
    safe_high = jnp.where(has_high, high, safe_low + 1.0)
    safe_low = jnp.where(has_low, safe_low, safe_high - 1.0)
    two, two_log_det = _forward_two_sided(x, safe_low, safe_high)
    one_sided = has_low ^ has_high
    # exp overflows to inf, whose product with a zero cotangent is NaN: keep it out of unused branches.
    growth = jnp.exp(jnp.where(one_sided, x, 0.0))
    one = jnp.where(has_low, safe_low + growth, safe_high - growth)
    both = has_low & has_high
    y = jnp.where(both, two, jnp.where(one_sided, one, x))
    return y, jnp.where(both, two_log_det, jnp.where(one_sided, x, 0.0))


def _forward_two_sided(x: jax.Array, low: Any, high: Any) -> tuple[jax.Array, jax.Array]:
    """Map by a scaled sigmoid between finite bounds."""
    width = high - low
    # Measured from the nearer end, so that no digits of a small distance are lost. Not abs, of slope 0 at 0.
    step = width * jax.lax.logistic(jnp.where(x < 0, x, -x))
    y = jnp.where(x < 0, low + step, high - step)
    return y, log(width) + log_sigmoid_slope(x)


def _inverse(
    y: jax.Array, low: Any, low_finite: bool | None, high: Any, high_finite: bool | None
) -> tuple[jax.Array, jax.Array]:
    """Map back from (low, high); the branches mirror `_forward`."""
    if low_finite is False and high_finite is False:
        return y, jnp.zeros_like(y)
    if low_finite is True and high_finite is False:
        x = jnp.log(y - low)
        return x, -x
    if low_finite is False and high_finite is True:
        x = jnp.log(high - y)
        return x, -x
    has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
    from_low = jnp.log(jnp.where(has_low, y - low, 1.0))
    from_high = jnp.log(jnp.where(has_high, high - y, 1.0))
    both = has_low & has_high
    width = jnp.where(both, high - low, 1.0)
    x = jnp.where(both, from_low - from_high, jnp.where(has_low, from_low, jnp.where(has_high, from_high, y)))
    return x, jnp.where(both, jnp.log(width), 0.0) - from_low - from_high
