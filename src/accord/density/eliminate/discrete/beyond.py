"""Estimate how probable values are beyond the one up to which a site is summed.

Let p and q be the probabilities of that value and of the one before it, given the other unknowns. Where the probability
is log-concave from there on, each further value has at most p / q times that of the one before it, so that all together
have at most p^2 / (q - p) for 1 of what is summed. This holds for Poisson and negative binomial counts of which a
binomial part is seen, and for many others; it is no bound where values beyond have a mode of their own.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ....distributions import constraint
from ....distributions.constraint.each_step import EachStep
from ....language import Site
from ...support import bounds_of


def shares_beyond(sites: Mapping[str, Site], probabilities: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
    """Return, by site, the share of probability that is left out, the largest of all entries, shape `()`.

    **Arguments**: `probabilities` of the values in the sum, shape `(*site, value)`.
    """
    return {name: _largest(sites[name], found) for name, found in probabilities.items()}


def share_beyond(at: jax.Array, before: jax.Array) -> jax.Array:
    """Return the largest share of values beyond one of probability `at`, where that of the one before it is `before`.

    It is 1 where probabilities do not fall, of which nothing can be said.
    """
    share = jnp.where(before > at, at**2 / (before - at + at**2), 1.0)
    return jnp.where(at > 0, share, 0.0)


def _largest(site: Site, probabilities: jax.Array) -> jax.Array:
    lower, upper = bounds_of(site)
    shape = probabilities.shape[:-1]
    last = _along(jnp.asarray(upper) - jnp.asarray(lower), site, shape)
    at, before = (
        jnp.take_along_axis(probabilities, jnp.maximum(number, 0)[..., None], axis=-1)[..., 0]
        for number in (last, last - 1)
    )
    share = share_beyond(at, jnp.where(last > 0, before, 0.0))
    return jnp.max(jnp.where(_along(_is_cut(site, upper), site, shape), share, 0.0), initial=0.0)


def _is_cut(site: Site, upper: Any) -> jax.Array:
    """Return which entries have values beyond the largest in the sum."""
    assert site.distribution is not None
    support = site.distribution.support
    support = support.base if isinstance(support, EachStep) else support
    if not isinstance(support, constraint.IntegerInterval):
        return jnp.ones((), bool)
    return jnp.asarray(support.upper) > jnp.asarray(upper)


def _along(ends: jax.Array, site: Site, shape: tuple[int, ...]) -> jax.Array:
    """Return ends of supports by entry; those of steps are alike for all that there is in one."""
    if site.steps and 0 < ends.ndim < len(shape):
        ends = ends.reshape(ends.shape + (1,) * (len(shape) - ends.ndim))
    return jnp.broadcast_to(ends, shape)
