"""Give values to latent sites, by maps from unconstrained numbers, and run a model with them.

With values chosen, a model is run for its sites.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax

from ..bijectors import AbstractBijector
from ..core.errors import SiteError
from ..distributions import constraints
from ..language import AbstractHandler, Model, Site
from ..language.choice import AbstractChoice, Chosen
from ..language.handlers.infer_config import map_of
from ..language.part import Settled
from ..language.treatment import Reparameterised


class SubsampledError(SiteError):
    """A plate of a log density takes a part of its entries at random."""


class Choose(AbstractHandler):
    """Let the density choose the value of each latent site, whatever seeds there are inside."""

    choice_of: Callable[[Site], AbstractChoice] = eqx.field(static=True)
    wanted: Mapping[str, Any] | None = None

    def process(self, site: Site) -> Site:
        """Name the chooser; only sites that have no value ask it.

        **Raises** `SiteError` where the model asks for random numbers: its log density is to be a function.
        """
        if site.kind == "key":
            raise SiteError(
                f"ac.prng_key {site.name!r} (at {site.where}): a log density has no random numbers, since it must be "
                "the same at every evaluation. Write what is random as `ac.sample`, or compute it outside of the model "
                "and pass it."
            )
        if site.kind == "subsample" and not isinstance(site.value, Settled):
            raise SubsampledError(
                f"plate {site.name!r} (at {site.where}) takes some of its entries at random. The log density of a "
                "posterior needs all entries: another part at each evaluation would give another posterior each "
                "time. Leave subsample_size out, and give `chunk=` where memory is short. Samplers that take parts, "
                "for draws that are nearly those of the posterior, are `infer.HMCECS()` and `infer.SGLD()`; "
                "`infer.fit` takes them too."
            )
        is_by_another = isinstance(site.treatment, Reparameterised)
        if self.wanted is not None and is_by_another and site.name in self.wanted:
            site = replace(site, wanted=self.wanted[site.name])
        if not site.is_latent:
            return site
        # A site that is sampled by way of another asks in the end only if it is not made for that.
        ask = (lambda _: Chosen(lambda s: self.choice_of(s)(s))) if is_by_another else self.choice_of
        return replace(site, choose=ask(site))


class Read(dict[str, Any]):
    """Constants whose numbers a model reads as they are, so that nothing has to be computed of them ahead."""


@contextlib.contextmanager
def concrete(constants: Mapping[str, Any]) -> Iterator[None]:
    """Compute at once whatever depends on constants alone; without any, or where they are `Read`, all is traced."""
    if not constants or isinstance(constants, Read):
        yield
        return
    with jax.ensure_compile_time_eval():
        yield


def sites_of(
    model: Model, choice_of: Callable[[Site], AbstractChoice], wanted: Mapping[str, Any] | None = None
) -> dict[str, Site]:
    """Run a model with values chosen for its latent sites; return the sites that are not hidden, settled.

    The parts that plates take are none of them.

    `wanted`: values of sites that are reparameterised; `choice_of` sees on their auxiliaries what follows from them.
    """
    _, sites = model.run(Choose(choice_of, wanted))
    return {name: site for name, site in sites.items() if not site.is_hidden and site.kind != "subsample"}


def bijector_of(site: Site) -> AbstractBijector:
    """Return the map from unconstrained numbers to the support of a latent site.

    **Raises** `SiteError` for a site on a sphere.
    """
    distribution = site.distribution
    assert distribution is not None
    support = distribution.support
    if (support.base if isinstance(support, constraints.independent) else support) == constraints.sphere:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): a latent site cannot be a direction, since no smooth one-to-one "
            "map of numbers covers a sphere. Give it a dist.ProjectedNormal, and sample the vector of which it is the "
            f'direction: `handlers.reparam(model, {{"{site.name}": reparam.ProjectedNormal()}})`.'
        )
    return map_of(site)


def unconstrained_shape(site: Site) -> tuple[int, ...]:
    """Return the shape of the unconstrained numbers of a latent site."""
    event = () if site.distribution is None else tuple(site.distribution.event_shape)
    return tuple(bijector_of(site).inverse_shape((*site.batch_shape, *event)))
