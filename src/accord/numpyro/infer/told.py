"""Say where a program means something else than its author may think: what NumPyro takes without a word."""

from collections.abc import Iterator, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.errors import suggest
from ...core.notice import Notice
from ...core.options import shown
from ..messages import Message, Met
from ..plates import plate_shape


def notices_of(sites: Mapping[str, Message], met: Met) -> tuple[Notice, ...]:
    """Return the notices of a trace of a program that is to be sampled by chains, and of names met on the way."""
    return (*unused_names(met), *_found(sites))


def unused_names(met: Met) -> Iterator[Notice]:
    """Tell of names that handlers were given and no statement has: nothing comes of them."""
    for name, word in met.unused.items():
        yield Notice(
            "warning",
            "numpyro_unused_name",
            f"handlers.{word} was given {name!r}, which no statement of the program has, so that it has no effect."
            f"{suggest(name, sorted(met.names))}",
            "Correct the name, or leave it out.",
            sites=(name,),
        )


def unused_options(owner: str, **given: Any) -> Iterator[Notice]:
    """Tell of options that steer how NumPyro samples, and that accord lacks; None and False are those not given."""
    for name, value in given.items():
        if value is not None and value is not False:
            yield Notice(
                "info",
                "numpyro_unused_option",
                f"{owner}: {name}={shown(value)} has no effect. It steers how NumPyro samples, and the posterior is "
                "the same without.",
                "Leave it out.",
            )


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
    if not batch:
        return  # the data are copied, which is an error of its own
    yield Notice(
        "info",
        "numpyro_broadcast",
        f"The data of site {name!r} have batch shape {batch}, and its distribution has {own}: each entry is counted, "
        "as independent given the rest.",
        f'Say so by a plate, which also names the axis: `with numpyro.plate("row", {batch[-1]}):`.',
        sites=(name,),
    )
