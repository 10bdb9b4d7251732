"""Give each unknown one value, its most probable one."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from .... import distributions as dist
from ...primitives import param, sample
from ..initialization import init_to_median
from ..predictive import Predictive
from .base import AutoGuide


class AutoDelta(AutoGuide):
    """One value for each unknown, the parameter `{site}_auto_loc`: fits find the mode, in the space of the sites.

    **Arguments**: as of `AutoGuide`.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_median,
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

    def found(self) -> None:
        """See `AutoGuide.found`."""
        values = self.constrained(self.init_locs)
        self.init_locs = {name: values[name] for name in self.init_locs}
        for name, site in self.unknowns():
            self.init_locs[name] = self.whole(name, site, site["fn"].event_dim)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `AutoGuide.__call__`."""
        self.begin(*args, **kwargs)
        plates, found = self.plates(*args, **kwargs), {}
        for name, site in self.unknowns():
            event_dim = site["fn"].event_dim
            with contextlib.ExitStack() as entered:
                for frame in site["cond_indep_stack"]:
                    entered.enter_context(plates[frame.name])
                loc = param(
                    f"{name}_{self.prefix}_loc",
                    self.init_locs[name],
                    constraint=site["fn"].support,
                    event_dim=event_dim,
                )
                found[name] = sample(name, dist.Delta(loc, event_dim=event_dim))
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
        values = {
            n: jnp.broadcast_to(v, (*sample_shape, *jnp.shape(v))) for n, v in self.median(params).items()
        }
        computed = [n for n, s in (self.prototype_trace or {}).items() if s["type"] == "deterministic"]
        if not computed:
            return values
        rest = Predictive(self.model, values, return_sites=computed, batch_ndims=len(sample_shape))
        return {**values, **rest(rng_key, *args, **kwargs)}

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See `AutoGuide.median`."""
        return {name: params[f"{name}_{self.prefix}_loc"] for name in self.init_locs}
