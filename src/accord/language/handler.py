"""State what a handler is, and record the sites of a run."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx

from ..core.errors import SiteError
from .loops.loop import Loop, LoopResult
from .site import Site


class AbstractHandler(eqx.Module):
    """A rule on the stack that changes the sites visited inside of it.

    **Class variables**
    - `renames`: whether sites have other names further out, where rules then know them by those.
    - `speaks_for_others`: whether it asks the handlers further out itself, so that the site does not go on to them.
    - `waives_checks`: whether those inside of it may name sites that are not there.
    """

    renames: ClassVar[bool] = False
    speaks_for_others: ClassVar[bool] = False
    waives_checks: ClassVar[bool] = False

    @abc.abstractmethod
    def process(self, site: Site) -> Site:
        """Return the site as the handlers further out shall see it."""

    def check(self, sites: Mapping[str, Site]) -> None:
        """Raise `SiteError` if the handler names a site that the function it was put on does not have."""
        del sites


class AbstractOpening(AbstractHandler):
    """A rule that visits a site of its own before the first statement of the function that it is put on."""

    @abc.abstractmethod
    def opening(self) -> Site:
        """Return that site, as a statement would make it."""

    @abc.abstractmethod
    def opened(self, site: Site) -> AbstractHandler:
        """Return the rule for the run of the function, from the site with its value."""


class AbstractLoopHandler(AbstractHandler):
    """A rule that runs the loops inside of it in a way of its own; sites it leaves alone.

    The innermost one around a loop runs it. Loops in a step of the loop are handed to it too.
    """

    @abc.abstractmethod
    def run(self, loop: Loop, default: Callable[[Loop], LoopResult]) -> LoopResult:
        """Return the results of a loop, whose sites have not been visited yet.

        **Arguments**: `default` runs a loop as the next such handler further out does, or else `jax.lax.scan`. In place
        of it, `Steps.of(loop)` gives the steps as a function of arrays. One of the two, once for a loop: both show its
        sites to the handlers around.
        """

    def process(self, site: Site) -> Site:
        """Leave the site as it is."""
        return site


class Recorder(AbstractHandler):
    """Keep every site in the order of visits, by the name that it has here.

    `sites` and `bound` belong to one run and are its only mutable parts; `bound` lists the models that were given data
    in it and have not been run yet, each with the place.
    """

    sites: dict[str, Site] = eqx.field(static=True)
    bound: "list[tuple[Any, str]]" = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Refuse a second site of the same name; `visit` stores the site once it is settled."""
        # A plate that is entered again takes the same part of its entries.
        is_again = (
            site.kind == "subsample" and site.name in self.sites and self.sites[site.name].kind == site.kind
        )
        if site.name in self.sites and not is_again:
            raise SiteError(
                f"site {site.name!r} is defined twice: at {self.sites[site.name].where} and at {site.where}. "
                "Names must be unique in a model; in a loop, put the index into the name or use a plate."
            )
        self.sites[site.name] = site
        return site
