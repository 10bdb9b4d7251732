"""Draw from a model as it is written: unknowns from their priors, observations from their distributions.

A site's draw depends on the key and its name alone, as under `handlers.seed`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..core import precision as precision_scope
from ..core.errors import DistributionError, ModelError, SiteError
from ..distributions.wrappers.family import family
from ..language import AbstractHandler, Site
from ..language.choice import AbstractChoice, key_for_steps
from ..language.handlers.seed import Draw
from .latent import bijector_of, concrete
from .logdensity import LogDensity
from .program import ModelProgram
from .rows.row_files import in_memory
from .unknowns import Unknowns, joined

_ELSEWHERE = "Begin at `infer.from_uniform()` or `infer.from_values({...})`, which need no prior to draw from"


def simulate(density: LogDensity, key: jax.Array) -> dict[str, jax.Array]:
    """Draw the latent, deterministic and observed sites once, from the prior and the sampling distribution.

    Observed sites are drawn too, whole where some are masked, whatever data they have; sites set by `do` or
    `substitute` keep their values. Can be used under `jit` and `vmap`, in the scope of the density's precision.

    **Arguments**: `key`, a JAX random key.

    **Returns** a value for each such site in the model's order, in its dtype.

    **Raises** `SiteError` for a site without draws (a prior that is improper, or a distribution without `sample`), and
    for a factor, which gives no draws; `ModelError` for the density of a function.
    """
    program = _model_of(density)
    sites = _sites(density, key, has_data=False)
    kinds = ("latent", "whole", "deterministic", "observed")
    entries = [entry for entry in program.layout.sites if entry.kind in kinds]
    return {entry.name: jnp.asarray(sites[entry.name].value).astype(entry.dtype) for entry in entries}


def prior_position(density: LogDensity, key: jax.Array) -> Unknowns:
    """Draw the latent sites once from their priors; return the position.

    Observed sites keep their data, and factors have no say. A draw that rounds to the edge of its support has an
    infinite position. Can be used as `simulate`.

    **Raises** `SiteError` for a latent site without draws; `ModelError` for the density of a function.
    """
    layout = density.layout
    sites = _sites(density, key, has_data=True)
    dtype = precision_scope.float_dtype(density.program.precision)
    pieces = {
        entry.name: bijector_of(sites[entry.name]).inverse(sites[entry.name].value).astype(dtype)
        for entry in layout.entries
    }
    return joined(
        pieces | {entry.name: jnp.asarray(sites[entry.name].value) for entry in layout.whole}, layout
    )


class _Draw(AbstractHandler):
    """Draw sites, whatever seeds there are inside; the latent ones alone where there is data."""

    key: Any
    has_data: bool = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Say how to draw the site."""
        if site.kind == "factor" and not self.has_data:
            raise SiteError(
                f"factor {site.name!r} (at {site.where}): a factor is part of a density, and nothing can be drawn from "
                "it, so that this model cannot be simulated. Write it as `ac.sample` from a distribution."
            )
        if not (site.is_latent or (site.is_observed and not self.has_data)):
            return site
        return replace(site, value=None, choose=DrawOrSay(self.key, _ELSEWHERE))


class DrawOrSay(AbstractChoice):
    """Draw a value from the site's distribution; where that gives none, the error says what to do `elsewhere`."""

    key: Any
    elsewhere: str = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        return draw_or_say(site, Draw(self.key), self.elsewhere)

    def for_steps(self, length: int) -> "DrawOrSay":
        return DrawOrSay(key_for_steps(self.key, length), self.elsewhere)


def draw_or_say(site: Site, draw: Callable[[Site], Any], elsewhere: str) -> Any:
    """Return `draw(site)`; where the distribution gives no draws, the error says what to do.

    **Raises** `SiteError` where the site's distribution gives no draws, which says what to do `elsewhere`.
    """
    try:
        return draw(site)
    except (DistributionError, NotImplementedError) as error:
        remedy = f"{elsewhere}, or give it a distribution with `sample`."
        raise SiteError(
            f"site {site.name!r} (at {site.where}): {family(site.distribution)} gives no draws ({error}). {remedy}"
        ) from error


def _sites(density: LogDensity, key: jax.Array, *, has_data: bool) -> dict[str, Site]:
    program = _model_of(density)
    with precision_scope.scope(density.program.precision), concrete(program.constants):
        model = program.model(in_memory(density.data), jnp.result_type(float))
        _, sites = model.run(_Draw(key, has_data))
    return {name: site for name, site in sites.items() if not site.is_hidden}


def _model_of(density: LogDensity) -> ModelProgram:
    """Return the whole model of a density."""
    program = density.program.whole
    if program is None:
        raise ModelError(
            f"{density.program.name!r} is the log density of a function, or of a model that has been cut into blocks, "
            f"and has no prior to draw from. {_ELSEWHERE}; or take the whole model's."
        )
    return program
