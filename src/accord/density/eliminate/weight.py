"""Find how often the integral over some sites counts, in a model whose plates take a part of their entries.

A plate weighs the log probabilities inside of it. What has to be weighed is the logarithm of an integral, not what is
integrated: a power of a density integrates to something else. That is possible where all that the sites enter is
inside of the same plates as they are; else the integral is one over all entries at once, of which a part says nothing.
"""

import math
from collections.abc import Mapping
from typing import Any

import jax

from ...core.errors import SiteError
from ...language import Site
from ...language.site import Frame
from ..program import ModelProgram
from ..reduction import term
from ..rows.conditions import listed
from .normal.groups import Groups
from .normal.separation import sites_seen


def weight_of(base: ModelProgram, groups: Groups, data: Mapping[str, Any]) -> float:
    """Return how many entries of the whole each entry in a part stands for; 1 where plates take all of theirs.

    **Raises** `SiteError` where log probabilities that depend on the sites are inside of other such plates.
    """
    plates: dict[str, tuple[Frame, ...]] = {}

    def terms(sites: Mapping[str, Site]) -> dict[str, jax.Array]:
        found = {}
        for name, site in sites.items():
            plates[name] = tuple(frame for frame in site.plates if frame.whole is not None)
            number = term(site)
            if number is not None:
                found[name] = number
        return found

    seen = sites_seen(base, groups, data, terms)
    first = groups.names[0]
    around = plates[first]
    for name, which in seen.items():
        if {frame.name for frame in plates[name]} != {frame.name for frame in around}:
            raise _split(name, which[0], plates)
    return math.prod(frame.whole / frame.size for frame in around if frame.whole is not None)


def _split(name: str, site: str, plates: Mapping[str, tuple[Frame, ...]]) -> SiteError:
    where = " and ".join(
        f"{each!r} in {listed([frame.name for frame in plates[each]]) if plates[each] else 'none'}"
        for each in dict.fromkeys((site, name))
    )
    return SiteError(
        f"handlers.collapse: {site!r} cannot be integrated out where plates take a part of their entries: log "
        f"probabilities that depend on it have to be in the same plates with a `subsample_size`, and they are {where}. "
        "Its integral needs all entries at once, and not a part of them. Leave the site out of `handlers.collapse`; or "
        "leave subsample_size out, and use infer.NUTS()."
    )
