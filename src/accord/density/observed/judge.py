"""Compare the observed values of a site with its support, all at once or as they are read from a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ...distributions.constraint import Constraint
from ...distributions.constraint.each_step import EachStep
from ..host import HostArray
from ..rows.row_files import FileRows, pieces_in_memory
from .collect import Claim
from .words import Judged, message


def fault(claim: Claim, found: Sequence[HostArray | None], source: str, rows: FileRows | None) -> str:
    """Return what is wrong with the observed values of one site, or "".

    **Arguments**
    - `found`: the arrays of its parts, as far as they could be computed; the value is the first.
    - `source`: the name of the argument that the value is, or "". `rows`: this argument where it is in a file.
    """
    value, *others = found
    arrays = [each.value for each in others if each is not None and each.entries is None]
    if len(arrays) < len(others):
        return ""
    if rows is None:
        if value is None:
            return ""
        _, support, masks = _filled(claim, [value.value, *arrays])
        if isinstance(support, EachStep) and support.aligned(value.value.ndim) is None:
            return ""  # of which NumPy does not know how to ask
        judged = _judged(claim, value.value, value.entries, support, masks)
        return message(claim, source, [judged], support, value.value.shape)
    _, support, masks = _filled(claim, [np.zeros(0), *arrays])
    if masks or any(np.ndim(leaf) for leaf in jax.tree.leaves(support)):
        return ""  # which rows of these belong to those that are read is not known
    pieces = []
    for piece in pieces_in_memory(rows):
        batch = (len(piece), *claim.batch[1:])
        pieces.append(_judged(replace(claim, batch=batch), piece, None, support, ()))
    return message(claim, source, pieces, support, rows.shape)


def _judged(
    claim: Claim, value: np.ndarray, entries: np.ndarray | None, support: Constraint, masks: tuple[Any, ...]
) -> Judged:
    """Find the events that are outside of the support, among those that are known, finite and not masked."""
    event = tuple(range(len(claim.batch), value.ndim))
    is_shown = np.isfinite(value).all(event)
    if entries is not None:
        is_shown = is_shown & entries.all(event)
    for mask in masks:
        is_shown = is_shown & np.broadcast_to(mask, claim.batch)
    with np.errstate(all="ignore"):
        is_inside = np.broadcast_to(np.asarray(support(value)), claim.batch)
    bounds = [leaf for leaf in jax.tree.leaves(support) if isinstance(leaf, np.ndarray)]
    if any(np.isnan(bound).any() for bound in bounds if bound.dtype.kind == "f"):
        is_inside = np.ones(claim.batch, bool)  # a bound that is NaN is none, and found elsewhere
    is_outside = is_shown & ~is_inside
    return Judged(np.argwhere(is_outside), value[is_outside], value[is_shown], claim.batch)


def _filled(claim: Claim, arrays: list[np.ndarray]) -> Any:
    """Put arrays in their places among the parts of a site."""
    rest = iter(arrays)
    return jax.tree.map(
        lambda leaf: next(rest) if leaf is None else leaf, claim.parts, is_leaf=lambda leaf: leaf is None
    )
