"""Convert an error of tracing into findings: every site with the same fault, and the data to blame."""

import re
from collections.abc import Iterator

import numpy as np

from ...core.errors import AccordError, SiteError
from ...core.notice import Notice
from ...core.precision import Precision
from ...density import LogDensity
from ...density.tracing import discover
from ...language import Model

_NUM_SHOWN = 3  # entries of data


def refusals(error: AccordError, target: Model | LogDensity, precision: Precision) -> list[Notice]:
    """Return the findings for an error that would stop a run, by its kind, and further findings of the same kind."""
    words = re.findall("[A-Z][a-z]+", type(error).__name__)
    message = str(error)
    sites = tuple(dict.fromkeys(re.findall(r"\bsite '([^']+)'", message)))
    general = Notice("error", "_".join(words).lower(), message[:1].upper() + message[1:], "", sites)
    if not (isinstance(error, SiteError) and isinstance(target, Model)):
        return [general]
    special = [*_observed(target, precision)]
    is_said = {name for each in special for name in each.sites} >= set(sites)
    return special if special and is_said else [general, *special]


def forbidden(error: Exception) -> Notice:
    """Make the finding for a `shard_map` that JAX refuses; JAX may suggest to switch off this very check."""
    return Notice(
        "error",
        "parts_not_added_up",
        f"JAX refuses a shard_map in the model: {' '.join(str(error).split())}",
        "Do not switch the check off by check_vma=False. Sum the parts by `jax.lax.psum`, or write the sum by "
        "`accord.density.sharded_sum`.",
    )


def _observed(model: Model, precision: Precision) -> Iterator[Notice]:
    """Name the entries of observed data that are NaN or infinite, and those outside of the supports of their sites."""
    try:
        found, data, _ = discover(model, precision)
    except AccordError:
        return
    data |= found.constants
    bad = {
        entry.name: np.asarray(data[entry.source])
        for entry in found.layout.observed
        if entry.source and np.dtype(entry.dtype).kind == "f" and not np.all(np.isfinite(data[entry.source]))
    }
    if bad:
        remedies = [f"`with handlers.mask(mask=jnp.isfinite({name})):`" for name in bad]
        yield Notice(
            "error",
            "observed_not_finite",
            "; ".join(f"Site {name!r} observes {_entries(value)}" for name, value in bad.items()) + ".",
            f"Leave them out by {remedies[0]} around the site, or drop them from the data.",
            tuple(bad),
        )
    for claim, fault in found.claims.faults(data):
        yield Notice("error", "observed_outside_support", f"Site {claim.name!r}: {fault}", "", (claim.name,))


def _entries(value: np.ndarray) -> str:
    """List the first entries that are not finite, with their indices and number."""
    places = np.argwhere(~np.isfinite(value))
    shown = ", ".join(
        f"{value[tuple(place)]}{f' at index {_index(place)}' if value.ndim else ''}"
        for place in places[:_NUM_SHOWN]
    )
    more = f" and {len(places) - _NUM_SHOWN} more" if len(places) > _NUM_SHOWN else ""
    return f"{shown}{more}, {len(places)} of {value.size} values"


def _index(place: np.ndarray) -> str:
    numbers = [int(i) for i in place]
    return str(numbers[0]) if len(numbers) == 1 else str(tuple(numbers))
