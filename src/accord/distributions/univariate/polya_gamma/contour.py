"""Compute the density and the tails of Polya-Gamma variables by integrals along a parabola.

The mean of exp(-t X) is (cosh(c/2) / cosh(sqrt(s)))^b, for shape b, tilt c and s = t/2 + c^2/4. Its inverse Laplace
transform is taken along a parabola in the plane of s, open to the left, about all poles of the transform. Its vertex is
at the saddle point, where the integrand is a bell, for which the midpoint rule with a few points is exact to rounding.
The derivatives need no further care: where the parabola lies has no influence on the integral.

**Source**: Polson, Scott & Windle (2013), J. Am. Stat. Assoc. 108(504), 1339-1349, section 2 (the transform);
Trefethen & Weideman (2014), SIAM Review 56(3), 385-458, sections 5 and 15 (the rule).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...special import log1m_exp

_POLE = 0.25 * np.pi**2  # the first pole is at s = -_POLE
_COUNT = 32  # points on half of the parabola
_STEP = 0.5  # in standard deviations of the bell
_LARGEST_STEP = 0.18  # of the distance to the nearest pole


def _series(count: int) -> tuple[float, ...]:
    """Return coefficients of tanh(r)/r =: T in powers of r^2, from the equation 2 s T' = 1 - T - s T^2."""
    found = [1.0]
    for k in range(1, count):
        found.append(-sum(found[i] * found[k - 1 - i] for i in range(k)) / (2 * k + 1))
    return tuple(found)


_TANH = _series(20)


class Path(NamedTuple):
    """Points s on the upper half of the parabola along a new first axis, by real and imaginary parts.

    - `vertex`: s at the vertex; `reach`: its distance from the first pole.
    - `width`: square root of the curvature of the bell by `u`; `step`: between the points `u`.
    - `move`: s less the vertex; `growth`: log of cosh(sqrt(s)), less that at the vertex.
    """

    vertex: jax.Array
    reach: jax.Array
    width: jax.Array
    step: jax.Array
    u: jax.Array
    move: tuple[jax.Array, jax.Array]
    growth: tuple[jax.Array, jax.Array]


def polya_gamma_log_density(x: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
    """Compute the log density at x > 0; all arguments of one shape."""
    x, b, y = x[None], b[None], _half(c)[None]
    path = _path(jnp.maximum(_saddle(x, b), 0.5 / x), b)
    level = b * _log_ratio(path.vertex, y)
    is_flat = (b < 0.3) & (jnp.abs(level) < 1) & (path.width < 3)
    real, imag = _integrand(path, x, b, level, is_flat)
    total = (real - path.u * imag).sum(axis=0) * (4 / np.pi * path.reach * path.step)[0]
    height = 2 * x * _gap(path.vertex, y) - jnp.where(is_flat, 0.0, level)
    return height[0] + jnp.log(total)


def polya_gamma_log_tails(x: jax.Array, b: jax.Array, c: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above x > 0, each accurate where it is small."""
    x, b, y = x[None], b[None], _half(c)[None]
    ratio = _tanh_ratio(y * y)
    fixed = jax.lax.stop_gradient((y * y + _POLE, b * ratio / 4, -b * _slope(y * y, ratio)))
    # The integrand of a tail has another pole at s = y^2. Keep it on one side of the parabola, a standard
    # deviation `spread` away.
    centre, mean, curve = fixed
    spread = jnp.sqrt(2 / curve)
    is_wide = spread > 0.7 * centre
    lower_x, upper_x = jnp.minimum(x, mean), jnp.where(is_wide, x, jnp.maximum(x, mean))
    lower_reach = jnp.maximum(jnp.maximum(_saddle(lower_x, b), 0.5 / lower_x), centre + spread)
    below = _log_tail(lower_reach, lower_x, b, y, centre, jnp.zeros(x.shape, bool))
    upper_reach = jnp.maximum(_saddle(upper_x, b), 0.5 / upper_x)
    apart = jnp.minimum(upper_reach, centre * (centre / (centre + spread)))
    early = jnp.maximum(centre, 0.5 / upper_x)
    # Without room for it, as with a small shape, use the transform less 1, which has no such pole.
    upper_reach = jnp.where(is_wide, jnp.where(upper_x < mean, early, upper_reach), apart)
    above = _log_tail(upper_reach, upper_x, b, y, centre, is_wide)
    is_low = jnp.where(is_wide[0], above > -0.7, (x < mean)[0])
    return (
        jnp.where(is_low, below, log1m_exp(jnp.where(is_low, -1.0, above))),
        jnp.where(is_low, log1m_exp(jnp.where(is_low, below, -1.0)), above),
    )


def tanh_ratio(s: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute tanh(r)/r for r^2 = s, and minus its derivative by s."""
    ratio = _tanh_ratio(s)
    return ratio, -_slope(s, ratio)


def _log_tail(
    reach: jax.Array, x: jax.Array, b: jax.Array, y: jax.Array, centre: jax.Array, is_small: jax.Array
) -> jax.Array:
    """Compute the log probability below x if the vertex is right of s = y^2 at `centre`, above x otherwise."""
    path = _path(reach, b)
    level = b * _log_ratio(path.vertex, y)
    is_flat = is_small & (level > -1)
    real, imag = _integrand(path, x, b, level, is_flat)
    gap = _gap(path.vertex, y)
    # (1 + i u) / (s - y^2), by its real and imaginary parts.
    over, beside = gap + path.move[0], path.move[1]
    square = over * over + beside * beside
    weight, twist = (over + path.u * beside) / square, (path.u * over - beside) / square
    total = (real * weight - imag * twist).sum(axis=0) * (2 / np.pi * path.reach * path.step)[0]
    total = jnp.where((reach > centre)[0] & ~is_flat[0], total, -total)
    height = 2 * x * gap - jnp.where(is_flat, 0.0, level)
    # The midpoint rule's error from the pole on the far side, unless it is below rounding.
    # The pole moves with the tilt, and so does this.
    distance = jnp.abs(1 - jnp.sqrt((y * y + _POLE) / reach))
    is_felt = (distance * path.width < 8) & ~is_flat
    skipped = 2 * np.pi * distance / path.step
    pole = jnp.where(is_felt, jnp.exp(jnp.where(is_felt, -skipped - height, 0.0)), 0.0)
    pole = (pole / (1 + jnp.exp(-skipped)))[0]
    return jnp.minimum(height[0] + jnp.log(total + pole), -1e-30)


def _integrand(
    path: Path, x: jax.Array, b: jax.Array, level: jax.Array, is_flat: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the transform along the path, times exp(2 x s), relative to the vertex.

    With a small shape the transform is nearly 1, which is that of a point mass at 0 and adds nothing beyond it. Where
    `is_flat`, only what the transform has more than 1 is taken, over exp(2 x s) at the vertex; `level` is minus the log
    of the transform there.
    """
    rise, turn = 2 * x * path.move[0], 2 * x * path.move[1]
    fall, bend = -b * path.growth[0], -b * path.growth[1]
    whole = jnp.exp(jnp.where(is_flat, 0.0, rise + fall))
    fall = jnp.where(is_flat, fall - level, 0.0)
    more_real = jnp.expm1(fall) * jnp.cos(bend) - 2 * jnp.sin(0.5 * bend) ** 2
    more_imag = jnp.exp(fall) * jnp.sin(bend)
    scale = jnp.exp(jnp.where(is_flat, rise, 0.0))
    flat_real = scale * (jnp.cos(turn) * more_real - jnp.sin(turn) * more_imag)
    flat_imag = scale * (jnp.cos(turn) * more_imag + jnp.sin(turn) * more_real)
    real, imag = whole * jnp.cos(turn + bend), whole * jnp.sin(turn + bend)
    return jnp.where(is_flat, flat_real, real), jnp.where(is_flat, flat_imag, imag)


def _half(c: jax.Array) -> jax.Array:
    """Return half of the size of the tilt; the distribution is even and smooth in the tilt."""
    return 0.5 * jnp.where(c < 0, -c, c)


def _path(reach: jax.Array, b: jax.Array) -> Path:
    """Return the parabola with a vertex, without derivatives: the integral does not depend on it."""
    reach, b = jax.lax.stop_gradient((reach, b))
    vertex = reach - _POLE
    ratio = _tanh_ratio(vertex)
    width = jnp.sqrt(-2 * b * _slope(vertex, ratio)) * reach
    step = jnp.minimum(_STEP / jnp.maximum(width, 1e-3), _LARGEST_STEP)
    u = (jnp.arange(_COUNT, dtype=reach.dtype) + 0.5).reshape((-1,) + (1,) * (reach.ndim - 1)) * step
    move = jax.lax.complex(-reach * u * u, 2 * reach * u)
    shape = u.shape
    positive = jnp.maximum(vertex, 0.0)
    root, over = jnp.sqrt(positive), jnp.sqrt(positive - vertex)
    start = jax.lax.complex(*(jnp.broadcast_to(part, shape) for part in (root, over)))
    tanh = jax.lax.complex(*(jnp.broadcast_to(part * ratio, shape) for part in (root, over)))
    end = jnp.sqrt(start * start + move)
    d = move / (end + start)
    is_near = jnp.abs(d) < 1
    near, far = jnp.where(is_near, d, 0.0), jnp.where(is_near, 1.0, d)
    sinh = jnp.sinh(0.5 * near)
    close = jnp.log1p(2 * sinh * sinh + tanh * jnp.sinh(near))
    below = jnp.exp(-2 * start)
    away = far + jnp.log1p((jnp.exp(-2 * end) - below) / (1 + below))
    growth = jnp.where(is_near, close, away)
    return Path(vertex, reach, width, step, u, (move.real, move.imag), (growth.real, growth.imag))


def _saddle(x: jax.Array, b: jax.Array) -> jax.Array:
    """Find the distance from the pole to the saddle: tanh(r)/r = 4 x / b for r^2 = s."""
    x, b = jax.lax.stop_gradient((x, b))
    q = 4 * x / b
    s = (1 + jnp.sqrt(1 + 14.4 * q * q)) / (2 * q * q) - _POLE
    for _ in range(4):
        ratio = _tanh_ratio(s)
        # Newton's method for the inverse square of the ratio, which is nearly straight.
        moved = s + 0.5 * ratio * (1 - (ratio / q) ** 2) / _slope(s, ratio)
        s = jnp.where(moved > -_POLE, moved, 0.5 * (s - _POLE))
    return s + _POLE


def _tanh_ratio(s: jax.Array) -> jax.Array:
    """Compute tanh(r)/r for r^2 = s, where s may be negative, down to the pole."""
    is_small = jnp.abs(s) < 0.5
    small = jnp.where(is_small, s, 0.0)
    root = jnp.sqrt(jnp.where(is_small, 1.0, jnp.abs(s)))
    total = jnp.full_like(s, _TANH[-1])
    for coefficient in _TANH[-2::-1]:
        total = coefficient + small * total
    return jnp.where(is_small, total, jnp.where(s > 0, jnp.tanh(root), jnp.tan(root)) / root)


def _slope(s: jax.Array, ratio: jax.Array) -> jax.Array:
    """Compute the derivative of tanh(r)/r by s = r^2; `ratio` is its value."""
    is_small = jnp.abs(s) < 0.5
    small = jnp.where(is_small, s, 0.0)
    total = jnp.full_like(s, (len(_TANH) - 1) * _TANH[-1])
    for k in range(len(_TANH) - 2, 0, -1):
        total = k * _TANH[k] + small * total
    # 1 - tanh(r)^2, which is small where s is large.
    decay = jnp.exp(-2 * jnp.sqrt(jnp.maximum(s, 0.25)))
    rest = jnp.where(s > 0.25, 4 * decay / (1 + decay) ** 2, 1 - s * ratio * ratio)
    return jnp.where(is_small, total, (rest - ratio) / (2 * jnp.where(is_small, 1.0, s)))


def _log_cosh(s: jax.Array) -> jax.Array:
    """Compute log cosh(r) for r^2 = s, where s may be negative; small near 0."""
    size = jnp.sqrt(jnp.where(s == 0, 1.0, jnp.abs(s)))
    is_far = s > 1
    far = size + jnp.log1p(jnp.exp(-2 * size)) - float(np.log(2))
    is_low = s < -1
    size = jnp.where(is_far | is_low, 1.0, size)
    square = jnp.where(s > 0, jnp.sinh(size) ** 2, -(jnp.sin(size) ** 2))
    # The cosine of an angle near the pole is the sine of the complement.
    low = jnp.where(is_low, s, -1.0)
    left = (low + _POLE) / (0.5 * np.pi + jnp.sqrt(-low))
    near = jnp.where(is_low, jnp.log(jnp.sin(left)), 0.5 * jnp.log1p(square))
    return jnp.where(s == 0, 0.0, jnp.where(is_far, far, near))


def _gap(vertex: jax.Array, y: jax.Array) -> jax.Array:
    """Compute vertex - y^2, from the roots where there are two."""
    root = jnp.sqrt(jnp.maximum(vertex, 0.0))
    return jnp.where(vertex > 0, (root - y) * (root + y), vertex - y * y)


def _log_ratio(vertex: jax.Array, y: jax.Array) -> jax.Array:
    """Compute log of cosh(sqrt(vertex)) / cosh(y), for y >= 0, to relative accuracy where they are close."""
    root = jnp.sqrt(jnp.maximum(vertex, 0.0))
    d = root - y
    is_near = jnp.abs(d) < 1
    near = jnp.where(is_near, d, 0.0)
    sinh = jnp.sinh(0.5 * near)
    close = jnp.log1p(2 * sinh * sinh + jnp.tanh(y) * jnp.sinh(near))
    away = d + jnp.log1p(jnp.exp(-2 * root)) - jnp.log1p(jnp.exp(-2 * y))
    log_cos = _log_cosh(jnp.minimum(vertex, 0.0))
    return jnp.where(is_near, close, away) + jnp.where(vertex < 0, log_cos, 0.0)
