"""Give a discrete site the values of its support, by their numbers: 0 is the smallest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import jax
import jax.numpy as jnp

from ..core.errors import SiteError
from ..distributions import constraint
from ..distributions.constraint.each_step import EachStep
from ..distributions.wrappers.entries import AbstractEntries
from ..distributions.wrappers.family import family
from ..language import Site
from ..language.choice import AbstractChoice, AbstractSeries
from ..language.treatment import Eliminated


class AllAt(AbstractChoice):
    """The same place in the support for all entries and steps; `index` has shape `()`."""

    index: Any

    def __call__(self, site: Site) -> Site:
        return replace(site, value=value_at(site, self.index))

    def for_steps(self, length: int) -> Self:
        """Give each step this place."""
        return replace(self, index=jnp.broadcast_to(self.index, (length, *jnp.shape(self.index))))


class EachAt(AbstractSeries):
    """A place in the support for each entry; `index` has the site's steps first, then its batch shape."""

    index: Any

    def __call__(self, site: Site) -> Site:
        return replace(site, value=value_at(site, self.index))


def first_value(site: Site) -> Site:
    """Give a site the smallest values of its support."""
    return replace(site, value=value_at(site, jnp.int32(0)))


def value_at(site: Site, index: Any) -> jax.Array:
    """Return values of the support, of the batch shape of a settled site; the largest where there are fewer."""
    lower, upper = bounds_of(site)
    value = jnp.minimum(jnp.asarray(lower) + index, jnp.asarray(upper))
    return jnp.broadcast_to(value.astype(jnp.int32), site.batch_shape)


def num_values(site: Site) -> jax.Array:
    """Count the values in the support of each entry, shape as its bounds."""
    lower, upper = bounds_of(site)
    return jnp.asarray(upper) - jnp.asarray(lower) + 1


def sampled(names: Sequence[str]) -> str:
    """Write the sampler that moves discrete sites which cannot be summed out, for a message."""
    key = repr(names[0]) if len(names) == 1 else repr(tuple(names))
    return f"`infer.Gibbs({{{key}: infer.DiscreteGibbs(), ...: infer.NUTS()}})`"


def is_discrete(site: Site) -> bool:
    """Return whether a latent site takes countably many values."""
    distribution = site.distribution
    if isinstance(distribution, AbstractEntries):
        return bool(distribution.base.is_discrete)
    return distribution is not None and bool(distribution.support.is_discrete)


def bounds_of(site: Site) -> tuple[Any, Any]:
    """Return the smallest and the largest value of a discrete site, numbers or arrays that fit its batch.

    **Raises** `SiteError` where there is no largest one, or where its values are no whole numbers.
    """
    distribution = site.distribution
    assert distribution is not None
    support = distribution.support
    if isinstance(support, EachStep):  # its bounds have the steps first
        support = support.base
    kind = family(distribution)
    upto = site.treatment.upto if isinstance(site.treatment, Eliminated) else None
    match support:
        case constraint.Boolean():
            return 0, 1
        case constraint.IntegerInterval():
            return support.lower, support.upper if upto is None else jnp.minimum(support.upper, upto)
        case constraint.IntegerGreaterThanOrEqual() if upto is not None:
            return support.lower, upto
        case constraint.IntegerGreaterThanOrEqual():
            reason = (
                f"{kind} has infinitely many values, and a sum over them has no end. Sum up to a value beyond "
                f"which none matters, as in `handlers.collapse(model, {{{site.name!r}: 100}})`, or sample it: "
                f"{sampled((site.name,))}"
            )
        case constraint.Independent():
            reason = (
                f"{kind} makes one event of several whole numbers, which would be summed over together. Write them as "
                "entries: in a plate, or without `.to_event`"
            )
        case _:
            reason = f"values of {kind} are no whole numbers in an interval, and only those are summed out"
    observed = (
        ""
        if not isinstance(distribution, AbstractEntries)
        else (
            " Where nothing else depends on missing values, leave them out: `with handlers.mask(mask=...):` around the "
            "site, in place of `obs_mask=`."
        )
    )
    raise SiteError(
        f"site {site.name!r} (at {site.where}) is latent and discrete, and such sites are summed out of a log density: "
        f"{reason}. If {site.name!r} is data, pass it: `obs=None` makes a site latent.{observed}"
    )
