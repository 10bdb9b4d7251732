"""Check what a stored run holds before anything is made of it.

The store vouches for bytes, and for the form of manifest and records; not that accord wrote them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import StorageError
from ...core.stats import Stat
from ...runs.stored.checked import built_from
from ...storage import Segment, kinds_of
from ..endings import PHASES
from ..statistics import stored_stats
from ..tuning import Column

_SCALAR = ()
# By name in the state at the end of a segment: kinds of dtype, and shape, where a letter stands for a length.
_NEEDED = {
    "state.draw": ("iu", _SCALAR),
    "num_gradients": ("iu", _SCALAR),
    "piece_gradients": ("iu", _SCALAR),
    "is_given_up": ("b", _SCALAR),
    "num_warmup": ("iu", _SCALAR),
    "is_settled": ("b", _SCALAR),
    "tally.counts": ("iu", (2, 3)),
    "tally.last": ("f", ("dim",)),
    "tally.num_unmoved": ("iu", _SCALAR),
    "tally.kept.position": ("f", ("kept", "dim")),
    "tally.kept.log_density": ("f", ("kept",)),
    "tally.kept.draw": ("iu", ("kept",)),
    "tally.kept.kind": ("iu", ("kept",)),
    "tally.kept.phase": ("iu", ("kept",)),
    "target.at_fixed_points": ("f", (3, 2)),
}
_WITH_WHOLE_NUMBERS = {
    "tally.last_whole": ("iu", ("whole",)),
    "tally.kept.whole": ("iu", ("kept", "whole")),
}


def check_layout(manifest: Mapping[str, Any]) -> None:
    """Raise `StorageError` unless a manifest describes the sites, the statistics and the tuning of its draws."""
    for name, what in (("layout", "sites"), ("statistics", "statistics"), ("tuning", "tuning")):
        if name not in manifest:
            raise StorageError(
                f"manifest.json lacks {name!r}, which describes the {what} of the draws: no run of this version of "
                "accord wrote it."
            )
    if tuple(manifest.get("phases", PHASES)) != PHASES:
        raise StorageError(
            f"'phases' in manifest.json are not {', '.join(PHASES)}: no run of chains wrote it."
        )
    with built_from("'statistics' in manifest.json"):
        found = [Stat(each["name"], np.dtype(each["dtype"]).name) for each in manifest["statistics"]]
    lacking = [each.name for each in stored_stats(()) if each not in found]
    if lacking or len({each.name for each in found}) < len(found):
        what = f"lacks {lacking[0]!r}" if lacking else "names one twice"
        raise StorageError(f"'statistics' in manifest.json {what}: no run of accord wrote it.")


def check_settings(manifest: Mapping[str, Any]) -> None:
    """Raise `StorageError` unless a manifest has the settings that a run needs to go on."""
    check_layout(manifest)
    if "particulars" not in manifest:
        raise StorageError(
            "manifest.json lacks 'particulars', which describe the model of the run. infer.load reads its draws."
        )
    if "shard" not in manifest.get("settings", {}):
        raise StorageError(
            "manifest.json lacks 'settings.shard', and such a run cannot be resumed. infer.load reads its draws."
        )


def check_end(segment: Segment, dim: int, columns: Sequence[Column]) -> None:
    """Raise `StorageError` unless the state at the end of a segment is one of a chain in `dim` dimensions.

    `columns`: what is shown of its warm-up.
    """
    found, lengths = kinds_of(segment.end_state), {"dim": dim}
    where = f"chain {segment.chain}: the state after {segment.phase} draw {segment.stop}"
    for column in columns:
        if column.stored_name not in found or not column.is_stored_as(*found[column.stored_name]):
            raise StorageError(
                f"{where} has no {column.stored_name!r} of dtype {column.dtype} and shape {column.shape}, which "
                "manifest.json names. It was not written by a run of accord."
            )
    has_whole = not found.keys().isdisjoint(_WITH_WHOLE_NUMBERS)
    needed = {**_NEEDED, **_WITH_WHOLE_NUMBERS} if has_whole else _NEEDED
    for name, (kinds, shape) in needed.items():
        if name not in found:
            raise StorageError(f"{where} has no {name!r}. It was not written by a run of accord.")
        dtype, given = found[name]
        is_right = dtype.kind in kinds and len(given) == len(shape)
        for length, size in zip(shape, given, strict=False):
            wanted = lengths.setdefault(length, size) if isinstance(length, str) else length
            is_right = is_right and size == wanted
        if not is_right:
            raise StorageError(
                f"{where} has {name!r} of shape {given} and dtype {dtype}, which no run of accord in {dim} dimensions "
                "has."
            )


def check_work(segment: Segment) -> None:
    """Raise `StorageError` unless a segment counts the gradients of its draws."""
    dtype, shape = kinds_of(segment.end_state).get("piece_gradients", (None, ()))
    if dtype is None or dtype.kind not in "iu" or shape:
        raise StorageError(
            f"chain {segment.chain}: the {segment.phase} draws {segment.start} to {segment.stop} have no "
            "'piece_gradients'. They were not written by a run of accord."
        )
