"""Map the real line to itself or to a half-line, one element at a time."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from .arrays import align, log
from .base import AbstractBijector
from .quick_log import quick_log


class Identity(AbstractBijector):
    """Map the real line to itself: the identity.

    **Example**

    >>> y, log_det = bijectors.Identity().forward_and_log_det(np.array([0.5, 1.0]))
    >>> print(y, log_det)
    [0.5 1. ] [0. 0.]
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return x, jnp.zeros_like(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return self.forward_and_log_det(y)


class Exp(AbstractBijector):
    """Map the real line to the positive numbers: `y = exp(x)`.

    **Example**

    >>> y, log_det = bijectors.Exp().forward_and_log_det(np.array([0.5, 1.0]))
    >>> print(y, log_det)
    [1.649 2.718] [0.5 1. ]
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jnp.exp(x), x

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        x = jnp.log(y)
        return x, -x


class Softplus(AbstractBijector):
    """Map the real line to the positive numbers: `y = log(1 + exp(x))`, linear far right, so it never overflows.

    **Example**

    >>> y, log_det = bijectors.Softplus().forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [0.693 1.313] [-0.693 -0.313]
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return softplus(x), -softplus(-x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        # log(exp(y) - 1) without the overflow of exp(y).
        log_tail = jnp.log(-jnp.expm1(-y))
        return y + log_tail, -log_tail


class Sigmoid(AbstractBijector):
    """Map the real line to the open unit interval: `y = 1 / (1 + exp(-x))`.

    `y` is kept off 0 and 1 by the smallest step of its dtype, so that log(y) and log(1 - y) stay finite.

    **Example**

    >>> y, log_det = bijectors.Sigmoid().forward_and_log_det(np.array([0.0, 1.0]))
    >>> print(y, log_det)
    [0.5   0.731] [-1.386 -1.627]
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        limits = jnp.finfo(x.dtype)
        y = jax.lax.clamp(
            limits.tiny.astype(x.dtype), jax.lax.logistic(x), (1 - limits.epsneg).astype(x.dtype)
        )
        return y, log_sigmoid_slope(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        low, high = jnp.log(y), jnp.log1p(-y)
        return low - high, -(low + high)


class Affine(AbstractBijector):
    """Map the real line to itself: `y = loc + scale * x`.

    **Fields**
    - `loc`, `scale`: broadcast with `x`; `scale` is not 0.

    **Example**

    >>> y, log_det = bijectors.Affine(100, 15).forward_and_log_det(np.array([2.0, 1.0]))
    >>> print(y, log_det)
    [130. 115.] [2.708 2.708]
    """

    loc: Any
    scale: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, loc, scale = align(x, self.loc, self.scale)
        y = loc + scale * x
        return y, jnp.broadcast_to(log(abs(scale)), y.shape).astype(y.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, loc, scale = align(y, self.loc, self.scale)
        x = (y - loc) / scale
        return x, jnp.broadcast_to(-log(abs(scale)), x.shape).astype(x.dtype)


class Shift(AbstractBijector):
    """Map the real line to itself: `y = x + loc`.

    **Fields**
    - `loc`: broadcasts with `x`.

    **Example**

    >>> y, log_det = bijectors.Shift(100).forward_and_log_det(np.array([2.0, 1.0]))
    >>> print(y, log_det)
    [102. 101.] [0. 0.]
    """

    loc: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, loc = align(x, self.loc)
        y = x + loc
        return y, jnp.zeros_like(y)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, loc = align(y, self.loc)
        x = y - loc
        return x, jnp.zeros_like(x)


class Scale(AbstractBijector):
    """Map the real line to itself: `y = scale * x`.

    **Fields**
    - `scale`: broadcasts with `x`; not 0.

    **Example**

    >>> y, log_det = bijectors.Scale(15).forward_and_log_det(np.array([2.0, 1.0]))
    >>> print(y, log_det)
    [30. 15.] [2.708 2.708]
    """

    scale: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        return Affine(0.0, self.scale).forward_and_log_det(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return Affine(0.0, self.scale).inverse_and_log_det(y)


class Power(AbstractBijector):
    """Map the positive numbers to themselves: `y = x ** exponent`.

    **Fields**
    - `exponent`: broadcasts with `x`; not 0.

    **Example**

    >>> y, log_det = bijectors.Power(2).forward_and_log_det(np.array([3.0, 1.0]))
    >>> print(y, log_det)
    [9. 1.] [1.792 0.693]
    """

    exponent: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, exponent = align(x, self.exponent)
        return x**exponent, log(abs(exponent)) + (exponent - 1.0) * jnp.log(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, exponent = align(y, self.exponent)
        root = 1.0 / exponent
        return y**root, log(abs(root)) + (root - 1.0) * jnp.log(y)


class Abs(AbstractBijector):
    """Take the absolute value of positive numbers: the inverse gives the positive of two solutions.

    On the whole real line it is two-to-one: fold a density (`FoldedDistribution`) instead of transforming it by this
    map.

    **Example**

    >>> y, log_det = bijectors.Abs().forward_and_log_det(np.array([-1.5, 1.0]))
    >>> print(y, log_det)
    [1.5 1. ] [0. 0.]
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jnp.abs(x), jnp.zeros_like(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        return y, jnp.zeros_like(y)


class LeakyRelu(AbstractBijector):
    """Map the real line to itself: `y = x` from 0 up, `y = slope * x` below.

    **Fields**
    - `slope`: broadcasts with `x`; > 0.

    **Example**

    >>> y, log_det = bijectors.LeakyRelu(0.1).forward_and_log_det(np.array([-3.0, 1.0]))
    >>> print(y, log_det)
    [-0.3  1. ] [-2.303  0.   ]
    """

    slope: Any

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, slope = align(x, self.slope)
        return jnp.where(x < 0, slope * x, x), jnp.where(x < 0, log(slope), 0.0).astype(x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, slope = align(y, self.slope)
        return jnp.where(y < 0, y / slope, y), jnp.where(y < 0, -log(slope), 0.0).astype(y.dtype)


@jax.custom_jvp
def softplus(x: jax.Array) -> jax.Array:
    """Compute log(1 + exp(x)), accurate in both tails; all derivatives are right at 0, where the formula changes."""
    return jnp.maximum(x, 0.0) + log1p_of_positive(jnp.exp(-jnp.abs(x)))


@softplus.defjvp
def _softplus_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return softplus(x), logistic(x) * x_dot


@jax.custom_jvp
def logistic(x: jax.Array) -> jax.Array:
    """Compute 1 / (1 + exp(-x)), exact in both tails, as is its derivative; it shares the exponential of `softplus`."""
    small = jnp.exp(-jnp.abs(x))
    return jnp.where(x < 0, small, 1.0) / (1.0 + small)


@logistic.defjvp
def _logistic_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return logistic(x), logistic(x) * logistic(-x) * x_dot


def log1p_of_positive(y: jax.Array) -> jax.Array:
    """Compute log(1 + y), for y >= 0, from one logarithm: XLA's log1p computes a polynomial beside it."""
    # What rounding left out of 1 + y, which matters where y is small. Without the maximum, XLA would compute
    # 1 + y - 1 as y. Slopes are those of the logarithm: the maximum would halve them where 1 + y is 1.
    rounded = jax.lax.stop_gradient(jnp.maximum(1.0 + y, 1.0))
    left = (jax.lax.stop_gradient(y) - (rounded - 1.0)) / rounded
    return quick_log(1.0 + y) + left


def log_sigmoid_slope(x: jax.Array) -> jax.Array:
    """Compute the log derivative of the sigmoid; -|x| far out, never -inf."""
    return x - 2.0 * softplus(x)


def inverse_softplus(y: jax.Array) -> jax.Array:
    """Compute log(exp(y) - 1), without the overflow of exp(y)."""
    return y + jnp.log(-jnp.expm1(-y))


def log_softplus(x: jax.Array) -> jax.Array:
    """Compute log(log(1 + exp(x))), which is `x` far to the left, where softplus itself underflows."""
    far = x < math.log(jnp.finfo(x.dtype).eps)
    return jnp.where(far, x, jnp.log(softplus(jnp.where(far, 0.0, x))))
