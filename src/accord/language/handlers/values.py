"""Define the rules that give sites values, or take them away, one class for each.

The arrays in a rule are data like a model's arguments: new values compile nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import equinox as eqx

from ...core.errors import OptionError, SiteError, suggest
from ..handler import AbstractHandler
from ..shapes import as_array
from ..site import Site


class AbstractValues(AbstractHandler):
    """A rule that gives values to sample sites, by name."""

    values: eqx.AbstractVar[dict[str, Any]]
    word: ClassVar[str] = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Check that `values` maps names to numbers; lists become NumPy arrays, JAX arrays stay.

        **Raises** `OptionError` for anything else than a mapping; `DataError` for a value that is not numbers.
        """
        if not isinstance(values, Mapping):
            raise OptionError(
                f'{cls.word}: values must be a mapping from site names, like {{"x": 1.0}}; got {values!r}.'
            )
        return cls({str(name): as_array(value, name) for name, value in values.items()})

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model."""
        check_sampled(self.word, self.values, sites)


class Condition(AbstractValues):
    """Observe sites to have the given values."""

    values: dict[str, Any]
    word: ClassVar[str] = "condition"

    def process(self, site: Site) -> Site:
        """Set the value; it keeps its log density."""
        if site.kind != "sample" or site.name not in self.values or site.is_intervened:
            return site
        return replace(site, value=self.values[site.name], is_observed=True, obs_mask=None)


class Uncondition(AbstractHandler):
    """Make observed sites latent again; `names` of None are all."""

    names: tuple[str, ...] | None = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Take the value away, whether `obs=` gave it or a condition."""
        if not site.is_observed or (self.names is not None and site.name not in self.names):
            return site
        return replace(site, value=None, is_observed=False, obs_mask=None)

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model."""
        check_sampled("uncondition", self.names or (), sites)


class Do(AbstractValues):
    """Set sites by intervention."""

    values: dict[str, Any]
    word: ClassVar[str] = "do"

    def process(self, site: Site) -> Site:
        """Set the value; it loses its log density."""
        if site.kind != "sample" or site.name not in self.values:
            return site
        value = self.values[site.name]
        return replace(site, value=value, is_observed=False, is_intervened=True, obs_mask=None)


class Substitute(AbstractValues):
    """Fix the values of latent sites, as if they had been drawn."""

    values: dict[str, Any]
    word: ClassVar[str] = "substitute"

    def process(self, site: Site) -> Site:
        """Set the value of a latent site; an observed one is an error."""
        if site.kind != "sample" or site.name not in self.values:
            return site
        if site.is_observed:
            raise SiteError(
                f"substitute: site {site.name!r} (at {site.where}) is observed. Use `condition` to give another."
            )
        return replace(site, value=self.values[site.name])


class Replay(AbstractHandler):
    """Give latent sites the values they had in a trace; a site that the trace lacks is left as it is."""

    values: dict[str, Any]

    def process(self, site: Site) -> Site:
        """Set the value of a latent site."""
        return (
            replace(site, value=self.values[site.name])
            if site.is_latent and site.name in self.values
            else site
        )


def undone(handlers: Iterable[AbstractHandler], names: Collection[str] | None) -> tuple[AbstractHandler, ...]:
    """Return the handlers without the interventions on these sites, or on any.

    **Raises** `SiteError` for a name that is not among them.
    """
    handlers = tuple(handlers)
    known = {name: None for each in handlers if isinstance(each, Do) for name in each.values}
    taken = tuple(known) if names is None else names
    for name in taken:
        if name not in known:
            raise SiteError(
                f"undo: no `.do` has set {name!r} in this model.{suggest(name, known)} Set are "
                f"{', '.join(map(repr, known)) or 'none'}."
            )
    left: list[AbstractHandler] = []
    for each in handlers:
        if isinstance(each, Do):
            each = Do({name: value for name, value in each.values.items() if name not in taken})
            if not each.values:
                continue
        left.append(each)
    return tuple(left)


def check_sampled(word: str, names: Iterable[str], sites: Mapping[str, Site]) -> None:
    """Raise `SiteError` for a name that does not belong to a sample site."""
    sampled = [name for name, site in sites.items() if site.distribution is not None]
    for name in names:
        if name in sites and sites[name].distribution is None:
            raise SiteError(
                f"{word}: {name!r} is a {sites[name].kind} site (at {sites[name].where}), which has no distribution. "
                "Only sample sites take values; name the sites that it is computed from."
            )
        if name not in sites:
            known = (
                f"The sample sites are {', '.join(map(repr, sampled))}."
                if sampled
                else "It has no sample site."
            )
            raise SiteError(f"{word}: the model has no site {name!r}.{suggest(name, sampled)} {known}")


def names_of(word: str, names: Collection[str] | None) -> tuple[str, ...] | None:
    """Read names of sites, given as an option, sorted; None stays, and means all.

    **Raises** `OptionError` for one string in place of several.
    """
    if isinstance(names, str):
        raise OptionError(f"{word} takes a collection of names; write [{names!r}].")
    return None if names is None else tuple(sorted(names))
