"""See through wrappers that only repeat a distribution, join its axes, or leave entries out."""

import jax
import numpy as np

from ... import bijectors as b
from ...core.errors import DistributionError
from ...distributions import AbstractDistribution
from ...distributions.wrappers.entries import Entries
from ...distributions.wrappers.wrappers import ExpandedDistribution, Independent, MaskedDistribution
from .base import AbstractReparam, Parts


def parts_of(reparam: AbstractReparam, distribution: AbstractDistribution) -> Parts | None:
    """Return the parts of a distribution as a site has it; None where the site is to stay as it is.

    A mask has no part in the distribution of the auxiliary variable; `is_masked` tells of it.
    """
    found = _parts(reparam, distribution)
    return None if found is None else Parts(_over(found.auxiliary, distribution.batch_shape), found.way)


def is_masked(distribution: AbstractDistribution | None) -> bool:
    """Return whether the distribution leaves entries of its own out of the log density."""

    def is_mask(node: object) -> bool:
        return isinstance(node, MaskedDistribution)

    return any(map(is_mask, jax.tree.leaves(distribution, is_leaf=is_mask)))


def core_of(distribution: AbstractDistribution) -> AbstractDistribution:
    """Return what is inside of the wrappers."""
    while isinstance(distribution, (ExpandedDistribution, Independent, MaskedDistribution, Entries)):
        distribution = distribution.base
    return distribution


def _parts(reparam: AbstractReparam, distribution: AbstractDistribution) -> Parts | None:
    if reparam.takes_whole or not isinstance(
        distribution, (ExpandedDistribution, Independent, MaskedDistribution, Entries)
    ):
        return reparam.parts(distribution)
    found = _parts(reparam, distribution.base)
    if found is None:
        return None
    match distribution:
        case Independent(base=base, count=count):
            return Parts(
                _over(found.auxiliary, base.batch_shape).to_event(count), b.Independent(found.way, count)
            )
        case Entries(shape=shape, index=index):
            if found.way.domain_event_dim or found.way.codomain_event_dim:
                raise DistributionError(
                    f"some entries of a batch of {type(core_of(distribution)).__name__} cannot be taken from "
                    "another variable. Leave the site as it is."
                )
            way = jax.tree.map(distribution.take, found.way)
            return Parts(Entries(found.auxiliary, shape, index), way)
        case _:
            return Parts(_over(found.auxiliary, distribution.batch_shape), found.way)


def _over(distribution: AbstractDistribution, batch: tuple[int, ...]) -> AbstractDistribution:
    """Make a distribution over a batch shape, and return what its own adds to that."""
    own = distribution.batch_shape
    try:
        batch = np.broadcast_shapes(own, batch)
    except ValueError:
        raise DistributionError(
            f"its numbers have shape {own}, which does not fit the batch shape {batch}"
        ) from None
    return distribution if own == batch else distribution.expand(batch)
