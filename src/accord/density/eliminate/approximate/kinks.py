"""Verify that no density that changes with the integrated sites has a kink, where it has no second derivatives.

A mode often is at the kink of a density: for a prior by Laplace, wherever the data are weak. Newton's method finds no
mode there, and the log density would be -inf, so that a part of the posterior would be cut off.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .... import distributions as dist
from ....core.errors import SiteError
from ....language import Site
from ...program import ModelProgram
from ...rows.conditions import listed
from ..normal.groups import Groups
from ..normal.separation import sites_seen

_PEAKED = (dist.Laplace, dist.AsymmetricLaplace, dist.AsymmetricLaplaceQuantile)
_BY_POWER = (dist.GeneralizedNormal, dist.SkewedExponentialPower)
_SMOOTH = 2.0  # the least power of the distance from the peak that has two derivatives


def check_kinks(base: ModelProgram, groups: Groups, data: Mapping[str, Any]) -> None:
    """Raise `SiteError` where the distance of a value from a kink of its density depends on a site of the groups."""
    kinks: dict[str, str] = {}

    def distances(sites: Mapping[str, Site]) -> dict[str, jax.Array]:
        found = {}
        for name, site in sites.items():
            if site.is_intervened:
                continue
            peaked, others = _split(site.distribution)
            if peaked:
                kinks[name] = type(peaked[0]).__name__
                # What wraps a distribution, such as a bijector, may move its kinks.
                ends = [site.value, *(each.loc for each in peaked), *others]
                found |= {f"{name}/{i}": jnp.asarray(end) for i, end in enumerate(ends)}
        return found

    for key, seen in sites_seen(base, groups, data, distances).items():
        name = key.rpartition("/")[0]
        raise SiteError(
            f"handlers.collapse: site {name!r}: {kinks[name]} has a kink, where its density has no second derivatives; "
            f"a mode of {listed(seen)} may be there, and none would be found. Take dist.StudentT or another with two "
            f"derivatives, or sample {listed(seen)}: leave it out of `handlers.collapse`."
        )


def _split(distribution: Any) -> tuple[list[Any], list[Any]]:
    """List the distributions with kinks that a distribution is made of, and the parameters around them."""
    parts = jax.tree.leaves(distribution, is_leaf=_has_kink)
    return [part for part in parts if _has_kink(part)], [part for part in parts if not _has_kink(part)]


def _has_kink(part: Any) -> bool:
    if not isinstance(part, _BY_POWER):
        return isinstance(part, _PEAKED)
    # A power that is not known may be any.
    return isinstance(part.power, Tracer) or not np.all(np.asarray(part.power) >= _SMOOTH)
