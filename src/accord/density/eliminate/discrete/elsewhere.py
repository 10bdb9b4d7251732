"""Find which entry of a discrete site each entry of a log probability sees, where it is not the one at its own place.

Labels of groups are taken by an index: `z[group]`. Each entry of `z` is given one of two values by one binary digit of
its number, digit by digit: which of the two an entry of the log probability shows is that digit of the number of the
entry that it sees. That it sees no other one is verified with all others, at each data (`assignment`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from .plan_parts import Part
from .table import Axis, Taken, interacting
from .trying import Assigned, Trials, differ

NUM_TRIALS = 8


@dataclass(frozen=True)
class Facts:
    """Facts of the entries of a part, as tracing finds them.

    **Fields**: `axes`, from left to right; `missing`, of a site that is observed in part, which entries are not.
    """

    axes: tuple[Axis, ...]
    missing: np.ndarray | None = None


def taken_of(
    sizes: Mapping[str, int],
    seen: Mapping[Part, Sequence[str]],
    facts: Mapping[Part, Facts],
    chained: set[tuple[Part, str]],
    trials: Trials,
    *,
    in_doubt: bool,
) -> dict[tuple[Part, str], Taken]:
    """Find, for each part and each discrete site that it does not see at its own place, which entries it sees.

    **Arguments**: `sizes`, by discrete site the number of its values; `chained`, pairs that see other steps of a scan;
    `in_doubt`, whether one that has the axes of a site may yet take its entries by an index.

    **Raises** `SiteError` where an entry sees several.
    """
    random = np.random.default_rng(2)
    elsewhere: dict[Part, list[str]] = {}
    for name, size in sizes.items():
        own = facts[name, "entries"]
        parts = [p for p in seen if name in seen[p] and p[0] != name and (p, name) not in chained]
        if not own.axes or not parts or size == 1:
            continue
        there = [part for part in parts if set(own.axes) <= set(facts[part].axes)]
        away = set(parts) - set(there)
        if there and in_doubt:
            away |= _out_of_place(name, sizes, there, facts, trials, random)
        for part in parts:
            if part in away:
                elsewhere.setdefault(part, []).append(name)
    found: dict[tuple[Part, str], Taken] = {}
    for part, names in elsewhere.items():
        axes = facts[part].axes
        if any(set(facts[name, "entries"].axes) <= set(axes) for name in names):
            # Entries of the same plate are taken by an index: the axes of the part are others than theirs.
            axes = tuple((f"{kind} of {part[0]!r}", place, size) for kind, place, size in axes)
        for name in names:
            index = _numbers(name, sizes, part, facts[name, "entries"], trials, random)
            found[part, name] = Taken(axes, index.reshape([axis[2] for axis in axes]))
    return found


def _out_of_place(
    name: str,
    sizes: Mapping[str, int],
    parts: Sequence[Part],
    facts: Mapping[Part, Facts],
    trials: Trials,
    random: np.random.Generator,
) -> set[Part]:
    """Find the parts that change where the site does not."""
    own = facts[name, "entries"]
    before, after, changes = [], [], []
    for _ in range(NUM_TRIALS):
        assigned = _assigned(trials, sizes, random)
        is_other = random.random(assigned[name].shape) < 0.5
        moved = (assigned[name] + random.integers(1, sizes[name], is_other.shape)) % sizes[name]
        before.append(assigned)
        after.append({**assigned, name: np.where(is_other, moved, assigned[name]).astype(np.int32)})
        changes.append(_in_all_entries(is_other, own))
    positions = [trials.position(random) for _ in range(NUM_TRIALS)]
    one, other = trials.at(positions, before), trials.at(positions, after)
    found = set()
    for part in parts:
        axes = facts[part].axes
        shape = [axis[2] for axis in axes]
        aligned = [axis[2] if axis in own.axes else 1 for axis in axes]
        is_other = differ(one.of(part), other.of(part)).reshape(-1, *shape)
        if (is_other & ~np.stack([change.reshape(aligned) for change in changes])).any():
            found.add(part)
    return found


def _numbers(
    name: str,
    sizes: Mapping[str, int],
    part: Part,
    own: Facts,
    trials: Trials,
    random: np.random.Generator,
) -> np.ndarray:
    """Find the number of the entry that each entry of a part sees; that of the first where it sees none."""
    shape, size = trials.shapes[name], sizes[name]
    numbers = np.arange(prod(shape)).reshape(shape)
    digits = range(max(int(numbers.size - 1).bit_length(), 1))
    rest = _assigned(trials, sizes, random)
    position = trials.position(random)
    found, is_known = np.zeros((), np.int64), np.zeros((), bool)
    for value in dict.fromkeys((1, size - 1, size // 2)):
        values = [
            np.zeros(shape),
            np.full(shape, value),
            *(np.where(numbers >> d & 1, value, 0) for d in digits),
        ]
        tried = [{**rest, name: each.astype(np.int32)} for each in values]
        entries = trials.at([position] * len(tried), tried).of(part)
        shows = differ(entries[0], entries[1])
        is_one = ~differ(entries[2:], entries[1])
        if (shows & ~is_one & differ(entries[2:], entries[0])).any():
            raise interacting((name,), (part[0],))
        number = sum(one.astype(np.int64) << d for d, one in zip(digits, is_one, strict=True))
        found = np.where(shows & ~is_known, number, found)
        is_known = is_known | shows
        if is_known.all():
            break
    if (found >= numbers.size).any():
        raise interacting((name,), (part[0],))
    return (found if own.missing is None else own.missing[found]).astype(np.int32)


def _assigned(trials: Trials, sizes: Mapping[str, int], random: np.random.Generator) -> Assigned:
    return {
        name: random.integers(0, sizes[name], shape).astype(np.int32) for name, shape in trials.shapes.items()
    }


def _in_all_entries(is_other: np.ndarray, own: Facts) -> np.ndarray:
    if own.missing is None:
        return is_other
    whole = np.zeros(prod(axis[2] for axis in own.axes), bool)
    whole[own.missing] = is_other.reshape(-1)
    return whole
