"""Compute the scaled complementary error function."""

import math

import jax
import jax.numpy as jnp

# Chebyshev coefficients of (1 + 2 x) erfcx(x) in t = (x - 3.75) / (x + 3.75); the 13 first suffice in float32.
_ERFCX_CENTRE = 3.75
_ERFCX = (
    1.1775789345674017541,
    -0.0045900545806464773309,
    -0.084249133366517915584,
    0.059209939998191890498,
    -0.026658668435305752277,
    0.0090749976707052650939,
    -0.0024131635404176081909,
    0.00049077583652580863229,
    -0.000069169733025012063671,
    4.1390279860730101675e-6,
    7.7403830661984906686e-7,
    -2.1886401049234395661e-7,
    1.0764999465670910377e-8,
    4.5219598112182868979e-9,
    -7.7544002088313511065e-10,
    -6.3180883408866844944e-11,
    2.8687950109306698981e-11,
    1.945586854577734723e-13,
    -9.6546967484334389059e-13,
    3.2525481481487398415e-14,
    3.3478119482868053878e-14,
    -1.8645628804193131015e-15,
    -1.2507950530688647085e-15,
    7.418235256624043463e-17,
    5.0681489047961113168e-17,
)


@jax.custom_jvp
def erfcx(x: jax.Array) -> jax.Array:
    """Compute exp(x^2) erfc(x), for x >= 0, to a few units of rounding: it neither overflows nor underflows.

    **Source**: the substitution of Shepherd & Laframboise (1981), Math. Comp. 36, 249-253; the Chebyshev coefficients
    were computed anew with 40 digits.
    """
    t = (x - _ERFCX_CENTRE) / (x + _ERFCX_CENTRE)
    coefficients = _ERFCX if jnp.finfo(x.dtype).bits > 32 else _ERFCX[:13]
    later, latest = 0.0, 0.0
    for coefficient in coefficients[:0:-1]:
        later, latest = latest, coefficient + 2.0 * t * latest - later
    return (coefficients[0] + t * latest - later) / (1.0 + 2.0 * x)


@erfcx.defjvp
def _erfcx_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    result = erfcx(x)
    return result, (2.0 * x * result - 2.0 / math.sqrt(math.pi)) * x_dot
