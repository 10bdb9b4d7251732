"""Define the ideal and robust soliton distributions: degrees of a fountain code's packets."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...special import log_of
from ..common.countable import AbstractFinite, known_bounds
from ..common.table_law import draw_from_table, log_prob_of_table


class Soliton(AbstractFinite):
    """Soliton distribution: how many of `size` symbols a fountain code's packet combines.

    With `spike` and `failure` it is the robust soliton distribution, without them the ideal one.

    **Fields**
    - `size`: number of symbols, a Python integer of at least 1.
    - `spike`: where the robust distribution has its second peak, a Python integer from 1 to `size`.
    - `failure`: bound on the probability that the chain breaks, in (0, 1).
    - `atol`: a Python number in [0, 1); numbers whose probability is at most this are left out, and the rest is
      renormalised.

    **Probability**: proportional to `rho(k) + tau(k)`, k = 1, ..., size: rho(1) = 1 / size, rho(k) = 1 / (k (k - 1));
    tau(k) = 1 / (k spike) for k < spike, log(size / (spike failure)) / spike at k = spike, and 0 above it.

    **Source**: Luby (2002), Proc. 43rd IEEE Symp. Found. Comput. Sci., 271-280; MacKay (2003), Information Theory,
    Inference, and Learning Algorithms, ch. 50.
    """

    size: int = eqx.field(static=True)
    spike: int | None = eqx.field(static=True, default=None)
    failure: Any = None
    atol: float = eqx.field(static=True, default=0.0)
    parameters: ClassVar[dict[str, Constraint]] = {"failure": constraints.open_interval(0.0, 1.0)}

    def __check_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise self.refuse(f"size is {self.size!r}", "Give a Python integer of at least 1.")
        if (self.spike is None) != (self.failure is None):
            missing = "spike" if self.spike is None else "failure"
            raise self.refuse(f"{missing} is missing", "Give spike and failure together, or neither.")
        if self.spike is not None and (type(self.spike) is not int or not 1 <= self.spike <= self.size):
            raise self.refuse(f"spike is {self.spike!r}", f"Give a Python integer from 1 to {self.size}.")
        if not 0 <= self.atol < 1:
            raise self.refuse(f"atol is {self.atol!r}", "Give a Python number from 0 to below 1.")

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(1, self.size)

    @property
    def mean(self) -> jax.Array:
        numbers, probs = self._table()
        return (probs * numbers).sum(axis=0)

    @property
    def variance(self) -> jax.Array:
        numbers, probs = self._table()
        return (probs * (numbers - self.mean[None]) ** 2).sum(axis=0)

    def log_prob(self, value: Any) -> jax.Array:
        return log_prob_of_table(value, self._log_table(), 1)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        index = draw_from_table(key, self._log_table(), sample_shape)
        return 1 + index.astype(jnp.result_type(int))

    def _bounds(self) -> tuple[int, int]:
        return known_bounds(self, 1, self.size)

    def _log_table(self) -> jax.Array:
        _, probs = self._table()
        return log_of(probs)

    def _table(self) -> tuple[jax.Array, jax.Array]:
        """Return all numbers and their probabilities."""
        self._bounds()
        shape, dtype = (-1,) + (1,) * len(self.batch_shape), self.dtype
        k = np.arange(1, self.size + 1)
        weights = np.append(1 / self.size, 1 / (k[1:] * (k[1:] - 1.0)))
        numbers = jnp.asarray(k, dtype).reshape(shape)
        if self.spike is None:
            probs = jnp.asarray(weights, dtype)
        else:
            weights = weights + np.where(k < self.spike, 1 / (k * float(self.spike)), 0.0)
            (failure,) = self._arrays("failure")
            peak = (math.log(self.size / self.spike) - jnp.log(failure)) / self.spike
            is_spike = (k == self.spike).reshape(shape)
            probs = jnp.asarray(weights, dtype).reshape(shape) + jnp.where(is_spike, peak[None], 0.0)
            probs = probs / (float(weights.sum()) + peak)[None]
        if self.atol > 0:
            probs = jnp.where(probs > self.atol, probs, 0.0)
            probs = probs / probs.sum(axis=0, keepdims=True)
        return numbers, probs
