"""Define the base class of mixtures: weighted sums of the components' densities and cdfs."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from ...core.errors import DistributionError
from ..base import AbstractDistribution
from ..discrete.categorical import Categorical
from ..discrete.common.countable import smallest
from ..parameters import without_gradient
from ..special import log_sum_exp, solve_increasing
from ..summary.counts import count_entropy_of
from ..summary.moments import entropy_of
from ..summary.peak import mode_of, whole_mode_of
from ..truncation.interval_support import ends


class AbstractMixture(AbstractDistribution):
    """Abstract base class of mixtures: a `Categorical` chooses the component to draw from."""

    mixing_distribution: Any
    has_smooth_mode: ClassVar[bool] = True

    @abstractmethod
    def _by_component(self, method: str, value: Any) -> jax.Array:
        """Evaluate a method of every component at `value`, with the components on the last axis."""

    @property
    def mode(self) -> jax.Array:
        self._refuse_events("mode")
        return whole_mode_of(self, self._knots()) if self.is_discrete else mode_of(self, self._knots())

    def entropy(self) -> jax.Array:
        self._refuse_events("entropy")
        return count_entropy_of(self, self._knots()) if self.is_discrete else entropy_of(self, self._knots())

    def log_prob(self, value: Any) -> jax.Array:
        return self._sum_of_logs("log_prob", jnp.asarray(value))

    def cdf(self, value: Any) -> jax.Array:
        shares = self._by_component("cdf", self._value(value, "cdf"))
        return (shares * ranked(jnp.exp(self._log_weights()).astype(shares.dtype), shares.ndim)).sum(axis=-1)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._sum_of_logs("log_cdf", self._value(value, "log_cdf"))

    def log_survival(self, value: Any) -> jax.Array:
        return self._sum_of_logs("log_survival", self._value(value, "log_survival"))

    def icdf(self, q: Any) -> jax.Array:
        q = self._value(q, "icdf")
        q = jnp.broadcast_to(q, np.broadcast_shapes(q.shape, self.batch_shape))
        is_inside = (q > 0) & (q < 1)
        level = jnp.where(is_inside, q, 0.5)
        lower, upper = (jnp.broadcast_to(jnp.asarray(end, q.dtype), q.shape) for end in ends(self.support))
        found = (
            self._whole_quantile(level, lower, upper)
            if self.is_discrete
            else self._quantile(level, lower, upper)
        )
        return jnp.where(is_inside, found, jnp.where(q == 0, lower, jnp.where(q == 1, upper, jnp.nan)))

    def _quantile(self, q: jax.Array, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Find the quantile of a continuous mixture, between those of its components where they have them."""
        try:
            quantiles = without_gradient(self)._by_component("icdf", jax.lax.stop_gradient(q)).astype(q.dtype)
            # Widen the bracket a little, so that rounding does not put the answer outside.
            low, high = quantiles.min(axis=-1), quantiles.max(axis=-1)
            margin = 64 * float(jnp.finfo(q.dtype).eps) * (jnp.abs(low) + jnp.abs(high))
            lower = jnp.maximum(lower, jnp.where(jnp.isnan(low), lower, low - margin))
            upper = jnp.minimum(upper, jnp.where(jnp.isnan(high), upper, high + margin))
        except DistributionError:
            pass
        is_above = q > 0.5
        target = jnp.where(is_above, -jnp.log1p(-jnp.where(is_above, q, 0.5)), jnp.log(q))

        def level(x: jax.Array) -> jax.Array:
            # The logarithm of the smaller share resolves both tails.
            return jnp.where(is_above, -self.log_survival(x), self.log_cdf(x))

        return solve_increasing(level, target, lower, upper)

    def _whole_quantile(self, q: jax.Array, lower: jax.Array, upper: jax.Array) -> jax.Array:
        """Find the quantile of a discrete mixture."""
        fixed = without_gradient(self)
        start = jnp.broadcast_to(fixed.mean, q.shape).astype(q.dtype)
        return smallest(fixed.cdf, jax.lax.stop_gradient(q), lower, upper, start)

    def _value(self, value: Any, what: str) -> jax.Array:
        """Convert the argument of a univariate mixture's method to floats."""
        self._refuse_events(what)
        return jnp.asarray(value, float_type(value, *jax.tree.leaves(self)))

    def _refuse_events(self, what: str) -> None:
        """Raise unless this is univariate."""
        if self.event_shape:
            raise self._undefined(what)

    def _sum_of_logs(self, method: str, value: jax.Array) -> jax.Array:
        """Compute the log of the weighted sum of terms that the components give as logarithms."""
        terms = self._by_component(method, value)
        log_weights = self._log_weights().astype(terms.dtype)
        rank = max(terms.ndim, log_weights.ndim)
        return log_sum_exp(ranked(terms, rank) + ranked(log_weights, rank))

    def _log_weights(self) -> jax.Array:
        """Return log mixing weights, shape `(..., n)`."""
        return self.mixing_distribution.log_weights()


def check_kinds(mixture: AbstractMixture, components: tuple[AbstractDistribution, ...]) -> None:
    """Raise `DistributionError` for a mix of discrete and continuous components, or invalid weights."""
    if not isinstance(mixture.mixing_distribution, Categorical) and not hasattr(
        mixture.mixing_distribution, "log_weights"
    ):
        raise mixture.refuse(
            f"mixing_distribution is a {type(mixture.mixing_distribution).__name__}", "Give a Categorical."
        )
    kinds = {component.is_discrete for component in components}
    if len(kinds) > 1:
        names = ", ".join(
            f"{type(component).__name__} ({'discrete' if component.is_discrete else 'continuous'})"
            for component in components
        )
        raise mixture.refuse(
            f"the components are {names}, and probabilities cannot be added to densities",
            "Mix distributions of one kind, or use a zero-inflated or hurdle distribution.",
        )


def ranked(array: jax.Array, rank: int) -> jax.Array:
    """Prepend axes of length 1."""
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


def pick(draws: jax.Array, index: jax.Array, event_dim: int) -> jax.Array:
    """Select the draws of component `index`; components are on the axis before the event."""
    where = jnp.expand_dims(index, tuple(range(index.ndim, index.ndim + 1 + event_dim)))
    return jnp.take_along_axis(draws, where, axis=-1 - event_dim).squeeze(-1 - event_dim)
