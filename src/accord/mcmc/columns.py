"""Arrange the draws of chains for segments: positions, statistics, and results of the sites program.

Draws that thinning leaves out cost nothing here. Sites of warm-up draws are not computed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core.position import Position
from ..core.stats import Stat
from ..core.tree import to_numpy
from ..storage import Phase
from .statistics import HEIGHT, columns_of, parts_among


@dataclass(frozen=True)
class Sites:
    """The compiled program of `sites_program`.

    **Fields**: `run(positions, log_densities, num_sites, num_parts) -> {name: rows}`; `rows` that it has room for, and
    `batch`, how many of them it computes at once.
    """

    run: Callable[..., dict[str, Any]]
    rows: int
    batch: int = 1


@dataclass(frozen=True)
class Drawn:
    """Draws of one chain, all of one phase, for a segment.

    **Fields**: `phase`; `first`, the number of the first draw in its phase, after thinning; `positions`, with an axis
    of draws; `stats`, shape `(draw, stat)`; `declared`, the kernel's; `gradients`, shape `(draw, dim)`, of warm-up
    only.
    """

    phase: Phase
    first: int
    positions: Position
    stats: np.ndarray
    declared: tuple[Stat, ...]
    gradients: np.ndarray | None = None

    @staticmethod
    def of(
        blocks: Sequence[Mapping[str, np.ndarray]],
        phase: Phase,
        first: int,
        thinning: int,
        declared: tuple[Stat, ...],
    ) -> "Drawn":
        """Return the kept draws among those in `blocks`, which start at draw `first` of their phase."""
        step = thinning if phase == "sample" else 1
        kept = slice(-first % step, None, step)
        joined = {name: np.concatenate([block[name] for block in blocks])[kept] for name in blocks[0]}
        positions = jax.tree.map(np.ascontiguousarray, from_names(joined))
        gradients = joined["gradient"] if phase == "warmup" else None
        return Drawn(phase, -(-first // step), positions, joined["stats"], declared, gradients)

    @property
    def count(self) -> int:
        """Number of draws."""
        return len(self.stats)


WHOLE = "whole"
"""Name of whole numbers among the columns of draws, where there are any; that of free ones is `position`."""


def by_name(positions: Position) -> dict[str, np.ndarray]:
    """Return positions as columns."""
    whole = {} if positions.whole is None else {WHOLE: positions.whole}
    columns: dict[str, Any] = {"position": positions.free, **whole}
    return columns


def from_names(columns: Mapping[str, Any]) -> Position:
    """Return the positions among these columns."""
    return Position(columns["position"], columns.get(WHOLE))


def first_rows(positions: Position, count: int) -> Position:
    """Return the first of these positions, on the host."""
    return jax.tree.map(lambda rows: np.asarray(rows[:count]), positions)


def columns(drawn: Sequence[Drawn], sites: Sites) -> list[dict[str, np.ndarray]]:
    """Return the columns of segments with these draws; the sites of many short ones are computed by one call."""
    if not drawn:
        return []
    found: list[list[dict[str, np.ndarray]]] = [[] for _ in drawn]
    for places in _calls(drawn, sites):
        answer = _call(drawn, places, sites)
        for place in places:
            rows = slice(place.slot, place.slot + place.count)
            found[place.number].append({name: array[rows] for name, array in answer.items()})
    return [_arranged(each, _joined(parts)) for each, parts in zip(drawn, found, strict=True)]


@dataclass(frozen=True)
class _Place:
    """`count` draws of `drawn[number]`, from its draw `start` on, in a call at row `slot`."""

    number: int
    start: int
    count: int
    slot: int


def _calls(drawn: Sequence[Drawn], sites: Sites) -> Iterator[list[_Place]]:
    """Yield the places of the draws in each call, those that need sites first.

    A draw's index in its batch is its number in its phase, modulo the batch. So its bits do not depend on where blocks
    end, nor on other chains.
    """
    batch, places, end = sites.batch, [], 0
    for number in sorted(range(len(drawn)), key=lambda number: drawn[number].phase == "warmup"):
        start, total = 0, drawn[number].count
        while True:
            slot = -(-end // batch) * batch + (drawn[number].first + start) % batch
            count = min(total - start, sites.rows - slot)
            if count < min(total - start, 1):
                yield places
                places, end = [], 0
                continue
            places.append(_Place(number, start, count, slot))
            start, end = start + count, slot + count
            if start == total:
                break
    yield places


def _call(drawn: Sequence[Drawn], places: Sequence[_Place], sites: Sites) -> dict[str, np.ndarray]:
    """Call the program for these draws."""
    like = drawn[0].positions
    positions = jax.tree.map(lambda rows: np.zeros((sites.rows, rows.shape[1]), rows.dtype), like)
    heights = np.zeros(sites.rows, positions.free.dtype)
    num_sites = num_parts = 0
    for place in places:
        each = drawn[place.number]
        rows, draws = (
            slice(place.slot, place.slot + place.count),
            slice(place.start, place.start + place.count),
        )
        for room, values in zip(*map(jax.tree.leaves, (positions, each.positions)), strict=True):
            room[rows] = values[draws]
        heights[rows] = each.stats[draws, HEIGHT]
        num_parts = rows.stop
        num_sites = rows.stop if each.phase == "sample" else num_sites
    found = sites.run(positions, heights, np.int32(num_sites), np.int32(num_parts))
    return to_numpy(found)


def _joined(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the rows of several calls."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _arranged(drawn: Drawn, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the columns of a segment, with the results of the sites program."""
    arrays = by_name(drawn.positions)
    arrays |= {f"stat/{name}": column for name, column in columns_of(drawn.stats, drawn.declared).items()}
    arrays |= {
        f"stat/{part.name}": found[f"stat/{part.name}"].astype(part.dtype) for part in parts_among(found)
    }
    if drawn.gradients is not None:
        return arrays | {"gradient": drawn.gradients}
    return arrays | {name: rows for name, rows in found.items() if name.startswith("site/")}
