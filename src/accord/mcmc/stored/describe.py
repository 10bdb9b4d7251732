"""Describe a run of chains for its manifest."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...density import LogDensity
from ...runs.stopping.looks import FIRST
from ...runs.stored import describe as runs
from ...storage import Manifest
from ..endings import PHASES
from ..plan import KIND, Plan
from ..reference import SETTING
from ..start.base import AbstractStart
from ..statistics import stored_stats


def describe(density: LogDensity, plan: Plan, chains: Sequence[int], start: AbstractStart) -> Manifest:
    """Build the manifest of a run of `chains` that starts at `start`."""
    longest = {"max_warmup": plan.max_warmup} if plan.max_warmup > plan.num_warmup else {}
    until: dict[str, Any] = {} if plan.until is None else {"until": plan.until.described()}
    if plan.until is not None and plan.first_look != FIRST:
        until |= {"first_look": plan.first_look}
    raises = {"on_nonfinite": plan.on_nonfinite} if plan.on_nonfinite == "raise" else {}
    superchains = getattr(plan.kernel, "superchains", None)
    shared = {} if superchains is None else {"superchains": superchains}
    around = {} if plan.reference is None else {SETTING: plan.reference.position.tolist()}
    return runs.describe(
        density,
        KIND,
        plan.precision,
        dict(plan.shard),
        {"init": start.described(), **longest, **until, **raises, **shared, **around},
        {
            "phases": list(PHASES),
            "sampler": plan.kernel.described(),
            "tuning": [asdict(each) for each in plan.tuning_columns],
            "statistics": [asdict(each) for each in stored_stats(plan.kernel.stats)],
            "seed": plan.seed,
            "lanes": plan.lanes,
            "chains": list(chains),
            "draws": plan.num_kept,
            "warmup": plan.num_warmup,
            "thinning": plan.thinning,
        },
    )
