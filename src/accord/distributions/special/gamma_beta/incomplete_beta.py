"""Compute the distribution function of the beta distribution, both tails, their logarithms and their inverse.

Everything is a function of the log odds l = log(x / (1 - x)), which keep the digits of both ends. With the odds of t
those of x times e^v, the smaller tail is an integral of a log-concave function that falls from the end of the tail on,

    I(a, b, x) = D * integral of exp(a v - (a + b) log(1 + x (e^v - 1))) over v < 0,   1 - I = the same over v > 0,

where D = x^a (1-x)^b / B(a, b): one Gauss-Legendre rule, stretched to where the integrand has vanished, gives it and
its derivatives for all shapes. Near 0, where the upper tail has a plateau for small `a`, I comes from

    I(a, b, x) = x^a / (a B(a, b)) * (1 + a * integral of u^(a-1) ((1 - x u)^(b-1) - 1) over 0 < u < 1).

**Source**: DLMF 8.17.1 and 8.17.4 (the integrals in t and the reflection); the series that the last one sums is that
of Didonato & Morris (1992), ACM Trans. Math. Softw. 18, 360-373, section 3.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ....bijectors.elementwise import softplus
from ..basic.elementary import log1m, log1m_exp, log_of
from ..basic.excess import excess
from ..basic.gamma_ratio import log_gamma_1p, log_gamma_ratio
from ..basic.log_gamma import log_beta, log_gamma_remainder
from ..basic.quadrature import FALL, bits_of, exp_rest, rule_on_unit, together
from ..basic.smooth import one_less_exp

_MOST_STEPS = 60


def beta_cdf(a: Any, b: Any, x: Any) -> jax.Array:
    """Compute I(a, b, x), the probability that a beta variable of concentrations `a`, `b` is at most `x`."""
    a, b, x = together(a, b, x)
    logarithm, is_lower = nearer_beta_tail(a, b, log_odds(x))
    return jnp.where(is_lower, jnp.exp(logarithm), one_less_exp(logarithm))


def beta_survival(a: Any, b: Any, x: Any) -> jax.Array:
    """Compute 1 - I(a, b, x)."""
    a, b, x = together(a, b, x)
    logarithm, is_lower = nearer_beta_tail(a, b, log_odds(x))
    return jnp.where(is_lower, one_less_exp(logarithm), jnp.exp(logarithm))


def log_beta_cdf(a: Any, b: Any, x: Any) -> jax.Array:
    """Compute the logarithm of I(a, b, x), also where I underflows; -inf at 0."""
    a, b, x = together(a, b, x)
    return log_beta_tail(a, b, log_odds(x), jnp.ones(x.shape, bool))


def log_beta_survival(a: Any, b: Any, x: Any) -> jax.Array:
    """Compute the logarithm of 1 - I(a, b, x), also where that underflows; -inf at 1."""
    a, b, x = together(a, b, x)
    return log_beta_tail(a, b, log_odds(x), jnp.zeros(x.shape, bool))


def beta_quantile(a: Any, b: Any, q: Any) -> jax.Array:
    """Compute the x at which I(a, b, x) = q; 0 at 0 and 1 at 1."""
    a, b, q = together(a, b, q)
    return jnp.exp(-softplus(-beta_log_odds_quantile(a, b, log_of(q), log1m(q))))


def log_odds(x: jax.Array) -> jax.Array:
    """Compute log(x / (1 - x)), infinite with zero gradient at 0, at 1 and beyond."""
    at_low, at_high = x <= 0, x >= 1
    inside = jnp.where(at_low | at_high, 0.5, x)
    found = jnp.log(inside) - jnp.log1p(-inside)
    return jnp.where(at_low, -jnp.inf, jnp.where(at_high, jnp.inf, found))


def log_beta_tail(a: jax.Array, b: jax.Array, odds: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the logarithm of the lower or the upper tail at given log odds."""
    found, found_lower = nearer_beta_tail(a, b, odds)
    is_same = found_lower == is_lower
    return jnp.where(is_same, found, log1m_exp(jnp.where(is_same, -1.0, found)))


def nearer_beta_tail(a: jax.Array, b: jax.Array, odds: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute the logarithm of the nearer tail at given log odds, and whether it is the lower; -inf at an end."""
    is_end, is_flipped = jnp.abs(odds) == jnp.inf, odds > 0
    odds = jnp.where(is_end, 0.0, jnp.where(is_flipped, -odds, odds))
    a, b = jnp.where(is_flipped, b, a), jnp.where(is_flipped, a, b)
    x, log_x, log_y = jax.lax.logistic(odds), -softplus(-odds), -softplus(odds)
    is_near_zero, is_below = (a < 1.5) & (b * x <= 1), x * (a + b - 2 / 3) < a - 1 / 3
    is_lower = is_near_zero | is_below

    low_a, low_b = jnp.where(is_near_zero, a, 1.0), jnp.where(is_near_zero, b, 1.0)
    constant = log_gamma_ratio(low_b, low_a) - log_gamma_1p(low_a)
    from_zero = low_a * log_x + constant + jnp.log1p(low_a * _excess(low_a, low_b, x))

    far_a, far_b = jnp.where(is_near_zero, 2.0, a), jnp.where(is_near_zero, 2.0, b)
    far_x, total = jnp.where(is_near_zero, 0.5, x), far_a + far_b
    # The distance of x from the mean, times a + b.
    beyond = far_x * far_b - jax.lax.logistic(-odds) * far_a
    log_p, log_q = -jnp.log1p(far_b / far_a), -jnp.log1p(far_a / far_b)
    # The linear terms that are left out of the two logarithms cancel.
    shape = excess(far_a, beyond, log_x - log_p) + excess(far_b, -beyond, log_y - log_q)
    height = shape + log_gamma_remainder(total) - log_gamma_remainder(far_a) - log_gamma_remainder(far_b)
    from_end = height + _log_integral(far_a, far_b, far_x, is_below & ~is_near_zero)
    found = jnp.where(is_end, -jnp.inf, jnp.where(is_near_zero, from_zero, from_end))
    return found, jnp.where(is_end, ~is_flipped, is_lower != is_flipped)


@jax.custom_jvp
def _excess(a: jax.Array, b: jax.Array, x: jax.Array) -> jax.Array:
    """Integrate u^(a-1) ((1 - x u)^(b-1) - 1) over 0 < u < 1, with u = w^8 to smooth the power at 0."""
    nodes, weights = rule_on_unit(x)
    power = (8.0 * weights / nodes) * jnp.exp(a[..., None] * (8.0 * jnp.log(nodes)))
    less = jnp.expm1((b[..., None] - 1.0) * jnp.log1p(-x[..., None] * nodes**8))
    return (power * less).sum(-1)


@_excess.defjvp
def _excess_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, b, x = primals
    nodes, weights = rule_on_unit(x)
    log_u, product = 8.0 * jnp.log(nodes), x[..., None] * nodes**8
    power = (8.0 * weights / nodes) * jnp.exp(a[..., None] * log_u)
    log_rest = jnp.log1p(-product)
    less = jnp.expm1((b[..., None] - 1.0) * log_rest)
    by_a, by_b = (power * less * log_u).sum(-1), (power * (1.0 + less) * log_rest).sum(-1)
    by_x = -(b - 1.0) * (power * (1.0 + less) * nodes**8 / (1.0 - product)).sum(-1)
    return (power * less).sum(-1), by_a * tangents[0] + by_b * tangents[1] + by_x * tangents[2]


@jax.custom_jvp
def _log_integral(a: jax.Array, b: jax.Array, x: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the log integral of exp(a v - (a + b) log(1 + x (e^v - 1))) over v < 0 or v > 0."""
    v, weights = tail_nodes(a, b, x, is_lower)
    return jnp.log((weights * jnp.exp(tail_exponent(a, b, x, v))).sum(-1))


@_log_integral.defjvp
def _log_integral_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, b, x, is_lower = primals
    v, weights = tail_nodes(a, b, x, is_lower)
    rise = jnp.expm1(v)
    product = x[..., None] * rise
    growth = jnp.log1p(product)
    height = weights * jnp.exp(tail_exponent(a, b, x, v))
    total = height.sum(-1)
    by_a, by_b = (height * (v - growth)).sum(-1) / total, -(height * growth).sum(-1) / total
    by_x = -(a + b) * (height * rise / (1.0 + product)).sum(-1) / total
    return jnp.log(total), by_a * tangents[0] + by_b * tangents[1] + by_x * tangents[2]


def tail_exponent(a: jax.Array, b: jax.Array, x: jax.Array, v: jax.Array) -> jax.Array:
    """Compute a v - (a + b) log(1 + x (e^v - 1)), for small v without its linear terms, which would cancel."""
    a, b, x = a[..., None], b[..., None], x[..., None]
    y, is_near = 1.0 - x, jnp.abs(v) < 0.5
    near = jnp.where(is_near, v, 0.0)
    bend = jnp.log1p(y * exp_rest(-x * near) + x * exp_rest(y * near))
    far = a * v - (a + b) * jnp.log1p(x * jnp.expm1(v))
    return jnp.where(is_near, (a * y - b * x) * near - (a + b) * bend, far)


def tail_nodes(a: jax.Array, b: jax.Array, x: jax.Array, is_lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return nodes and weights up to where the integrand has vanished; constants to derivatives."""
    a, b, x = jax.lax.stop_gradient((a, b, x))
    fall, total, y = FALL[bits_of(x)], a + b, 1.0 - x
    half = 0.5 * jnp.abs(x * b - y * a)
    # Each length is just beyond where the integrand has fallen enough, from a lower bound on its fall: for |v| < 1
    # its curvature, at least two thirds of its value at 0; else its straight asymptote.
    near = fall / (half + jnp.hypot(half, jnp.sqrt(total * x * y * (fall / 3))))
    tiny = float(jnp.finfo(x.dtype).tiny)
    log_x, log_y = jnp.log(jnp.maximum(x, tiny)), jnp.log1p(-x)
    asymptote = jnp.where(is_lower, (fall - total * log_y) / a, (fall - total * log_x) / b)
    length = jnp.where(near < 1, near, asymptote)
    # Above, where the integrand may end as abruptly as exp(-e^v), a step of iteration from beyond comes nearer.
    upper = jnp.log1p(jnp.expm1((fall + a * length) / total) / jnp.maximum(x, tiny))
    length = jnp.where(is_lower, -length, jnp.minimum(length, upper))[..., None]
    nodes, weights = rule_on_unit(x)
    return length * nodes, jnp.abs(length) * weights


@jax.custom_jvp
def beta_log_odds_quantile(a: jax.Array, b: jax.Array, log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Compute the log odds whose lower tail has log `log_p` and upper tail log `log_q`; the smaller is matched."""
    is_lower = log_p < log_q
    a, b = jnp.where(is_lower, a, b), jnp.where(is_lower, b, a)
    target = jnp.where(is_lower, log_p, log_q)
    is_end = target == -jnp.inf
    target = jnp.where(is_end, -1.0, target)
    eps, lower = float(jnp.finfo(a.dtype).eps), jnp.ones(a.shape, bool)

    def is_moving(state: tuple[Any, ...]) -> jax.Array:
        step, _, moving = state
        return (step < _MOST_STEPS) & moving.any()

    def improve(state: tuple[Any, ...]) -> tuple[Any, ...]:
        # The logarithm is concave in the log odds, so Newton's method needs no bracket.
        step, s, moving = state
        found, slope = jax.jvp(lambda s: log_beta_tail(a, b, s, lower), (s,), (jnp.ones_like(s),))
        move = (target - found) / slope
        still = moving & (jnp.abs(move) > 4.0 * eps * (1.0 + jnp.abs(s)))
        return step + 1, jnp.where(moving, s + move, s), still

    # The power law of a small tail starts below the answer; normal log odds are nearer for large shapes.
    power = (target + log_beta(a, b) + jnp.log(a)) / a
    t = jnp.sqrt(-2.0 * target)
    z = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))
    normal = jnp.log(a / b) - z * jnp.sqrt(1.0 / a + 1.0 / b)
    start = jnp.where((a > 1) & (b > 1), jnp.maximum(power, normal), power)
    s = jax.lax.while_loop(is_moving, improve, (0, start, jnp.ones(a.shape, bool)))[1]
    s = jnp.where(is_end, -jnp.inf, s)
    return jnp.where(jnp.isnan(log_p), jnp.nan, jnp.where(is_lower, s, -s))


@beta_log_odds_quantile.defjvp
def _log_odds_quantile_jvp(
    primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    a, b, log_p, log_q = primals
    a_dot, b_dot, p_dot, q_dot = tangents
    s, is_lower = beta_log_odds_quantile(a, b, log_p, log_q), log_p < log_q
    tail_dot = jnp.where(is_lower, p_dot, q_dot)
    return s, quantile_moved(
        lambda s, a, b: log_beta_tail(a, b, s, is_lower), s, (a, b), tail_dot, (a_dot, b_dot)
    )


def quantile_moved(
    log_tail: Callable[..., jax.Array],
    found: jax.Array,
    shapes: tuple[jax.Array, jax.Array],
    tail_dot: jax.Array,
    shape_dots: tuple[Any, Any],
) -> jax.Array:
    """Compute a quantile's change with its tail's logarithm and the shapes; 0 for an infinite quantile.

    `log_tail(found, *shapes)` is that logarithm; all arrays have one shape.
    """
    is_end = jnp.abs(found) == jnp.inf
    value, pull = jax.vjp(log_tail, jnp.where(is_end, 0.0, found), *shapes)
    slope, by_a, by_b = pull(jnp.ones_like(value))
    moved = (tail_dot - by_a * shape_dots[0] - by_b * shape_dots[1]) / slope
    return jnp.where(is_end, 0.0, moved)
