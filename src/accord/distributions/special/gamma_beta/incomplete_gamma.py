"""Compute the distribution function of the gamma distribution, both tails, their logarithms and their inverses.

With t = x e^v the smaller tail is an integral of a log-concave function that falls from the end of the tail on,

    P(a, x) = D * integral of exp(a v - x (e^v - 1)) over v < 0,    Q(a, x) = the same over v > 0,

where D = x^a e^-x / Gamma(a): one Gauss-Legendre rule, stretched to where the integrand has vanished, gives it and its
derivatives for every shape. Below x = 1, where Q has a plateau for small `a`, P comes from

    P(a, x) = x^a / Gamma(a + 1) * (1 + a * integral of u^(a-1) (e^(-x u) - 1) over 0 < u < 1).

**Source**: DLMF 8.2.1, 8.2.2, 8.6.7 (the integrals under other names), 8.11.10 (why the median parts the tails).
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..basic.elementary import exp_of, log1m, log1m_exp, log_of
from ..basic.excess import excess
from ..basic.gamma_ratio import log_gamma_1p
from ..basic.log_gamma import log_gamma_remainder
from ..basic.quadrature import FALL, bits_of, exp_rest, rule_on_unit, together
from ..basic.smooth import one_less_exp

_MOST_STEPS = 40


def gamma_cdf(a: Any, x: Any, rate: Any = 1.0) -> jax.Array:
    """Compute P(a, rate x), the probability that a gamma variable of shape `a` is at most `x`."""
    return _scaled_cdf(*together(a, x, rate))


@jax.custom_jvp
def _scaled_cdf(a: jax.Array, x: jax.Array, rate: jax.Array) -> jax.Array:
    logarithm, is_lower = nearer_gamma_tail(a, rate * x)
    return jnp.where(is_lower, jnp.exp(logarithm), one_less_exp(logarithm))


@_scaled_cdf.defjvp
def _scaled_cdf_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    logarithm, push, is_lower = jax.linearize(
        lambda a, x, rate: nearer_gamma_tail(a, rate * x), *primals, has_aux=True
    )
    # Where `x` is large, a tail that underflows may have a representable slope: split the tail in two halves.
    half = jnp.exp(0.5 * logarithm)
    found = jnp.where(is_lower, jnp.exp(logarithm), one_less_exp(logarithm))
    slope = half * push(*(half * tangent for tangent in tangents))
    return found, jnp.where(is_lower, slope, -slope)


def gamma_survival(a: Any, x: Any) -> jax.Array:
    """Compute Q(a, x) = 1 - P(a, x)."""
    logarithm, is_lower = nearer_gamma_tail(*together(a, x))
    return jnp.where(is_lower, one_less_exp(logarithm), jnp.exp(logarithm))


def log_gamma_cdf(a: Any, x: Any) -> jax.Array:
    """Compute the logarithm of P(a, x), also where P underflows; -inf at 0."""
    logarithm, is_lower = nearer_gamma_tail(*together(a, x))
    return jnp.where(is_lower, logarithm, log1m_exp(jnp.where(is_lower, -1.0, logarithm)))


def log_gamma_survival(a: Any, x: Any) -> jax.Array:
    """Compute the logarithm of Q(a, x), also where Q underflows; -inf at infinity."""
    logarithm, is_lower = nearer_gamma_tail(*together(a, x))
    return jnp.where(is_lower, log1m_exp(jnp.where(is_lower, logarithm, -1.0)), logarithm)


def gamma_quantile(a: Any, q: Any) -> jax.Array:
    """Compute the x at which P(a, x) = q; 0 at 0 and infinite at 1."""
    return exp_of(log_gamma_quantile(a, q))


def gamma_quantile_upper(a: Any, q: Any) -> jax.Array:
    """Compute the x at which Q(a, x) = q; 0 at 1 and infinite at 0."""
    return exp_of(log_gamma_quantile_upper(a, q))


def log_gamma_quantile(a: Any, q: Any) -> jax.Array:
    """Compute the logarithm of `gamma_quantile`, also where that underflows."""
    a, q = together(a, q)
    return _log_quantile(a, log_of(q), log1m(q))


def log_gamma_quantile_upper(a: Any, q: Any) -> jax.Array:
    """Compute the logarithm of `gamma_quantile_upper`, also where that underflows."""
    a, q = together(a, q)
    return _log_quantile(a, log1m(q), log_of(q))


def nearer_gamma_tail(a: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute the logarithm of the nearer tail, and whether it is the lower; -inf at either end of the support."""
    is_end = (x <= 0) | (x == jnp.inf)
    is_zero_end = x <= 0
    x = jnp.where(is_end, 1.0, x)
    is_near_zero, is_below = (x < 1) & (a < 1.5), x < a - 1 / 3

    low, low_a = jnp.where(is_near_zero, x, 0.5), jnp.where(is_near_zero, a, 1.0)
    from_zero = low_a * jnp.log(low) - log_gamma_1p(low_a) + jnp.log1p(low_a * _excess(low_a, low))

    far, far_a = jnp.where(is_near_zero, 2.0, x), jnp.where(is_near_zero, 1.0, a)
    beyond = far - far_a
    height = excess(far_a, beyond, jnp.log(far) - jnp.log(far_a)) - log_gamma_remainder(far_a)
    from_end = height + _log_integral(far_a, far, is_below & ~is_near_zero)
    found = jnp.where(is_end, -jnp.inf, jnp.where(is_near_zero, from_zero, from_end))
    return found, jnp.where(is_end, is_zero_end, is_near_zero | is_below)


@jax.custom_jvp
def _excess(a: jax.Array, x: jax.Array) -> jax.Array:
    """Integrate u^(a-1) (e^(-x u) - 1) over 0 < u < 1, with u = w^8 to smooth the power at 0."""
    nodes, weights = rule_on_unit(x)
    power = jnp.exp(8.0 * a[..., None] * jnp.log(nodes))
    return (8.0 * weights / nodes * power * jnp.expm1(-x[..., None] * nodes**8)).sum(-1)


@_excess.defjvp
def _excess_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, x = primals
    nodes, weights = rule_on_unit(x)
    log_u, u = 8.0 * jnp.log(nodes), nodes**8
    power = 8.0 * weights / nodes * jnp.exp(a[..., None] * log_u)
    less = jnp.expm1(-x[..., None] * u)
    by_a, by_x = (power * less * log_u).sum(-1), -(power * u * (1.0 + less)).sum(-1)
    return _excess(a, x), by_a * tangents[0] + by_x * tangents[1]


@jax.custom_jvp
def _log_integral(a: jax.Array, x: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the log integral of exp(a v - x (e^v - 1)) over v < 0 or v > 0."""
    v, weights = _nodes(a, x, is_lower)
    return jnp.log((weights * jnp.exp(_exponent(a, x, v))).sum(-1))


@_log_integral.defjvp
def _log_integral_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, x, is_lower = primals
    v, weights = _nodes(a, x, is_lower)
    rise = jnp.expm1(v)
    height = weights * jnp.exp(_exponent(a, x, v))
    total = height.sum(-1)
    by_a, by_x = (height * v).sum(-1) / total, -(height * rise).sum(-1) / total
    return jnp.log(total), by_a * tangents[0] + by_x * tangents[1]


def _exponent(a: jax.Array, x: jax.Array, v: jax.Array) -> jax.Array:
    """Compute a v - x (e^v - 1), for small v without its linear terms, which would cancel."""
    a, x = a[..., None], x[..., None]
    is_near = jnp.abs(v) < 0.5
    near = jnp.where(is_near, v, 0.0)
    return jnp.where(is_near, (a - x) * near - x * exp_rest(near), a * v - x * jnp.expm1(v))


def _nodes(a: jax.Array, x: jax.Array, is_lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return nodes and weights up to where the integrand has vanished; constants to derivatives."""
    a, x = jax.lax.stop_gradient((a, x))
    fall = FALL[bits_of(x)]
    half = 0.5 * jnp.abs(x - a)
    # Each length is just beyond where the integrand has fallen enough, by a bound below on how it falls:
    # with e^v - 1 - v at least v^2/3 for -1 < v < 0, v^2/2 above 0; with e^v at least 0; with a at most x.
    near = fall / (half + jnp.hypot(half, jnp.sqrt(x * jnp.where(is_lower, fall / 3, fall / 2))))
    lower = jnp.where(near < 1, near, (fall + x) / a)
    upper = jnp.minimum(near, jnp.log1p(fall / x + jnp.sqrt(2 * fall / x)))
    length = jnp.where(is_lower, -lower, upper)[..., None]
    nodes, weights = rule_on_unit(x)
    return length * nodes, jnp.abs(length) * weights


@jax.custom_jvp
def _log_quantile(a: jax.Array, log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Compute the log of the x whose lower tail has log `log_p` and upper tail log `log_q`."""
    is_lower = _is_lower(a, log_p, log_q)
    target = jnp.where(is_lower, log_p, log_q)
    is_end = target == -jnp.inf
    target = jnp.where(is_end, -1.0, target)
    limits = jnp.finfo(a.dtype)

    def is_moving(state: tuple[Any, ...]) -> jax.Array:
        step, _, moving = state
        return (step < _MOST_STEPS) & moving.any()

    def improve(state: tuple[Any, ...]) -> tuple[Any, ...]:
        # Both logarithms are concave in s, so Newton's method needs no bracket.
        step, s, moving = state
        found, slope = jax.jvp(lambda s: _tail(a, s, is_lower), (s,), (jnp.ones_like(s),))
        move = (target - found) / slope
        still = moving & (jnp.abs(move) > 4.0 * limits.eps * (1.0 + jnp.abs(s)))
        return step + 1, jnp.where(moving, s + move, s), still

    s = _start(a, target, is_lower)
    # Where x would underflow the start, a pure power, is the answer.
    s = jax.lax.while_loop(is_moving, improve, (0, s, jnp.exp(s) > limits.tiny))[1]
    s = jnp.where(is_end, jnp.where(is_lower, -jnp.inf, jnp.inf), s)
    return jnp.where(jnp.isnan(log_p), jnp.nan, s)


@_log_quantile.defjvp
def _log_quantile_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, log_p, log_q = primals
    a_dot, p_dot, q_dot = tangents
    s, is_lower = _log_quantile(a, log_p, log_q), _is_lower(a, log_p, log_q)
    is_end = jnp.abs(s) == jnp.inf
    tiny = float(jnp.finfo(s.dtype).tiny)
    safe = jnp.where(is_end, 0.0, jnp.maximum(s, math.log(tiny) + 1.0))
    found, pull = jax.vjp(lambda a, s: _tail(a, s, is_lower), a, safe)
    by_a, slope = pull(jnp.ones_like(found))
    # Below the smallest number the lower tail is the power x^a times a function of `a`.
    by_a = by_a + (jnp.where(is_end, safe, s) - safe)
    moved = (jnp.where(is_lower, p_dot, q_dot) - by_a * a_dot) / slope
    return s, jnp.where(is_end, 0.0, moved)


def _is_lower(a: jax.Array, log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Return whether to invert the lower tail: it is the smaller one, or almost a pure power."""
    power = (log_p + jsp.gammaln(a + 1.0)) / a
    return (log_p < log_q) | ((a < 1.5) & (power < -2.0) & (log_q > -jnp.inf))


def _tail(a: jax.Array, s: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the logarithm of the lower or upper tail at x = e^s."""
    found, found_lower = nearer_gamma_tail(a, jnp.exp(s))
    is_same = found_lower == is_lower
    return jnp.where(is_same, found, log1m_exp(jnp.where(is_same, -1.0, found)))


def _start(a: jax.Array, target: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Return a starting value: a small lower tail's power law, Wilson & Hilferty's cube, or an exponential far out."""
    # A rough normal quantile suffices: Abramowitz & Stegun 26.2.22.
    t = jnp.sqrt(-2.0 * target)
    z = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))
    root = 1.0 - 1.0 / (9.0 * a) + jnp.where(is_lower, -z, z) / (3.0 * jnp.sqrt(a))
    cube = jnp.log(a) + 3.0 * jnp.log(jnp.maximum(root, 0.1))
    log_power = jsp.gammaln(a + 1.0)
    power = (target + log_power) / a
    lower = jnp.where(root > 0.1, jnp.maximum(cube, power), power)
    # Far out log Q = -x + (a - 1) log x - log Gamma(a).
    level = jnp.log(a) - target - log_power
    far = jnp.maximum(level, 0.5)
    for _ in range(2):
        far = jnp.maximum(level + (a - 1.0) * jnp.log(far), 0.5)
    return jnp.where(is_lower, lower, jnp.where(a < 1.5, jnp.log(far), cube))
