"""Define the categorical distribution, and the uniform distribution of whole numbers."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_concrete
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..constraint import Independent as IndependentConstraint
from ..parameters import exactly_one
from ..special import log_of
from .common.countable import AbstractCountable, AbstractFinite, known_bounds
from .common.counts import select
from .common.softmax import log_softmax_at

_FEW = 16  # categories
_WHOLE = constraints.integer_interval(-np.inf, np.inf)


class Categorical(AbstractFinite):
    """Categorical distribution over `n` categories, numbered from 0; give exactly one of `probs` and `logits`.

    **Fields**
    - `probs`: probabilities, shape `(..., n)`, >= 0; they sum to one.
    - `logits`: logarithms of weights that need not sum to one, shape `(..., n)`.

    **Probability**: `probs[k]`, k = 0, ..., n - 1.

    **Source**: Murphy (2012), Machine Learning: A Probabilistic Perspective, section 2.3.2.
    """

    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.simplex,
        "logits": IndependentConstraint(constraints.real, 1),
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def num_categories(self) -> int:
        """The number of categories."""
        return np.shape(self.probs if self.logits is None else self.logits)[-1]

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.num_categories - 1)

    @property
    def mean(self) -> jax.Array:
        probs = jnp.exp(self.log_weights())
        return (probs * _ladder(probs)).sum(axis=-1)

    @property
    def variance(self) -> jax.Array:
        probs = jnp.exp(self.log_weights())
        spread = _ladder(probs) - jnp.expand_dims(self.mean, -1)
        return (probs * spread**2).sum(axis=-1)

    def log_weights(self) -> jax.Array:
        """Normalised log probabilities of the categories, shape `(..., n)`."""
        if self.logits is None:
            return log_of(jnp.asarray(self.probs, self.dtype))
        return _normalised(jnp.asarray(self.logits, self.dtype))

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        is_inside = (value >= 0) & (value < self.num_categories) & (value % 1 == 0)
        index = jnp.where(is_inside, value, 0).astype(jnp.int32)
        if self.logits is None:
            # Use only the observed category: log(0) of another would make the gradient NaN.
            log_prob = log_of(_take(jnp.asarray(self.probs, self.dtype), index))
        elif index.shape and index.shape == np.shape(self.logits)[:-1]:
            log_prob = log_softmax_at(jnp.asarray(self.logits, self.dtype), index)
        else:
            log_prob = _take(self.log_weights(), index)
        (x,) = align(value)
        return select(is_inside, log_prob, jnp.broadcast_to(x.astype(log_prob.dtype), log_prob.shape))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jax.random.categorical(
            key, self.log_weights(), axis=-1, shape=self._shape(sample_shape)
        ).astype(jnp.result_type(int))

    def _bounds(self) -> tuple[int, int]:
        return 0, self.num_categories - 1

    def _log_table(self) -> jax.Array:
        return jnp.moveaxis(self.log_weights(), -1, 0)


class DiscreteUniform(AbstractCountable):
    """Discrete uniform distribution: every whole number in a range has the same probability.

    **Fields**
    - `low`, `high`: the ends of the range, whole numbers, both included, `low <= high`.

    **Probability**: `1 / (high - low + 1)`, k = low, ..., high.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 6.10.1.
    """

    low: Any = 0
    high: Any = 1
    parameters: ClassVar[dict[str, Constraint]] = {"low": _WHOLE, "high": _WHOLE}

    def __check_init__(self) -> None:
        if is_concrete(self.low) and is_concrete(self.high) and (np.asarray(self.low) > self.high).any():
            raise self.refuse(
                f"low must not be above high, got low={self.low} and high={self.high}",
                "Check the order of the bounds.",
            )

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(self.low, self.high)

    @property
    def mean(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return low + 0.5 * (high - low)

    @property
    def variance(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        spread = high - low
        return spread * (spread + 2) / 12

    @property
    def mode(self) -> jax.Array:
        return self._arrays("low")[0]

    def log_prob(self, value: Any) -> jax.Array:
        k, low, count = self._aligned(value)
        is_inside = (k >= low) & (k < low + count) & (k % 1 == 0)
        return select(is_inside, -jnp.log(count), k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, integer = self._shape(sample_shape), jnp.result_type(int)
        low, high = (
            jnp.broadcast_to(jnp.asarray(end).astype(integer), shape) for end in (self.low, self.high)
        )
        return jax.random.randint(key, shape, low, high + 1, integer)

    def cdf(self, value: Any) -> jax.Array:
        k, low, count = self._aligned(value)
        return jnp.clip((jnp.floor(k) - low + 1) / count, 0.0, 1.0)

    def log_survival(self, value: Any) -> jax.Array:
        k, low, count = self._aligned(value)
        return log_of(jnp.clip((low + count - 1 - jnp.floor(k)) / count, 0.0, 1.0))

    def icdf(self, q: Any) -> jax.Array:
        q, low, count = self._aligned(q)
        # Rounding upwards must not pass over a value whose cdf is `q` to within rounding.
        slack = 16 * float(jnp.finfo(q.dtype).eps)
        steps = jnp.clip(jnp.ceil(q * count * (1 - slack)) - 1, 0.0, count - 1)
        return jnp.where((q >= 0) & (q <= 1), low + steps, jnp.nan)

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return jnp.log(high - low + 1)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        first, last = known_bounds(self, self.low, self.high)
        values = jnp.arange(first, last + 1).reshape((-1,) + (1,) * len(self.batch_shape))
        return jnp.broadcast_to(values, (values.shape[0], *self.batch_shape)) if expand else values

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, the lower end and the number of values."""
        k, low, high = align(value, self.low, self.high)
        k, low, high = jnp.broadcast_arrays(k, jnp.asarray(low, k.dtype), jnp.asarray(high, k.dtype))
        # The ends are whole numbers: they have no derivative.
        return k, *jax.lax.stop_gradient((low, high - low + 1))


def _normalised(logits: jax.Array) -> jax.Array:
    """Normalise log probabilities; derivatives stay accurate when one category is nearly certain."""
    fixed = jax.lax.stop_gradient(logits)
    top = fixed.argmax(axis=-1, keepdims=True)
    is_top = jax.lax.broadcasted_iota(top.dtype, logits.shape, logits.ndim - 1) == top
    most = jnp.take_along_axis(fixed, top, axis=-1)
    most = jnp.where(jnp.isfinite(most), most, 0.0)
    rest = jnp.where(is_top, 0.0, jnp.exp(fixed - most)).sum(axis=-1, keepdims=True)
    # A category more likely than all others together is the origin, so that nothing is subtracted from 1.
    is_ahead = rest < 1
    origin = jnp.where(is_ahead, jnp.take_along_axis(logits, top, axis=-1), most)
    above = jnp.where(is_top & is_ahead, 0.0, logits - origin)
    total = jnp.where(is_top, jnp.expm1(above), jnp.exp(above)).sum(axis=-1, keepdims=True)
    return above - jnp.log1p(total)


def _ladder(probs: jax.Array) -> jax.Array:
    """Return the numbers of the categories, broadcast to the shape of `probs`."""
    return jnp.broadcast_to(jnp.arange(probs.shape[-1], dtype=probs.dtype), probs.shape)


def _take(table: jax.Array, index: jax.Array) -> jax.Array:
    """Return table[..., index]; batch axes broadcast against those of `index`."""
    if table.ndim == 1:
        return table[index]
    shape = np.broadcast_shapes(table.shape[:-1], index.shape)
    if shape == table.shape[:-1] and table.shape[-1] <= _FEW:
        # A gradient by scattering takes longer than one of all categories, if they are few.
        is_here = jax.lax.broadcasted_iota(index.dtype, table.shape, table.ndim - 1) == index[..., None]
        return jnp.where(is_here, table, 0.0).sum(axis=-1)
    table = jnp.broadcast_to(table, (*shape, table.shape[-1]))
    index = jnp.broadcast_to(index, shape)
    return jnp.take_along_axis(table, jnp.expand_dims(index, -1), axis=-1).squeeze(-1)
