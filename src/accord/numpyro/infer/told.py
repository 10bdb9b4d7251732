"""Say where a program means something else than its author may think: what NumPyro takes without a word."""

from collections.abc import Iterator, Mapping

import jax.numpy as jnp
import numpy as np

from ...core.notice import Notice
from ..messages import Message
from ..plates import plate_shape


def notices_of(sites: Mapping[str, Message]) -> tuple[Notice, ...]:
    """Return the notices of a trace of a program that is to be sampled by chains."""
    return tuple(_found(sites))


def _found(sites: Mapping[str, Message]) -> Iterator[Notice]:
    for name, site in sites.items():
        if site["type"] == "sample" and site["is_observed"]:
            yield from _broadcast(name, site)
    fixed = [name for name, site in sites.items() if site["type"] == "param"]
    if fixed:
        yield Notice(
            "warning",
            "numpyro_param",
            f"{', '.join(map(repr, fixed))} declared by `numpyro.param` stay at their first values: chains do not move "
            "parameters, here as in NumPyro.",
            'For an unknown, give it a prior: `numpyro.sample("name", ...)`, or `handlers.lift`. To fit it, use `SVI`.',
            sites=tuple(fixed),
        )


def _broadcast(name: str, site: Message) -> Iterator[Notice]:
    """Tell of data in a vector with a law for one number: each is counted, though no plate says so."""
    law, shape = site["fn"], np.shape(site["value"])
    batch = shape[: len(shape) - len(law.event_shape)]
    own = np.broadcast_shapes(tuple(law.batch_shape), plate_shape(site["cond_indep_stack"]))
    if site["value"] is None or batch == own or jnp.size(site["value"]) == 0:
        return
    yield Notice(
        "info",
        "numpyro_broadcast",
        f"The data of site {name!r} have batch shape {batch}, and its distribution has {own}: each entry is counted, "
        "as independent given the rest.",
        f'Say so by a plate, which also names the axis: `with numpyro.plate("row", {batch[-1]}):`.',
        sites=(name,),
    )
