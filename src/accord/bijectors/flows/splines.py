"""Map the real line to itself by a monotone spline of rational quadratics."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from ..base import AbstractBijector
from ..elementwise import softplus
from .networks import at_one_dtype


class Piece(NamedTuple):
    """Piece of the spline that contains a number: its corner, its sides and the slopes at its ends."""

    x: jax.Array
    y: jax.Array
    width: jax.Array
    height: jax.Array
    first: jax.Array
    last: jax.Array


class RationalQuadraticSpline(AbstractBijector):
    """Map by an increasing spline on [-bound, bound], and the identity outside, elementwise.

    Forward and inverse are exact; value and first derivative are continuous. Parameters without further axes serve
    every element; others broadcast with the elements: `(n, K)` gives each element of a vector a spline of its own.

    **Fields**
    - `widths`, `heights`: logits of the shares of the K pieces in [-bound, bound], shape `(..., K)`.
    - `slopes`: free slopes of the inner knots, shape `(..., K - 1)`, any numbers; 0 gives the slope 1.
    - `bound`: half the length of the interval, > 0.
    - `min_share`: least share of a piece, in [0, 1 / K).
    - `min_slope`: least slope at a knot, in (0, 1).

    **Source**: Durkan, Bekasov, Murray & Papamakarios (2019), Neural spline flows, section 3.1 and appendix A.

    **Example**

    >>> spline = bijectors.RationalQuadraticSpline(np.zeros(3), np.array([0.0, 1.0, 0.0]), np.zeros(2))
    >>> y, log_det = spline.forward_and_log_det(np.array([-3.0, 0.0, 5.0]))
    >>> print(y, log_det)
    [-3.  0.  5.] [0.    0.782 0.   ]
    """

    widths: Any
    heights: Any
    slopes: Any
    bound: float = eqx.field(static=True, default=3.0)
    min_share: float = eqx.field(static=True, default=1e-3)
    min_slope: float = eqx.field(static=True, default=1e-3)

    @classmethod
    def init(
        cls,
        key: jax.Array,
        num_pieces: int,
        shape: tuple[int, ...] = (),
        *,
        scale: float = 0.1,
        bound: float = 3.0,
    ) -> "RationalQuadraticSpline":
        """Draw spline parameters of this shape from normals of this scale; scale 0 gives the identity."""
        free = scale * jax.random.normal(key, (*shape, 3 * num_pieces - 1))
        return cls(*split_pieces(free), bound=bound)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, spline = at_one_dtype(x, self)
        x, inside, at = spline._piece(x, of_image=False)
        t = (jnp.where(inside, x, 0.0) - at.x) / at.width
        y, log_slope = _rise(t, at)
        return jnp.where(inside, y, x), jnp.where(inside, log_slope, 0.0)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, spline = at_one_dtype(y, self)
        y, inside, at = spline._piece(y, of_image=True)
        t = _place(jnp.where(inside, y, 0.0) - at.y, at)
        x, log_slope = at.x + at.width * t, _rise(t, at)[1]
        return jnp.where(inside, x, y), jnp.where(inside, -log_slope, 0.0)

    def _piece(self, value: jax.Array, of_image: bool) -> tuple[jax.Array, jax.Array, Piece]:
        """Return the value in its full shape, whether it is in the interval, and the piece that contains it."""
        width, x = self._sides(self.widths)
        height, y = self._sides(self.heights)
        edge = jnp.ones((*self.slopes.shape[:-1], 1), value.dtype)
        # softplus(log(e^(1 - m) - 1)) + m is 1: a free slope of 0 gives the slope 1.
        shift = jnp.log(jnp.expm1(jnp.asarray(1 - self.min_slope, value.dtype)))
        slope = jnp.concatenate([edge, self.min_slope + softplus(self.slopes + shift), edge], axis=-1)
        table = jnp.stack(
            jnp.broadcast_arrays(x[..., :-1], y[..., :-1], width, height, slope[..., :-1], slope[..., 1:]),
            axis=0,
        )
        shape = jnp.broadcast_shapes(value.shape, table.shape[1:-1])
        value = jnp.broadcast_to(value, shape)
        inside = jnp.abs(value) < self.bound
        knots = (y if of_image else x)[..., 1:-1]
        knots = knots.reshape((1,) * (len(shape) + 1 - knots.ndim) + knots.shape)
        index = (jnp.where(inside, value, 0.0)[..., None] >= knots).sum(axis=-1, dtype=int)
        table = table.reshape((6, *(1,) * (len(shape) + 2 - table.ndim), *table.shape[1:]))
        table = jnp.broadcast_to(table, (6, *shape, table.shape[-1]))
        found = jnp.take_along_axis(table, jnp.broadcast_to(index[None, ..., None], (6, *shape, 1)), axis=-1)
        return value, inside, Piece(*found[..., 0])

    def _sides(self, logits: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the lengths of the pieces, and the knots from -bound to bound."""
        count = logits.shape[-1]
        share = self.min_share + (1 - self.min_share * count) * jax.nn.softmax(logits, axis=-1)
        length = 2 * self.bound * share
        ends = jnp.cumsum(length, axis=-1)[..., :-1] - self.bound
        edge = jnp.full_like(length[..., :1], self.bound)
        knots = jnp.concatenate([-edge, ends, edge], axis=-1)
        return jnp.diff(knots, axis=-1), knots


def split_pieces(free: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Split numbers, shape `(..., 3 K - 1)`, into widths, heights and slopes."""
    count = (free.shape[-1] + 1) // 3
    return free[..., :count], free[..., count : 2 * count], free[..., 2 * count :]


def _rise(t: jax.Array, at: Piece) -> tuple[jax.Array, jax.Array]:
    """Return the image of the position `t`, in [0, 1], in a piece, and the log slope there (equations 4 and 5)."""
    mean = at.height / at.width
    rest = 1 - t
    across = t * rest
    below = mean + (at.first + at.last - 2 * mean) * across
    y = at.y + at.height * (mean * t * t + at.first * across) / below
    above = at.last * t * t + 2 * mean * across + at.first * rest * rest
    return y, 2 * jnp.log(mean) + jnp.log(above) - 2 * jnp.log(below)


def _place(rise: jax.Array, at: Piece) -> jax.Array:
    """Return the position in [0, 1] at which the spline has risen this far in its piece (equations 6 to 8)."""
    mean = at.height / at.width
    excess = rise * (at.first + at.last - 2 * mean)
    a = at.height * (mean - at.first) + excess
    b = at.height * at.first - excess
    c = -mean * rise
    square = b * b - 4 * a * c
    # Positive up to rounding, as the spline increases.
    is_positive = square > 0
    root = jnp.where(is_positive, jnp.sqrt(jnp.where(is_positive, square, 1.0)), 0.0)
    return 2 * c / (-b - root)
