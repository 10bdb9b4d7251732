"""Draw the entries of a site by their labels: some of them, or all.

The random numbers of an entry are a function of the key, the site's name and the entry's labels. So they are the same
in whatever order the labels stand, and whatever other labels are there. (Where parameters differ between labels and
have axes of their own, as in vectors and mixtures, they are a function of the entry's place.)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from ...distributions import AbstractDistribution
from ...distributions.wrappers.entries import AbstractEntries
from ...distributions.wrappers.wrappers import ExpandedDistribution
from ...language import Site
from ...language.choice import AbstractChoice, key_for_steps
from ...language.handlers.seed import Draw, key_of_site
from ...language.treatment import Parameter
from ..simulate import draw_or_say

_ARRAYS = (jax.Array, np.ndarray)


class DrawNew(AbstractChoice):
    """Draw the entries of a site that draws do not hold; the others have their values.

    **Fields**
    - `key`: of the draw. `elsewhere`: what to do where the distribution gives no draws.
    - `value`: shape of the site, and `is_known`, which of its entries are to be kept; with the steps of scans in front.
    - `words`: by batch axis, counted from the right, two words for each label, shape `(label, 2)`.
    """

    key: Any
    value: Any
    is_known: Any
    words: dict[int, Any]
    elsewhere: str = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        drawn = draw_or_say(site, lambda site: _drawn(site, self.key, self.words), self.elsewhere)
        value = jnp.where(self.is_known, jnp.asarray(self.value, drawn.dtype), drawn)
        return replace(site, value=value)

    def for_steps(self, length: int) -> "DrawNew":
        words = {axis: jnp.broadcast_to(each, (length, *np.shape(each))) for axis, each in self.words.items()}
        return DrawNew(key_for_steps(self.key, length), self.value, self.is_known, words, self.elsewhere)


def _drawn(site: Site, key: Any, words: Mapping[int, Any]) -> Any:
    """Draw a value of the whole site."""
    distribution, batch = site.distribution, site.batch_shape
    while isinstance(distribution, ExpandedDistribution):
        distribution = distribution.base
    if distribution is None or isinstance(site.role, Parameter):
        return Draw(key)(site).value
    axes = sorted(words)
    keys = _keys(key_of_site(key, site.name), [words[axis] for axis in axes])
    others = tuple(1 if i - len(batch) in words else size for i, size in enumerate(batch))
    own = distribution.batch_shape
    if all(-axis > len(own) or own[axis] == 1 for axis in axes):  # one distribution for all labels
        drawn = jax.vmap(lambda key: distribution.expand(others).sample(key))(keys)
    else:
        arrays, rest = eqx.partition(distribution, lambda leaf: isinstance(leaf, _ARRAYS))
        if not _is_of_numbers(distribution, batch):
            return Draw(key)(site).value
        each = jax.tree.map(lambda array: _by_label(array, batch, axes, others), arrays)

        def of_label(one: Any, key: Any) -> Any:
            return eqx.combine(one, rest).expand(others).sample(key)

        drawn = jax.vmap(of_label)(each, keys)
    sizes = tuple(len(words[axis]) for axis in axes)
    apart = tuple(size for i, size in enumerate(batch) if i - len(batch) not in words)
    drawn = drawn.reshape(*sizes, *apart, *distribution.event_shape)
    return jnp.moveaxis(drawn, range(len(axes)), [axis + len(batch) for axis in axes])


def _keys(key: Any, words: list[Any]) -> Any:
    """Derive one key for each combination of labels, in row-major order."""
    keys = key[None]
    for each in words:

        def of_label(key: Any, pair: Any) -> Any:
            return jax.random.fold_in(jax.random.fold_in(key, pair[0]), pair[1])

        labels = jnp.asarray(each)
        keys = jax.vmap(lambda key, labels=labels: jax.vmap(lambda pair: of_label(key, pair))(labels))(keys)
        keys = keys.reshape(-1)
    return keys


def _is_of_numbers(distribution: AbstractDistribution, batch: tuple[int, ...]) -> bool:
    """Return whether all arrays of a distribution have just the axes of its batch, so that entries can be taken."""
    if distribution.event_shape or isinstance(distribution, AbstractEntries):
        return False
    arrays = [leaf for leaf in jax.tree.leaves(distribution) if isinstance(leaf, _ARRAYS)]
    try:
        if any(np.broadcast_shapes(array.shape, batch) != batch for array in arrays):
            return False
        ones = jax.tree.map(
            lambda leaf: leaf[(0,) * leaf.ndim] if isinstance(leaf, _ARRAYS) else leaf, distribution
        )
        return ones.batch_shape == () and ones.event_shape == ()
    except (ValueError, TypeError, DistributionError):
        return False


def _by_label(array: Any, batch: tuple[int, ...], axes: list[int], others: tuple[int, ...]) -> Any:
    """Take the entries of each label: shape `(label, *others)`."""
    whole = jnp.moveaxis(
        jnp.broadcast_to(array, batch), [axis + len(batch) for axis in axes], range(len(axes))
    )
    return whole.reshape(-1, *others)
