"""Give a model random numbers of its own: keys, and random parts of its data."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import ModelError, SiteError
from ..core.options import checks_options, positive_count
from .interpreter import handlers_around, sites_so_far, visit
from .messages.places import caller
from .naming import check_text
from .plate import Plate
from .site import Site


@checks_options
def prng_key(name: str | None = None) -> jax.Array:
    """Return a JAX random key for the model's own use, where the model is drawn under `handlers.seed`.

    **Arguments**: `name`, unique in the model; the key depends on the seed and the name alone. Without one, keys are
    numbered by how many the model has asked for.

    **Raises** `SiteError` in a log density, which has to be the same at every evaluation, and where there is no seed.

    **Example**

    >>> @ac.model
    ... def simulated():
    ...     noise = jax.random.normal(ac.prng_key("noise"), (3,))
    ...     return ac.deterministic("x", noise)
    >>> handlers.seed(simulated(), 0)().shape
    (3,)
    """
    if name is None:
        name = f"prng_key_{sum(site.kind == 'key' for site in sites_so_far())}"
    if not isinstance(name, str) or not name:
        raise SiteError(
            f"ac.prng_key (at {caller()}): the name must be a string that is not empty, got {name!r}."
        )
    check_text(f"ac.prng_key (at {caller()}): the name", name, SiteError)
    return visit(Site("key", name, where=caller())).value


@checks_options
def subsample(data: Any, event_dim: int = 0) -> jax.Array:
    """Take the entries that the plates around the statement have drawn out of data for all entries.

    Data comes back as it is where no plate around has a `subsample_size`.

    **Arguments**
    - `data`: shape batch + event: along the dim of a plate with `subsample_size`, as long as the plate's `size`, or 1.
    - `event_dim`: how many of the last axes belong to one entry.

    **Raises** `SiteError` for data of another length; `ModelError` outside of a model.

    **Example**

    >>> @ac.model
    ... def minibatch(x, size):
    ...     with ac.plate("row", len(x), subsample_size=size):
    ...         return ac.subsample(x)
    >>> handlers.seed(minibatch(np.arange(1000.0), 5), 0)().shape
    (5,)
    """
    around = handlers_around()
    if not around:
        raise ModelError(f"ac.subsample was called outside of any model (at {caller()}).")
    event_dim, shape = positive_count("subsample: event_dim", event_dim, minimum=0), np.shape(data)
    for plate in around:
        if not isinstance(plate, Plate) or plate.index is None or plate.dim is None:
            continue
        axis = len(shape) - event_dim + plate.dim
        if axis >= 0 and shape[axis] == plate.whole:
            data = jnp.take(jnp.asarray(data), plate.index, axis=axis)
        elif axis < 0 or shape[axis] != 1:
            raise SiteError(
                f"ac.subsample (at {caller()}): the data has shape {shape}, with {event_dim} axes for one entry, but "
                f"the plate {plate.name!r} is over {plate.whole} entries at dim {plate.dim}. Give data for all of them."
            )
    return data
