"""Give each unknown an independent normal, in unconstrained space."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from .... import distributions as dist
from ....distributions import biject_to, constraints
from ...handlers import seed
from ...primitives import param, sample
from ..initialization import init_to_uniform
from .base import AutoGuide


class AutoNormal(AutoGuide):
    """An independent normal for each unknown, with parameters `{site}_auto_loc` and `{site}_auto_scale`.

    **Arguments**: as of `AutoGuide`; `init_scale`, the first standard deviation. Plates of which the model takes a part
    of the entries have parameters for all.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        init_scale: float = 0.1,
        create_plates: Callable[..., Any] | None = None,
        forward_mode_differentiation: bool = False,
    ) -> None:
        super().__init__(
            model,
            prefix=prefix,
            init_loc_fn=init_loc_fn,
            create_plates=create_plates,
            forward_mode_differentiation=forward_mode_differentiation,
        )
        self.init_scale = init_scale

    def found(self) -> None:
        """See `AutoGuide.found`."""
        self._event_dims: dict[str, int] = {}
        for name, site in self.unknowns():
            event_dim = site["fn"].event_dim + jnp.ndim(self.init_locs[name]) - jnp.ndim(site["value"])
            self._event_dims[name] = event_dim
            self.init_locs[name] = self.whole(name, site, event_dim)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `AutoGuide.__call__`."""
        self.begin(*args, **kwargs)
        plates, found = self.plates(*args, **kwargs), {}
        for name, site in self.unknowns():
            event_dim, first = self._event_dims[name], self.init_locs[name]
            with contextlib.ExitStack() as entered:
                for frame in site["cond_indep_stack"]:
                    entered.enter_context(plates[frame.name])
                loc = param(f"{name}_{self.prefix}_loc", first, event_dim=event_dim)
                scale = param(
                    f"{name}_{self.prefix}_scale",
                    jnp.full(jnp.shape(first), self.init_scale),
                    constraint=constraints.softplus_positive,
                    event_dim=event_dim,
                )
                law: Any = dist.Normal(loc, scale)
                law = law.to_event(event_dim) if event_dim else law
                support = site["fn"].support
                if not _is_real(support):
                    law = dist.TransformedDistribution(law, biject_to(support), support=support)
                found[name] = sample(name, law)
        return found

    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """See `AutoGuide.sample_posterior`."""
        latent: dict[str, Any] = {}
        with seed(rng_seed=rng_key):
            for name in self.init_locs:
                law = self._law(name, params)
                latent[name] = sample(name, law.expand((*sample_shape, *law.batch_shape)))
        return self.constrained(latent)

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See `AutoGuide.median`."""
        return self.constrained({name: self._law(name, params).loc for name in self.init_locs})

    def quantiles(self, params: Mapping[str, Any], quantiles: Any) -> dict[str, Any]:
        """See `AutoGuide.quantiles`."""
        levels = jnp.asarray(quantiles)
        return self.constrained(
            {
                name: self._law(name, params).icdf(jnp.reshape(levels, (-1,) + (1,) * jnp.ndim(first)))
                for name, first in self.init_locs.items()
            }
        )

    def _law(self, name: str, params: Mapping[str, Any]) -> dist.Normal:
        return dist.Normal(params[f"{name}_{self.prefix}_loc"], params[f"{name}_{self.prefix}_scale"])


def _is_real(support: Any) -> bool:
    while isinstance(support, constraints.Independent):
        support = support.base
    return isinstance(support, constraints.Real)
