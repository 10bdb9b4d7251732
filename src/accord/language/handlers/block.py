"""Hide sites of a model."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import equinox as eqx

from ...core.errors import OptionError, SiteError, suggest
from ...core.options import checks_options
from ..handler import AbstractHandler
from ..site import Site
from .handled import Target, put_on


@checks_options
def block(
    target: Target, *, hide: Collection[str] | None = None, expose: Collection[str] | None = None
) -> Target:
    """Hide sites from everything further out: those in `hide`, or all but those in `expose`, or all.

    A hidden latent site is not sampled by inference: it needs a seed inside of the block.

    **Raises** `OptionError` when both are given; (when the model runs) `SiteError` for an unknown name.

    **Example**

    >>> without = handlers.block(handlers.seed(eight_schools(sigma, y), 0), hide=["z"])
    >>> list(handlers.trace(without).get_trace())
    ['mu', 'tau', 'theta', 'y']
    """
    if hide is not None and expose is not None:
        raise OptionError("handlers.block takes hide or expose, not both.")
    for word, given in (("hide", hide), ("expose", expose)):
        if isinstance(given, str):
            raise OptionError(f"handlers.block: {word} is a collection of names; write {word}=[{given!r}].")
    if hide is not None:
        return put_on(target, Block(tuple(sorted(hide)), is_hiding=True))
    return put_on(target, Block(tuple(sorted(expose or ())), is_hiding=False))


class Block(AbstractHandler):
    """Hide sites from the handlers further out; plates and masks out there do not reach them either."""

    names: tuple[str, ...] = eqx.field(static=True)
    is_hiding: bool = eqx.field(static=True)  # the names are the ones to hide, rather than the ones to leave

    def process(self, site: Site) -> Site:
        """Hide the site if it is to be hidden."""
        return replace(site, is_hidden=True) if (site.name in self.names) == self.is_hiding else site

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not in the model."""
        for name in self.names:
            if name not in sites:
                raise SiteError(f"block: the model has no site {name!r}.{suggest(name, sites)}")
