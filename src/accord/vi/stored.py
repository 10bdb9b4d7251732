"""Describe a fit for its manifest, and read it from its store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import StorageError
from ..density import LogDensity
from ..guides.base import AbstractGuide
from ..guides.known import GUIDES, guide_from
from ..mcmc.start.base import AbstractStart
from ..runs.stored import describe as runs
from ..runs.stored.checked import built_from
from ..storage import AbstractRun, Manifest, Segment
from .evaluate import Fitted, Judgement
from .frame import Frame
from .objectives import OBJECTIVES
from .objectives.base import AbstractObjective
from .plan import FIT, KIND, Plan
from .restart import CONVERGED, IS_OVER, LOCATION, LOSS, NUM_BAD, PARAMS, SCALE
from .written.guide import Written

JUDGED = "judged"
"""Name of the record of what draws say of each restart."""


@dataclass(frozen=True, eq=False)
class Ended:
    """A restart as it is stored.

    **Fields**: `number`; `losses`, shape `(step,)`; `fitted`, None before the first step; `converged`; `is_over`;
    `num_bad`, steps whose numbers were not finite; `num_start`, steps of the mean field before.
    """

    number: int
    losses: np.ndarray
    fitted: Fitted | None
    converged: bool
    is_over: bool
    num_bad: int
    num_start: int


def describe(
    density: LogDensity, plan: Plan, start: AbstractStart, optimizer: Mapping[str, Any], num_steps: int
) -> Manifest:
    """Build the manifest of a fit."""
    last = plan.stages[-1]
    return runs.describe(
        density,
        KIND,
        plan.precision,
        {},
        {
            "init": start.described(),
            **({} if plan.until is None else {"until": plan.until.described()}),
            **({"guide_data": runs.digests(last.guide.data)} if isinstance(last.guide, Written) else {}),
        },
        {
            "phases": list(plan.phases),
            "sampler": {
                "name": KIND,
                "guide": last.guide.described(),
                "objective": last.objective.described(),
                "optimizer": dict(optimizer),
            },
            "seed": plan.seed,
            "lanes": 1,
            "chains": list(range(plan.num_restarts)),
            "draws": num_steps,
            "warmup": 0,
            "thinning": 1,
        },
    )


def guide_of(manifest: Manifest) -> AbstractGuide:
    """Build the guide of a stored fit. **Raises** `StorageError` for one that this accord does not have."""
    return _built(manifest, "guide", {**GUIDES, Written.__name__: Written}, _guide_from)


def _guide_from(described: dict[str, Any]) -> AbstractGuide:
    if described["name"] == Written.__name__:
        options = {name: value for name, value in described.items() if name != "name"}
        return Written.from_described(options, GUIDES)
    return guide_from(described)


def objective_of(manifest: Manifest) -> AbstractObjective:
    """Build the objective of a stored fit. **Raises** `StorageError` for one that this accord does not have."""
    return _built(
        manifest,
        "objective",
        OBJECTIVES,
        lambda options: OBJECTIVES[options.pop("name")].from_described(options),
    )


def _built(
    manifest: Manifest, what: str, known: Mapping[str, Any], build: Callable[[dict[str, Any]], Any]
) -> Any:
    with built_from(f"'sampler.{what}' in manifest.json"):
        options = dict(manifest["sampler"][what])
        name = options["name"]
        if name not in known:
            raise StorageError(
                f"the fit used the {what} {name!r}, which is not accord's: it cannot be made of what is stored. "
                "Fit again, and use the result in the same program."
            )
        return build(options)


def ended(run: AbstractRun, guide: AbstractGuide, number: int, spilled: Sequence[Segment] = ()) -> Ended:
    """Read one restart; `spilled`, segments that the store could not write."""
    own = [*run.segments(number), *(each for each in spilled if each.chain == number)]
    of_fit = [each for each in own if each.phase == FIT]
    num_start = sum(len(each) for each in own) - sum(len(each) for each in of_fit)
    if not of_fit:
        return Ended(number, np.zeros(0), None, False, False, 0, num_start)
    state = of_fit[-1].end_state
    with built_from(f"the last segment of restart {number}"):
        location, scale = np.asarray(state[LOCATION]), np.asarray(state[SCALE])
        stored = {name.removeprefix(PARAMS): state[name] for name in state if name.startswith(PARAMS)}
        at: Any = (location, scale)
        return Ended(
            number,
            np.concatenate([each.arrays[LOSS] for each in of_fit]),
            Fitted(guide, guide.restored(stored, location.size, location.dtype), Frame(*at)),
            bool(state[CONVERGED]),
            bool(state[IS_OVER]),
            int(state[NUM_BAD]),
            num_start,
        )


def stored_judgements(run: AbstractRun) -> dict[int, Judgement]:
    """Return what draws said of each restart when the fit last ended; empty if it did not.

    A fit that is taken up loses the notices of its earlier end first, and with them what was said there.
    """
    has_ended = run.records.get("notices") is not None
    record: Any = (run.records.get(JUDGED) if has_ended else None) or {}
    with built_from(f"record-{JUDGED}.json"):
        return {int(number): Judgement.from_json(each) for number, each in record.items()}


def check_kind(manifest: Manifest) -> None:
    """Raise `StorageError` unless a manifest is of a fit."""
    if manifest.phases[-1:] != [FIT] or "guide" not in manifest["sampler"]:
        raise StorageError("manifest.json is not of a fit that this version of accord wrote.")
