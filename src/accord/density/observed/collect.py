"""Collect from a traced model the sites whose observed values can be compared with their support."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ...distributions import AbstractDistribution
from ...distributions.constraint import Complex, Constraint, Independent, Real
from ...distributions.wrappers.family import family
from ...distributions.wrappers.wrappers import ExpandedDistribution, MaskedDistribution
from ...language import Site
from ...language.treatment import Computed
from ..checks import may_be_hidden


@dataclass(frozen=True)
class Claim:
    """A site whose observed values must lie in its support.

    **Fields**
    - `name`, `where`: the name of the site, and where its statement is. `distribution`: the name of its class.
    - `batch`: its batch shape.
    - `parts`: its value, support and masks, with None in the place of every array.
    """

    name: str
    where: str
    distribution: str
    batch: tuple[int, ...]
    parts: Any

    @property
    def num_arrays(self) -> int:
        """The number of arrays that belong to the parts."""
        return sum(leaf is None for leaf in jax.tree.leaves(self.parts, is_leaf=lambda leaf: leaf is None))


def claims_of(sites: Iterable[Site]) -> tuple[list[Claim], list[Any]]:
    """Find the sites of a model that observe values which their support may not have.

    Returns these sites, and the arrays that were taken out of their parts, in order.
    """
    claims: list[Claim] = []
    arrays: list[Any] = []
    for site in sites:
        distribution = site.distribution
        is_data = site.is_observed and not (site.is_intervened or isinstance(site.treatment, Computed))
        if distribution is None or not is_data or site.value is None or site.mask is False:
            continue
        support = distribution.support
        if isinstance(innermost(support), Real | Complex):
            continue
        written, masks = _unwrapped(distribution)
        if masks is None or _has_other_values(written):
            continue
        value = site.value if eqx.is_array(site.value) else np.asarray(site.value)
        masks = tuple(mask for mask in (*masks, site.mask) if mask is not None and mask is not True)
        taken, rest = eqx.partition((value, support, masks), eqx.is_array)
        claims.append(Claim(site.name, site.where, family(written), site.batch_shape, rest))
        arrays += jax.tree.leaves(taken)
    return claims, arrays


def innermost(support: Constraint) -> Constraint:
    """Return the support of single elements, of the support of arrays of them."""
    while isinstance(support, Independent):
        support = support.base
    return support


def _unwrapped(
    distribution: AbstractDistribution,
) -> tuple[AbstractDistribution, tuple[Any, ...] | None]:
    """Return the distribution that the user wrote, and the masks around it; None if they do not hide whole events."""
    found: list[Any] = []
    while isinstance(distribution, MaskedDistribution | ExpandedDistribution):
        if isinstance(distribution, MaskedDistribution):
            found.append(distribution.where)
        distribution = distribution.base
    hides = may_be_hidden(Site("sample", "", distribution))
    return distribution, None if hides else tuple(found)


def _has_other_values(distribution: AbstractDistribution) -> bool:
    """Return whether values outside of the support may have a density all the same.

    These are values of a component of a mixture with other bounds, and zero where a gamma distribution is exponential.
    """
    # Where all observations are real numbers, nothing has loaded these families.
    from ...distributions.mixtures.mixture_general import MixtureGeneral
    from ...distributions.univariate.interval.interval import is_one
    from ...distributions.univariate.positive.gamma import Gamma

    if isinstance(distribution, Gamma):
        return is_one(distribution.concentration)
    if not isinstance(distribution, MixtureGeneral) or distribution.constraint is not None:
        return False
    bounds = [jax.tree.leaves(component.support) for component in distribution.component_distributions]
    return any(each != bounds[0] for each in bounds) if _are_numbers(bounds) else True


def _are_numbers(bounds: list[list[Any]]) -> bool:
    return all(isinstance(bound, bool | int | float) for each in bounds for bound in each)
