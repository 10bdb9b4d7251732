"""Approximate a posterior by a normalising flow."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..bijectors.flows.coupling import Coupling, SplineFamily
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from .base import AbstractGuide, Params, standard_normal


@checks_fields
class Flow(AbstractGuide):
    """A normalising flow: spline couplings of standard normal numbers, each with a network of its own.

    It bends: for posteriors that are no normal ones, such as funnels and bananas, at the price of thousands of steps.
    With one unknown, where there is nothing to couple, it is a `MeanField`.

    **Fields**
    - `layers`: the number of couplings, >= 1; the order of the unknowns is reversed between them.
    - `hidden`: widths of the hidden layers of each network.
    - `pieces`: of each spline, >= 2; `bound`: splines bend between -bound and bound, > 0, in units in which the
      posterior has spread 1, roughly.

    **Raises** `OptionError` for other values.

    **Source**: Rezende & Mohamed (2015), ICML; Durkan, Bekasov, Murray & Papamakarios (2019), "Neural spline flows",
    NeurIPS.

    **Example**

    >>> infer.fit(eight_schools(sigma, y), infer.guides.Flow(layers=2), steps=200, until=None, quiet=True).guide.layers
    2
    """

    layers: int = eqx.field(static=True, default=4, kw_only=True)
    hidden: tuple[int, ...] = eqx.field(static=True, default=(32, 32), kw_only=True)
    pieces: int = eqx.field(static=True, default=8, kw_only=True)
    bound: float = eqx.field(static=True, default=5.0, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("Flow: layers", self.layers)
        positive_count("Flow: pieces", self.pieces, 2)
        if not isinstance(self.hidden, tuple) or not self.hidden:
            raise OptionError(
                f"Flow: hidden must be a tuple of widths, such as (32, 32), got {self.hidden!r}."
            )
        for width in self.hidden:
            positive_count("Flow: each of hidden", width)
        if isinstance(self.bound, bool) or not isinstance(self.bound, int | float) or not self.bound > 0:
            raise OptionError(f"Flow: bound must be a number above 0, got {self.bound!r}.")

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: nearly the identity."""
        words: Any = np.asarray(key)
        made = self._couplings(jax.random.wrap_key_data(words, impl="threefry2x32"), dim)
        leaves = jax.tree.leaves(eqx.filter(made, eqx.is_inexact_array))
        bent = {f"p{place}": np.asarray(leaf, dtype) for place, leaf in enumerate(leaves)}
        return {"loc": np.zeros(dim, dtype), "log_scale": np.zeros(dim, dtype), **bent}

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        bent, log_prob = noise, standard_normal(noise)
        for coupling in self._with(params, noise.size):
            bent, log_det = coupling.forward_and_log_det(bent[::-1])
            log_prob = log_prob - log_det
        position = params["loc"] + jnp.exp(params["log_scale"]) * bent
        return position, log_prob - jnp.sum(params["log_scale"])

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        noise = (position - params["loc"]) * jnp.exp(-params["log_scale"])
        log_prob = -jnp.sum(params["log_scale"])
        for coupling in reversed(self._with(params, position.size)):
            noise, log_det = coupling.inverse_and_log_det(noise)
            noise, log_prob = noise[::-1], log_prob + log_det
        return log_prob + standard_normal(noise)

    def _with(self, params: Params, dim: int) -> tuple[Coupling, ...]:
        """Return the couplings with these parameters."""
        blank = eqx.filter_eval_shape(self._couplings, jax.random.key(0, impl="threefry2x32"), dim)
        numbers, rest = eqx.partition(blank, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        structure = jax.tree.structure(numbers)
        leaves = [params[f"p{place}"] for place in range(structure.num_leaves)]
        return eqx.combine(jax.tree.unflatten(structure, leaves), rest)

    def _couplings(self, key: Any, dim: int) -> tuple[Coupling, ...]:
        if dim == 1:
            return ()
        family = SplineFamily(self.pieces, float(self.bound))
        return tuple(
            Coupling.init(own, dim, dim // 2, family=family, hidden_dims=self.hidden, last_scale=0.01)
            for own in jax.random.split(key, self.layers)
        )
