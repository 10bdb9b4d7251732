"""Check, before any step, that a guide draws what the model leaves unknown."""

from collections.abc import Collection, Mapping
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ...core.errors import ModelError, SiteError, suggest
from ...density import Layout
from ...density.support import is_discrete
from ...distributions import constraint as kinds
from ...distributions.constraint.each_step import EachStep
from ...distributions.pathwise import is_pathwise
from ...distributions.wrappers.family import family
from ...language import Site
from ...language.treatment import Parameter

Sites = Mapping[str, Site]


def latents_of(sites: Sites, layout: Layout) -> tuple[str, ...]:
    """Return the unknowns of a model that a guide is to draw: all but parameters and what is summed out."""
    return tuple(entry.name for entry in layout.unknowns if not isinstance(sites[entry.name].role, Parameter))


def drawn_in(sites: Sites) -> tuple[str, ...]:
    """Return the names of the sites that a guide draws."""
    return tuple(name for name, site in sites.items() if _is_drawn(site))


def pinned_in(own: Sites) -> tuple[str, ...]:
    """Return the names of the sites that a guide holds at a point."""
    drawn = (site for site in own.values() if _is_drawn(site))
    return tuple(site.name for site in drawn if family(site.distribution) == "Delta")


def scored_in(sites: Sites) -> tuple[str, ...]:
    """Return those of which draws do not move smoothly with the parameters, so that their scores are taken."""
    return tuple(
        name
        for name in drawn_in(sites)
        if (own := sites[name].distribution) is not None
        and (is_discrete(sites[name]) or not is_pathwise(own))
    )


def check_guide(guide: str, model: str, own: Sites, theirs: Sites, layout: Layout) -> None:
    """Compare the sites of a guide, `own`, with those of the model, `theirs`.

    **Raises** `SiteError` for a site that one has and the other lacks, and for another shape, plate or support;
    `ModelError` where nothing is to be fitted.
    """
    latents = latents_of(theirs, layout)
    drawn = [site for site in own.values() if _is_drawn(site)]
    for site in own.values():
        if site.is_observed or site.kind == "factor":
            what = "is observed" if site.is_observed else "is a factor"
            raise SiteError(
                f"site {site.name!r} (at {site.where}) {what} in the guide {guide!r}, which is a distribution of the "
                f"unknowns alone. Move it to the model {model!r}."
            )
        if isinstance(site.role, Parameter) and site.name in theirs:
            raise SiteError(
                f"param {site.name!r} (at {site.where}) of the guide {guide!r} has the name of a site of the model "
                f"{model!r}. Rename one of them."
            )
    for site in drawn:
        if site.name not in latents:
            raise SiteError(
                f"site {site.name!r} (at {site.where}) of the guide {guide!r} is no unknown of the model {model!r}: "
                f"{_why_not(site.name, theirs, layout, latents)}"
            )
    names = {site.name for site in drawn}
    missing = [name for name in latents if name not in names]
    if missing:
        first = missing[0]
        raise SiteError(
            f"the guide {guide!r} does not draw {', '.join(map(repr, missing))}, unknown in the model {model!r} (at "
            f"{theirs[first].where}).{suggest(first, [s.name for s in drawn])} Write "
            f"`ac.sample({first!r}, ...)` in it; the value of `ac.param` goes there as `dist.Delta(...)`."
        )
    for site in drawn:
        _check_alike(guide, model, site, theirs[site.name])
        _check_unweighted(guide, site, theirs[site.name])
    if not any(isinstance(site.role, Parameter) for site in (*own.values(), *theirs.values())):
        raise ModelError(
            f"neither the guide {guide!r} nor the model {model!r} has a parameter, so that there is nothing to fit. "
            "Write `ac.param` or `ac.module` in the guide."
        )


def check_parts(
    guide: str, own: Sites, theirs: Sites, own_part: Sites, their_part: Sites, latents: Collection[str]
) -> None:
    """Compare which sites of a guide and a model have a part of their entries at a step.

    **Raises** `SiteError` where they differ, and for a parameter that a part would have some of.
    """
    for sites, part in ((own, own_part), (theirs, their_part)):
        for name, site in sites.items():
            plates = parted(site, part[name])
            if plates and isinstance(site.role, Parameter):
                raise SiteError(
                    f"param {name!r} (at {site.where}) is inside of the plate {plates[0]!r}, which has a "
                    "`subsample_size`. Put it before the plate, with an entry for each copy, and take those of a part "
                    f"by `ac.subsample({name})`."
                )
    for name in latents:
        mine, other = parted(own[name], own_part[name]), parted(theirs[name], their_part[name])
        of_part = _shape(own_part[name]), _shape(their_part[name])
        if mine != other or of_part[0] != of_part[1]:
            raise SiteError(
                f"site {name!r} (at {own[name].where}): a part of it has shape {of_part[0]} in the guide {guide!r} "
                f"({_listed(mine)}) and {of_part[1]} in the model ({_listed(other)}). Both need the same plate, of one "
                "name, size and subsample_size."
            )


def parted(site: Site, part: Site) -> tuple[str, ...]:
    """Return the names of the plates around a site of which a part has fewer entries."""
    sizes = {frame.name: frame.size for frame in part.plates}
    return tuple(sorted(frame.name for frame in site.plates if sizes.get(frame.name) != frame.size))


def _listed(plates: tuple[str, ...]) -> str:
    return f"by the plate {', '.join(map(repr, plates))}" if plates else "with all entries"


def _is_drawn(site: Site) -> bool:
    return site.kind == "sample" and not (
        site.is_observed or site.is_intervened or isinstance(site.role, Parameter)
    )


def _why_not(name: str, theirs: Sites, layout: Layout, latents: Collection[str]) -> str:
    if name in layout.collapsed:
        return "there it is summed out, exactly. Leave it out of the guide."
    if name not in theirs:
        return f"there is none of this name.{suggest(name, latents)} It has {', '.join(map(repr, latents)) or 'none'}."
    site = theirs[name]
    if site.is_observed:
        return "there it is observed. Call the model without its data, or leave it out of the guide."
    if isinstance(site.role, Parameter):
        return "there it is a parameter, which is fitted without a distribution. Leave it out of the guide."
    return "there it follows from other sites. Leave it out of the guide."


def _check_alike(guide: str, model: str, own: Site, theirs: Site) -> None:
    assert own.distribution is not None
    assert theirs.distribution is not None
    head = f"site {own.name!r} (at {own.where})"
    if is_discrete(own) != is_discrete(theirs):
        kinds_of = [f"{'whole' if is_discrete(site) else 'real'} numbers" for site in (own, theirs)]
        raise SiteError(
            f"{head}: {family(own.distribution)} in the guide {guide!r} draws {kinds_of[0]}, and "
            f"{family(theirs.distribution)} in the model {model!r} has {kinds_of[1]}. Take a distribution of the same "
            "kind."
        )
    if not (is_discrete(own) or is_pathwise(own.distribution) or _is_fixed(own.distribution.support)):
        raise SiteError(
            f"{head}: the support of {family(own.distribution)} depends on parameters or data, and where its ends move "
            "no mean over its draws can be differentiated by them. Take a distribution on a fixed support, such as "
            "Normal, LogNormal, Gamma, Beta or Dirichlet, or a transformed one of these."
        )
    if _shape(own) != _shape(theirs):
        mine, others = _plates(own), _plates(theirs)
        raise SiteError(
            f"{head}: it has shape {_shape(own)} in the guide {guide!r}{mine}, and {_shape(theirs)} in the model "
            f"{model!r}{others}. Give both the same plates and events."
        )
    if not is_inside(own, theirs):
        raise SiteError(
            f"{head}: {family(own.distribution)} in the guide {guide!r} may draw values outside of the support of "
            f"{family(theirs.distribution)} in the model {model!r}, where they must be "
            f"{_support(theirs).describe()}. The bound would be -inf: take a distribution on that support."
        )


def _check_unweighted(guide: str, own: Site, theirs: Site) -> None:
    weighted = "scaled" if own.scale is not None else "masked" if own.mask is not None else ""
    if own.scale is not None or (own.mask is not None and theirs.mask is None):
        raise SiteError(
            f"site {own.name!r} (at {own.where}) is {weighted} in the guide {guide!r}, so that its density would not "
            f"be that of its draws. Leave `handlers.{'scale' if own.scale is not None else 'mask'}` out of the guide."
        )


def _is_fixed(support: Any) -> bool:
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(support))


def _plates(site: Site) -> str:
    sizes = ", ".join(f"{frame.name!r} of size {frame.size}" for frame in site.plates)
    return f" (in plate {sizes})" if sizes else ""


def _shape(site: Site) -> tuple[int, ...]:
    return tuple(np.shape(site.value))


def _support(site: Site) -> Any:
    """Return the constraint of each number or smallest event."""
    assert site.distribution is not None
    support = site.distribution.support
    while isinstance(support, kinds.Independent | EachStep):
        support = support.base
    return support


def is_inside(own: Site, theirs: Site) -> bool:
    """Return whether values of one site are values of the other, as far as that can be told without data."""
    if family(own.distribution) == "Delta":
        return True
    narrow, wide = _support(own), _support(theirs)
    one, other = _limits(narrow), _limits(wide)
    if one is None or other is None:
        return type(narrow) is type(wide) or issubclass(type(narrow), type(wide))
    pairs = ((one[0], other[0]), (other[1], one[1]))
    known = [pair for pair in pairs if not any(isinstance(bound, Tracer) for bound in pair)]
    return all(bool(np.all(np.asarray(high) >= np.asarray(low))) for high, low in known)


def _limits(support: Any) -> tuple[Any, Any] | None:
    """Return the least and the largest of an interval, tracers where they depend on data; None for other sets."""
    if isinstance(support, kinds.Real):
        return -np.inf, np.inf
    if isinstance(support, kinds.Boolean):
        return 0, 1
    is_interval = (
        kinds.GreaterThan
        | kinds.GreaterThanOrEqual
        | kinds.LessThan
        | kinds.LessThanOrEqual
        | kinds.Interval
        | kinds.OpenInterval
        | kinds.IntegerGreaterThanOrEqual
        | kinds.IntegerInterval
    )
    if not isinstance(support, is_interval):
        return None
    return getattr(support, "lower", -np.inf), getattr(support, "upper", np.inf)
