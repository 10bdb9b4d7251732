"""Define distributions of shares with normal or logistic log odds."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_number
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...parameters import exactly_one
from ...special import logistic, softplus, solve_increasing
from ...summary.moments import average
from ..real.logistic import Logistic
from ..real.real_line import Normal


class AbstractThroughLogit(AbstractDistribution):
    """Abstract base class of distributions on (0, 1), given by the distribution of the log odds."""

    has_smooth_mode: ClassVar[bool] = True

    @property
    @abstractmethod
    def _log_odds(self) -> AbstractDistribution:
        """Return the distribution of log(x / (1 - x))."""

    @property
    def support(self) -> Constraint:
        return constraints.open_interval(0.0, 1.0)

    @property
    def mean(self) -> jax.Array:
        return self._average(logistic)

    @property
    def variance(self) -> jax.Array:
        # Use the rarer of the share and its complement, whose small values are not rounded off.
        is_high = self._log_odds.mean > 0

        def rarer(odds: jax.Array) -> jax.Array:
            return logistic(jnp.where(is_high[None], -odds, odds))

        mean = self._average(rarer)
        return self._average(lambda odds: (rarer(odds) - mean[None]) ** 2)

    def entropy(self) -> jax.Array:
        return self._log_odds.entropy() - self._average(lambda odds: softplus(odds) + softplus(-odds))

    def log_prob(self, value: Any) -> jax.Array:
        _, is_inside, log_x, log_rest = _logs(value)
        log_prob = self._log_odds.log_prob(log_x - log_rest)
        is_inside, log_prob, slope = align(is_inside, log_prob, log_x + log_rest)
        return jnp.where(is_inside == 0, -jnp.inf, log_prob - slope)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(logistic(self._log_odds.sample(key, sample_shape)), 0.0, 1.0)

    def cdf(self, value: Any) -> jax.Array:
        return self._at_log_odds("cdf", value, 0.0, 1.0)

    def icdf(self, q: Any) -> jax.Array:
        return logistic(self._log_odds.icdf(q))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._at_log_odds("log_cdf", value, -jnp.inf, 0.0)

    def log_survival(self, value: Any) -> jax.Array:
        return self._at_log_odds("log_survival", value, 0.0, -jnp.inf)

    def _average(self, of: Callable[[jax.Array], jax.Array]) -> jax.Array:
        """Return the expectation of a function of the log odds with a kink at 0 or exponential sides."""
        law = self._log_odds
        knots = law._knots()
        bends = np.arange(-37.5, 38.0, 1.5).astype(knots.dtype).reshape((-1,) + (1,) * (knots.ndim - 1))
        bends = jnp.broadcast_to(bends, (bends.shape[0], *knots.shape[1:]))
        # An exponential factor shifts the relevant range of a normal distribution by its variance.
        moved = jnp.clip(law.variance, 0.0, 700.0)[None]
        return average(law, jnp.concatenate([knots, knots - moved, knots + moved, bends]), of)

    def _at_log_odds(self, what: str, value: Any, below: float, above: float) -> jax.Array:
        """Evaluate a function of the log odds inside, and its limits below and above."""
        x, is_inside, log_x, log_rest = _logs(value)
        found = getattr(self._log_odds, what)(log_x - log_rest)
        x, is_inside, found = align(x, is_inside, found)
        return jnp.where(is_inside == 0, jnp.where(x < 0.5, below, above), found)


class LogitNormal(AbstractThroughLogit):
    """Logit-normal distribution on (0, 1): a share with normal log odds.

    **Fields**
    - `loc`: mean of the log odds, any real.
    - `scale`: standard deviation of the log odds, > 0.

    **Density**: `exp(-z^2 / 2) / (sqrt(2 pi) scale x (1 - x))`, z = (log(x / (1 - x)) - loc) / scale.

    **Source**: Atchison & Shen (1980), Biometrika 67, 261-272.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def mode(self) -> jax.Array:
        # At the log odds y of a peak, y = loc + scale^2 tanh(y / 2); the highest peak is on the side of `loc`.
        loc, scale = self._arrays("loc", "scale")
        is_above, far, square = loc > 0, jnp.abs(loc), scale * scale

        def fall(y: jax.Array) -> jax.Array:
            return y - far - square * jnp.tanh(0.5 * y)

        # The slope rises beyond the peak, so that Newton's method comes down to it from above.
        top = far + square
        peak = solve_increasing(fall, jnp.zeros_like(far), far, 2 * top + 1, top)
        return logistic(jnp.where(is_above, peak, -peak))

    @property
    def _log_odds(self) -> Normal:
        return Normal(self.loc, self.scale)


class AbstractRelaxed(AbstractThroughLogit):
    """Abstract base class of distributions on (0, 1) with logistic log odds."""

    temperature: eqx.AbstractVar[Any]

    @property
    def mode(self) -> jax.Array:
        # At the log odds y of a peak, T tanh(T (y - m) / 2) = tanh(y / 2), T the temperature, m the mean of y. It is
        # beyond m, where the right-hand side is between tanh(m / 2) and 1.
        law = self._log_odds
        loc, scale = law._arrays("loc", "scale")
        has_peak = scale < 1
        s = jnp.where(has_peak, scale, 0.5)
        far = jnp.abs(loc)

        def fall(y: jax.Array) -> jax.Array:
            return jnp.tanh((y - far) / (2 * s)) - s * jnp.tanh(0.5 * y)

        top = far + 2 * s * jnp.arctanh(s)
        peak = logistic(jnp.sign(loc) * solve_increasing(fall, jnp.zeros_like(far), far, top))
        # Below a temperature of 1 the density is unbounded at both ends. At 1 it rises to one of them, or is flat.
        return jnp.where(has_peak, peak, jnp.where(scale > 1, 0.0, jnp.nan))


class RelaxedBernoulliLogits(AbstractRelaxed):
    """Relaxed Bernoulli distribution on (0, 1) by `logits`: tends to Bernoulli as the temperature falls.

    **Fields**
    - `temperature`: > 0; draws are near 0 and 1 when it is small, near 1/2 when it is large.
    - `logits`: log odds of being above 1/2, any real.

    **Density**: the density of x whose log odds log(x / (1 - x)) are logistic about `logits / temperature` with scale
    1/temperature.

    **Source**: Maddison, Mnih & Teh (2017), The Concrete Distribution, ICLR, appendix B.
    """

    temperature: Any
    logits: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "temperature": constraints.positive,
        "logits": constraints.real,
    }

    @property
    def _log_odds(self) -> Logistic:
        _, temperature, logits = align(0.0, self.temperature, self.logits)
        return Logistic(logits / temperature, 1 / temperature)


class RelaxedBernoulli(AbstractRelaxed):
    """Relaxed Bernoulli distribution on (0, 1): tends to Bernoulli as the temperature falls; `probs` or `logits`.

    **Fields**
    - `temperature`: > 0; draws are near 0 and 1 when it is small, near 1/2 when it is large.
    - `probs`: probability of being above 1/2, in (0, 1).
    - `logits`: log odds of being above 1/2, any real.

    **Density**: the density of x whose log odds log(x / (1 - x)) are logistic about `logits / temperature` with scale
    1/temperature.

    **Source**: Maddison, Mnih & Teh (2017), The Concrete Distribution, ICLR, appendix B.
    """

    temperature: Any
    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "temperature": constraints.positive,
        "probs": constraints.open_interval(0.0, 1.0),
        "logits": constraints.real,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def _log_odds(self) -> Logistic:
        if self.logits is not None:
            _, temperature, logits = align(0.0, self.temperature, self.logits)
            return Logistic(logits / temperature, 1 / temperature)
        _, temperature, probs = align(0.0, self.temperature, self.probs)
        if is_number(probs):
            logits = math.log(probs) - math.log1p(-probs)
        else:
            logits = jnp.log(probs) - jnp.log1p(-probs)
        return Logistic(logits / temperature, 1 / temperature)


def _logs(value: Any) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return the value, whether it is inside (or NaN), and safe logs of x and 1 - x."""
    (x,) = align(value)
    is_inside = ~((x <= 0) | (x >= 1))
    safe = jnp.where(is_inside, x, 0.5)
    return x, is_inside, jnp.log(safe), jnp.log1p(-safe)
