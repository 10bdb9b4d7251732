"""Say which observed values are outside of the support of their site, and what to do."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...distributions.constraint import Constraint
from ...distributions.constraint.each_step import EachStep
from .collect import Claim, innermost
from .remedy import how_to_mend


@dataclass(frozen=True)
class Judged:
    """Events that were compared with a support.

    **Fields**
    - `indices`, `events`: the events outside of it. `shown`: all events that count.
    - `batch`: the batch shape of these and of the events that were not looked at.
    """

    indices: np.ndarray
    events: np.ndarray
    shown: np.ndarray
    batch: tuple[int, ...]


def message(
    claim: Claim, source: str, pieces: list[Judged], support: Constraint, shape: tuple[int, ...]
) -> str:
    """Say how many events are outside, which is the first, what it must be, and what to do; "" if there are none."""
    count = sum(len(piece.indices) for piece in pieces)
    if not count:
        return ""
    start = 0
    first: tuple[int, ...] = ()
    for piece in pieces:
        if len(piece.indices):
            first = tuple(int(each) for each in piece.indices[0])
            first = (start + first[0], *first[1:]) if first else ()
            break
        start += piece.batch[0]
    events = np.concatenate([piece.events for piece in pieces])
    shown = np.concatenate([piece.shown for piece in pieces])
    total = int(np.prod(claim.batch))
    is_scalar = events.ndim == 1
    what = "observed values" if is_scalar else "observed events"
    place = "" if not first else f" at index {first[0] if len(first) == 1 else first}"
    of = f" of argument {source!r}" if source and place else ""
    here = _at(support, first, claim.batch, shape)
    found = _printed(events[0])
    is_are = "is" if count == 1 else "are"
    return (
        f"{count} of {total} {what} {is_are} outside of the support of "
        f"{claim.distribution}. The first is {found}{place}{of}; it must be {here.describe()}. "
        f"{how_to_mend(claim.name, claim.distribution, innermost(here), events, shown)}"
    )


def _at(
    support: Constraint, first: tuple[int, ...], batch: tuple[int, ...], shape: tuple[int, ...]
) -> Constraint:
    """Take from a support the bounds for one event, as numbers."""

    def number(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic):
            return leaf
        if not np.ndim(leaf):
            return leaf.item()
        for whole in (batch, shape):
            try:
                found = np.broadcast_to(leaf, whole)[first]
            except ValueError:
                continue
            return found.item() if not np.ndim(found) else found
        return leaf

    if isinstance(support, EachStep):
        support = support.aligned(len(shape)) or support
    return jax.tree.map(number, support)


def _printed(event: Any) -> str:
    if not np.ndim(event):
        return f"{event.item():g}" if np.asarray(event).dtype.kind == "f" else str(event.item())
    return np.array2string(np.asarray(event), precision=4, threshold=12, edgeitems=3).replace("\n", "")
