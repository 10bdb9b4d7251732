"""Approximate a posterior by a normalising flow."""

from typing import Any, ClassVar

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

    >>> flow = infer.guides.Flow(layers=2)
    >>> infer.fit(eight_schools(sigma, y), flow, steps=200, until=None, quiet=True).guide.layers
    2
    """

    is_affine: ClassVar[bool] = True
    rate: ClassVar[float] = 1e-3  # larger steps of networks make the bound jump

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
        params: Params = {"loc": np.zeros(dim, dtype), "log_scale": np.zeros(dim, dtype)}
        if dim == 1:
            return params
        words: Any = np.asarray(key)
        own = jax.random.split(jax.random.wrap_key_data(words, impl="threefry2x32"), self.layers)
        each = [jax.tree.leaves(eqx.filter(self._coupling(one, dim), eqx.is_inexact_array)) for one in own]
        stacked = (np.stack(leaves) for leaves in zip(*each, strict=True))
        return params | {f"p{place}": np.asarray(leaf, dtype) for place, leaf in enumerate(stacked)}

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""

        def bend(carry: tuple[Array, Array], leaves: list[Array]) -> tuple[tuple[Array, Array], None]:
            bent, log_prob = carry
            bent, log_det = self._with(leaves, noise.size).forward_and_log_det(bent[::-1])
            return (bent, log_prob - log_det), None

        begin, leaves = (noise, standard_normal(noise)), _leaves(params)
        bent, log_prob = jax.lax.scan(bend, begin, leaves)[0] if leaves else begin
        position = params["loc"] + jnp.exp(params["log_scale"]) * bent
        return position, log_prob - jnp.sum(params["log_scale"])

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""

        def unbend(carry: tuple[Array, Array], leaves: list[Array]) -> tuple[tuple[Array, Array], None]:
            bent, log_prob = carry
            noise, log_det = self._with(leaves, position.size).inverse_and_log_det(bent)
            return (noise[::-1], log_prob + log_det), None

        bent = (position - params["loc"]) * jnp.exp(-params["log_scale"])
        begin, leaves = (bent, -jnp.sum(params["log_scale"])), _leaves(params)
        noise, log_prob = jax.lax.scan(unbend, begin, leaves, reverse=True)[0] if leaves else begin
        return log_prob + standard_normal(noise)

    def _with(self, leaves: list[Array], dim: int) -> Coupling:
        """Return a coupling with these numbers."""
        blank = eqx.filter_eval_shape(self._coupling, jax.random.key(0, impl="threefry2x32"), dim)
        numbers, rest = eqx.partition(blank, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        return eqx.combine(jax.tree.unflatten(jax.tree.structure(numbers), leaves), rest)

    def _coupling(self, key: Any, dim: int) -> Coupling:
        family = SplineFamily(self.pieces, float(self.bound))
        return Coupling.init(key, dim, dim // 2, family=family, hidden_dims=self.hidden, last_scale=0.01)


def _leaves(params: Params) -> list[Array]:
    """Return the numbers of the couplings, each of shape `(layer, ...)`; none for one unknown."""
    return [params[f"p{place}"] for place in range(len(params) - 2)]
