"""Distribute shares of which the log odds are normal or logistic: logit-normal and relaxed Bernoulli."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align, is_number
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..noise import keep_inside
from ..parameters import exactly_one
from ..special import softplus
from ..special.smooth import logistic
from .entropy_quadrature import entropy_on_line
from .logistic import Logistic
from .real_line import Normal


class AbstractThroughLogit(AbstractDistribution):
    """The law of a share in (0, 1), given by the law of its log odds."""

    @property
    @abstractmethod
    def _log_odds(self) -> AbstractDistribution:
        """The law of log(x / (1 - x))."""

    @property
    def support(self) -> Constraint:
        return constraints.open_interval(0.0, 1.0)

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

    def _at_log_odds(self, what: str, value: Any, below: float, above: float) -> jax.Array:
        """A function of the log odds inside, and its limits below and above."""
        x, is_inside, log_x, log_rest = _logs(value)
        found = getattr(self._log_odds, what)(log_x - log_rest)
        x, is_inside, found = align(x, is_inside, found)
        return jnp.where(is_inside == 0, jnp.where(x < 0.5, below, above), found)


class LogitNormal(AbstractThroughLogit):
    """A share whose log odds are normal; it has no mean in closed form.

    **Fields**
    - `loc`: mean of the log odds, any real.
    - `scale`: standard deviation of the log odds, > 0.

    **Density**: `exp(-z^2 / 2) / (sqrt(2 pi) scale x (1 - x))`, z = (log(x / (1 - x)) - loc) / scale.

    **Source**: Atchison & Shen (1980), Biometrika 67, 261-272.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    def entropy(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        # The slope of the share by its log odds bends at 0, if that is within reach.
        is_bent = jnp.abs(loc) < 12 * scale
        start, detail = jnp.where(is_bent, 0.0, loc), jnp.where(is_bent, jnp.minimum(scale, 1.0), scale)
        far = 12 * scale + jnp.abs(loc - start)

        def log_slope(odds: jax.Array) -> jax.Array:
            return -softplus(odds) - softplus(-odds)

        def log_density(odds: jax.Array) -> jax.Array:
            return Normal(loc[None], scale[None]).log_prob(odds) - log_slope(odds)

        return entropy_on_line(log_density, start, detail, far, far, log_slope)

    @property
    def _log_odds(self) -> Normal:
        return Normal(self.loc, self.scale)


class RelaxedBernoulliLogits(AbstractThroughLogit):
    """A share that goes over into a Bernoulli variable as the temperature falls, with draws smooth in `logits`.

    **Fields**
    - `temperature`: > 0; draws are near 0 and 1 when it is small, near 1/2 when it is large.
    - `logits`: log odds of being above 1/2, any real.

    **Density**: that of x for which log(x / (1 - x)) is logistic about `logits / temperature` with scale 1/temperature.

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


class RelaxedBernoulli(AbstractThroughLogit):
    """A share that goes over into a Bernoulli variable as the temperature falls; give one of `probs` and `logits`.

    **Fields**
    - `temperature`: > 0; draws are near 0 and 1 when it is small, near 1/2 when it is large.
    - `probs`: probability of being above 1/2, in (0, 1).
    - `logits`: log odds of being above 1/2, any real.

    **Density**: that of x for which log(x / (1 - x)) is logistic about `logits / temperature` with scale 1/temperature.

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
    """The value, whether it is inside (or NaN), and the logs of x and 1 - x, made safe."""
    (x,) = align(value)
    is_inside = ~((x <= 0) | (x >= 1))
    safe = jnp.where(is_inside, x, 0.5)
    return x, is_inside, jnp.log(safe), jnp.log1p(-safe)
