"""Define Wallenius's noncentral hypergeometric distribution: successes in sequential weighted draws."""

from typing import Any

import jax
import jax.numpy as jnp

from ...special import log1m_exp, log_sum_exp, softplus
from ..common.table_law import log_prob_of_table
from ..hypergeometric import AbstractOddsHypergeometric

# The log of a zero probability; its sums and differences stay finite in both precisions.
_NOTHING = 1e30


class WalleniusHypergeometric(AbstractOddsHypergeometric):
    """Wallenius's noncentral hypergeometric distribution: successes among items drawn one by one by weight.

    Each item drawn changes the odds of the next. If the two counts are independent and only their sum is known, use
    Fisher's distribution, `NoncentralHypergeometric`. All probabilities are computed at once, item after item, in about
    `total_count` operations for each value.

    **Fields**
    - `num_successes`: successes in the population, a Python integer >= 0.
    - `num_failures`: failures in the population, a Python integer >= 0.
    - `total_count`: number of items drawn, a Python integer from 0 to `num_successes + num_failures`.
    - `odds`: weight of a success over the weight of a failure, > 0; 1 gives the hypergeometric distribution.

    **Probability**: `choose(a, k) choose(b, n - k)` times the integral over 0 < t < 1 of
    `(1 - t^(odds / d))^k (1 - t^(1 / d))^(n - k)`, d = odds (a - k) + b - (n - k); a = num_successes,
    b = num_failures, n = total_count.

    **Source**: Wallenius (1963), Biased Sampling; Fog (2008), Commun. Stat. Simul. Comput. 37(2), 241-257, whose
    recursion over the things taken this is.
    """

    def log_prob(self, value: Any) -> jax.Array:
        return log_prob_of_table(value, self._log_table(), self._bounds()[0])

    def _log_table(self) -> jax.Array:
        low, high = self._bounds()
        (odds,) = self._arrays("odds")
        log_odds = jnp.log(odds)[None]
        k = jnp.arange(high + 1, dtype=odds.dtype).reshape((-1,) + (1,) * odds.ndim)
        left = _log_count(self.num_successes - k)
        none = jnp.full((1, *odds.shape), -_NOTHING, odds.dtype)

        def take(log_table: jax.Array, taken: jax.Array) -> tuple[jax.Array, None]:
            logits = log_odds + left - _log_count(self.num_failures - taken + k)
            success, failure = log_table - softplus(-logits), log_table - softplus(logits)
            return jnp.logaddexp(failure, jnp.concatenate([none, success[:-1]])), None

        start = jnp.where(k == 0, 0.0, -_NOTHING)
        start = jnp.broadcast_to(start.astype(odds.dtype), (high + 1, *odds.shape))
        taken = jnp.arange(self.total_count, dtype=odds.dtype)
        found = jax.lax.scan(take, start, taken)[0][low:]
        # For an almost certain number, the probability of all others is the accurate one.
        is_likely = found > -0.5
        others = log_sum_exp(jnp.where(is_likely, -_NOTHING, found), axis=0)[None]
        return jnp.where(is_likely, log1m_exp(jnp.where(is_likely, jnp.minimum(others, 0.0), -1.0)), found)


def _log_count(count: jax.Array) -> jax.Array:
    """Return the log of the number of items left; a large negative number where none is left."""
    is_any = count > 0
    return jnp.where(is_any, jnp.log(jnp.where(is_any, count, 1.0)), -_NOTHING)
