"""Find how many steps before its own a log probability of a scan sees a discrete site, by trying.

At assignments taken at random, one step of the site is changed: the steps that change with it tell. That no other does
is verified with all others, at each data (`assignment`).
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ....core.errors import SiteError
from ...latent import concrete
from ...layout import Entry
from ...program import ModelProgram, every_site
from ...quick import quickly
from ...support import EachAt
from ...unknowns import pieces_of
from .plan_parts import Part, parts_of
from .table import quoted

NUM_TRIALS = 12
MAX_SPAN = 4
"""Steps before its own that a log probability may see."""


def spans_of(
    base: ModelProgram,
    sizes: Mapping[str, int],
    seen: Mapping[Part, tuple[str, ...]],
    data: Mapping[str, Any],
) -> dict[tuple[Part, str], int]:
    """Find, for each part of a site and each discrete site that it sees, how many steps ago it sees it at most.

    Below zero for steps after its own; parts that see the same step alone are left out.

    **Raises** `SiteError` where steps far apart depend on each other, or in both directions.
    """
    entries = {name: base.layout[name] for name in sizes}
    if not any(entry.num_steps for entry in entries.values()):
        return {}
    random = np.random.default_rng(1)
    run = _trying(base, sizes)
    found: dict[tuple[Part, str], set[int]] = {}
    for name, entry in entries.items():
        if not entry.num_steps:
            continue
        trials = [_trial(name, entries, sizes, random) for _ in range(NUM_TRIALS)]
        before, after = (
            jax.tree.map(lambda *each: np.stack(each), *(t[i] for t in trials)) for i in range(2)
        )
        positions = np.stack([0.7 * random.normal(size=base.layout.dim) for _ in trials])
        one, other = (run(dict(data), positions, each) for each in (before, after))
        for part, names in seen.items():
            if name not in names or not base.layout[part[0]].num_steps:
                continue
            for number, (_, _, step) in enumerate(trials):
                a, b = np.asarray(one[_key(part)][number]), np.asarray(other[_key(part)][number])
                is_other = ~((a == b) | (np.isnan(a) & np.isnan(b)))
                steps = np.nonzero(is_other.reshape(a.shape[0], -1).any(axis=1))[0]
                found.setdefault((part, name), set()).update((steps - step).tolist())
    return {key: span for key, lags in found.items() if (span := _span(*key, lags))}


def _trying(base: ModelProgram, sizes: Mapping[str, int]) -> Any:
    def at(data: Any, position: Any, places: Mapping[str, Any]) -> dict[str, jax.Array]:
        with concrete(base.constants):
            choices = {name: EachAt(places[name]) for name in sizes}
            sites = base.sites({**pieces_of(position, base.layout.entries), **choices}, data)
            return {_key(part): entries for part, _, entries in parts_of(sites, every_site, places)}

    return quickly(
        lambda data, positions, places: jax.lax.map(lambda each: at(data, *each), (positions, places))
    )


def _trial(
    name: str, entries: Mapping[str, Entry], sizes: Mapping[str, int], random: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], int]:
    before = {n: random.integers(0, sizes[n], e.shape).astype(np.int32) for n, e in entries.items()}
    step = int(random.integers(0, entries[name].shape[0]))
    changed = before[name].copy()
    changed[step] = (changed[step] + random.integers(1, max(sizes[name], 2), changed[step].shape)) % sizes[
        name
    ]
    return before, {**before, name: changed}, step


def _span(part: Part, name: str, lags: set[int]) -> int:
    if all(lag == 0 for lag in lags):
        return 0
    if min(lags) < 0 < max(lags):
        raise SiteError(
            f"{name!r} cannot be summed out: the log probability of {part[0]!r} at a step of its scan depends on steps "
            f"of {name!r} before it and after it. Let each step depend on those before it alone."
        )
    span = max(lags, key=abs)
    if abs(span) > MAX_SPAN:
        raise SiteError(
            f"{name!r} cannot be summed out: the log probability of {part[0]!r} at a step of its scan depends on "
            f"{name!r} {abs(span)} steps away, so that something which depends on {quoted([name])} is carried on from "
            f"step to step. Carry its value itself, and of at most {MAX_SPAN} steps."
        )
    return span


def _key(part: Part) -> str:
    return "/".join(part)
