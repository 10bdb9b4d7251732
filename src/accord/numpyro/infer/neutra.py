"""Draw all unknowns of a model by way of a normal vector that a fitted guide maps."""

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from ...core.errors import OptionError, SiteError
from ...distributions import AbstractDistribution, biject_to
from ..handlers import reparam
from ..messages import Message
from ..primitives import factor, get_mask, sample
from .autoguide import AutoContinuous
from .reparam_base import Reparam


class NeuTraReparam(Reparam):
    """Draw unknowns through the map of a fitted guide: `NeuTraReparam(guide, params).reparam(model)`.

    **Arguments**: `guide`, an `AutoContinuous` with a map; `params`, its fitted parameters.

    **Raises** `OptionError` for another guide.

    **Source**: Hoffman et al. (2019), "NeuTra-lizing bad geometry", arXiv:1903.03704.
    """

    def __init__(self, guide: AutoContinuous, params: Mapping[str, Any]) -> None:
        if not isinstance(guide, AutoContinuous) or guide.prototype_trace is None:
            raise OptionError(
                f"NeuTraReparam takes a fitted guide of one vector, such as `AutoBNAFNormal`, got {guide!r}."
            )
        self.guide, self.params = guide, params
        self.transform = guide.get_transform(params)
        self._latent: dict[str, Any] = {}

    def reparam(self, fn: Callable[..., Any] | None = None) -> reparam:
        """Return the model with all unknowns of the guide drawn through the map."""
        return reparam(fn, config=self._of_site)

    def _of_site(self, site: Message) -> "NeuTraReparam | None":
        known = (self.guide.prototype_trace or {}).get(site["name"])
        return self if known is not None and not known.get("is_observed") else None

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> tuple[None, Any]:
        """Return the value of a site, and count its density at the normal vector."""
        if obs is not None:
            raise SiteError(f"NeuTraReparam: site {name!r} is observed, and was an unknown of the guide.")
        density: Any = 0.0
        if name not in self._latent:
            plates = {n for n, s in (self.guide.prototype_trace or {}).items() if s["type"] == "plate"}
            normal = sample(
                f"{self.guide.prefix}_shared_latent",
                self.guide.get_base_dist().mask(False),
                infer={"block_plates": plates},
            )
            at, density = self.transform.bijector.forward_and_log_det(normal)
            self._latent = self.guide.unpacked(at)
        value, log_det = biject_to(fn.support).forward_and_log_det(self._latent.pop(name))
        if get_mask() is not False:
            extra = jnp.ndim(log_det) - (jnp.ndim(value) - fn.event_dim)
            log_det = jnp.sum(log_det, axis=tuple(range(-extra, 0))) if extra > 0 else log_det
            term = jnp.sum(fn.log_prob(value) + log_det) + density
            factor(f"_{name}_log_prob", term)
        return None, value

    def transform_sample(self, latent: Any) -> dict[str, Any]:
        """Map normal vectors, shape `(..., dim)`, to values of the sites."""
        return self.guide.constrained(self.guide.unpacked(self.transform(latent)))
