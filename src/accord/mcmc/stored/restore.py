"""Restore chains from a store, so that they continue as if uninterrupted."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.errors import StorageError
from ...core.tree import filled
from ...runs.units import AbstractUnits
from ...storage import AbstractRun, Segment
from ..chain import Chain
from ..columns import by_name
from ..endings import Tally
from ..group import Group, NotBegun
from ..plan import Plan
from ..statistics import rows_from, stored_stats
from ..stretch import FITTED, GRADIENTS, IS_SETTLED, STATE, WARMUP

_KERNEL = "kernel."


def restore(run: AbstractRun, plan: Plan, numbers: Sequence[int]) -> list[AbstractUnits]:
    """Restore the groups of a run; groups without stored draws start from the beginning."""
    groups: list[AbstractUnits] = []
    for first in range(0, len(numbers), plan.lanes):
        members = list(numbers[first : first + plan.lanes])
        if all(run.last(number) is None for number in members):
            groups.append(NotBegun(tuple(members)))
            continue
        until = _common_draw(run, plan, members) if plan.is_ensemble else None
        chains = [_chain(run, plan, number, until) for number in members]
        idle = [
            _chain(run, plan, members[lane % len(members)], until) for lane in range(len(members), plan.lanes)
        ]
        groups.append(Group((*chains, *idle), len(members), plan.pace.first_block))
    return groups


def _common_draw(run: AbstractRun, plan: Plan, numbers: Sequence[int]) -> int | None:
    """Return the draw of warm-up to which all chains of an ensemble go back, if some were stored further.

    Chains learn from each other during warm-up. After it, each continues from its own last draw: None.
    """
    draws = {_draw(run.last(number)) for number in numbers}
    if len(draws) == 1 or min(draws) >= plan.num_warmup:
        return None
    ends = [
        {0, *(each.stop for each in run.segments(number) if each.phase == "warmup")} for number in numbers
    ]
    return max(set.intersection(*ends))


def _chain(run: AbstractRun, plan: Plan, number: int, until: int | None = None) -> Chain:
    """Restore a chain as it was after its last segment, or after the one that ends at draw `until` of warm-up."""
    chain = Chain.begin(plan, number, plan.nowhere)
    newest = last = run.last(number)
    segments = run.segments(number) if until is not None else []
    if until is not None and newest is not None:
        chain.stretch_start = chain.num_stored = _draw(newest)
        chain.gradients_at_stretch = int(newest.end_state[GRADIENTS])
        segments = [each for each in segments if each.phase == "warmup" and each.stop <= until]
        last = segments[-1] if segments else None
    if last is None:
        return chain
    state, fitted = (_beginning(last.end_state, beginning) for beginning in (STATE, FITTED))
    # A fresh trajectory begins at the point, whatever else the kernel of another version kept of the last one.
    is_fresh = bool(np.all(state.get(f"{_KERNEL}is_fresh", False)))

    def is_needed(path: str) -> bool:
        return not is_fresh or not path.startswith(_KERNEL) or path.startswith(f"{_KERNEL}point.")

    try:
        chain.state = filled(chain.state, state, is_needed)
        chain.fitted = plan.adaptation.restored(fitted, plan.dim, plan.dtype)
    except StorageError as error:
        raise StorageError(
            f"chain {number}: the stored state cannot be taken up: {error}. Another version of accord or of the "
            "sampler wrote it (see 'versions' in manifest.json), and can resume it; infer.load reads its draws here."
        ) from error
    chain.is_started = True
    chain.num_gradients = int(last.end_state[GRADIENTS])
    chain.tally = Tally.stored(number, last.end_state)
    last_whole = chain.tally.last.whole
    if (0 if last_whole is None else len(last_whole)) != plan.num_whole:
        raise StorageError(
            f"chain {number}: its tally is not of {plan.num_whole} whole numbers: no run of accord wrote it."
        )
    chain.num_warmup = int(last.end_state[WARMUP])
    chain.is_settled = bool(last.end_state[IS_SETTLED])
    if until is None:
        chain.gradients_at_stretch, chain.stretch_start = chain.num_gradients, chain.draw
    if chain.draw < chain.num_warmup:
        chain.window = [_rows(segment, plan) for segment in segments or run.segments(number)]
    return chain


def _beginning(arrays: Mapping[str, np.ndarray], beginning: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(beginning): arrays[name] for name in arrays if name.startswith(beginning)}


def _draw(segment: Segment | None) -> int:
    """Return the draws that were complete at the end of a segment, warm-up included, before thinning."""
    return 0 if segment is None else int(segment.end_state["state.draw"])


def _rows(segment: Segment, plan: Plan) -> dict[str, np.ndarray]:
    declared, names = plan.kernel.stats, ("gradient", *by_name(plan.nowhere))
    lacking = {*names, *(f"stat/{each.name}" for each in stored_stats(declared))}
    lacking -= set(segment.arrays)
    if lacking:
        raise StorageError(
            f"chain {segment.chain}: the warm-up draws {segment.start} to {segment.stop} hold no {min(lacking)!r}, so "
            "that the warm-up cannot go on. They were not written by a run of accord."
        )
    columns = {each.name: segment.arrays[f"stat/{each.name}"] for each in stored_stats(declared)}
    return {name: segment.arrays[name] for name in names} | {"stats": rows_from(columns, declared)}
