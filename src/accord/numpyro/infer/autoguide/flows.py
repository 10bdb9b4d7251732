"""Give all unknowns together a flow: a normal vector through networks."""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .... import bijectors
from .... import distributions as dist
from ....bijectors import AbstractBijector
from ....core.errors import ModelError
from ....distributions import constraints
from ...primitives import param
from ..initialization import init_to_uniform
from .continuous import AutoContinuous


class AbstractFlow(AutoContinuous):
    """A normal vector through `num_flows` maps, with the order of its entries turned around between them."""

    num_flows: int

    @abc.abstractmethod
    def network(self, key: Any, place: int) -> Any:
        """Draw the network of one map."""

    @abc.abstractmethod
    def flow(self, network: Any) -> AbstractBijector:
        """Return the map by a network."""

    def posterior(self) -> dist.TransformedDistribution:
        """See `AutoContinuous.posterior`."""
        if self.latent_dim == 1:
            raise ModelError(f"{type(self).__name__}: there is one unknown number. Use `AutoDiagonalNormal`.")
        parts: list[AbstractBijector] = []
        for i in range(self.num_flows):
            if i > 0:
                parts.append(bijectors.Permute(jnp.arange(self.latent_dim)[::-1]))

            def arrays(key: Any, i: int = i) -> Any:
                return eqx.filter(self.network(key, i), eqx.is_inexact_array)

            fitted = param(f"{self.prefix}_arn__{i}$params", arrays)
            # What of a network is not fitted is the same whatever the key.
            rest = eqx.filter(self.network(jax.random.key(0), i), eqx.is_inexact_array, inverse=True)
            parts.append(self.flow(eqx.combine(fitted, rest)))
        return dist.TransformedDistribution(self.get_base_dist(), parts, support=constraints.real_vector)


class AutoIAFNormal(AbstractFlow):
    """A flow by inverse autoregressive maps.

    **Arguments**: as of `AutoGuide`; `num_flows`; `hidden_dims`, units of hidden layers, None for two layers of as many
    as there are unknowns.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        num_flows: int = 3,
        hidden_dims: Sequence[int] | None = None,
        skip_connections: bool = False,
        nonlinearity: Any = None,
    ) -> None:
        super().__init__(model, prefix=prefix, init_loc_fn=init_loc_fn)
        del skip_connections, nonlinearity  # of NumPyro's networks
        self.num_flows, self.hidden_dims = num_flows, hidden_dims

    def network(self, key: Any, place: int) -> Any:
        """See `AbstractFlow.network`."""
        del place
        hidden = tuple(self.hidden_dims or (self.latent_dim, self.latent_dim))
        return bijectors.AutoregressiveNN.init(key, self.latent_dim, hidden)

    def flow(self, network: Any) -> AbstractBijector:
        """See `AbstractFlow.flow`."""
        return bijectors.InverseAutoregressive(network)


class AutoBNAFNormal(AbstractFlow):
    """A flow by block neural autoregressive maps.

    **Arguments**: as of `AutoGuide`; `num_flows`; `hidden_factors`, units of hidden layers for each unknown.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        num_flows: int = 1,
        hidden_factors: Sequence[int] = (8, 8),
    ) -> None:
        super().__init__(model, prefix=prefix, init_loc_fn=init_loc_fn)
        self.num_flows, self.hidden_factors = num_flows, tuple(hidden_factors)

    def network(self, key: Any, place: int) -> Any:
        """See `AbstractFlow.network`."""
        residual = "gated" if place < self.num_flows - 1 else None
        return bijectors.BlockNeuralAutoregressiveNN.init(key, self.latent_dim, self.hidden_factors, residual)

    def flow(self, network: Any) -> AbstractBijector:
        """See `AbstractFlow.flow`."""
        return bijectors.BlockNeuralAutoregressive(network)
