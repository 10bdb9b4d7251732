"""Read what warm-up learnt out of the end states of chains."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..adaptation.metric import Choice, Metric, reason, target_accept
from ..kernels import KERNELS
from ..storage import Segment
from .stretch import IS_SETTLED, WARMUP

STEP_SIZE, SCALE, FACTOR, STRETCH = (
    "state.learnt.step_size",
    "metric.scale",
    "metric.factor",
    "metric.stretch",
)

LOG_LENGTH = "state.learnt.log_length"  # of ensembles alone


def tuning_of(
    segments: Sequence[Sequence[Segment]], dim: int, sampler: Mapping[str, Any], num_warmup: int
) -> dict[str, np.ndarray]:
    """Return the results and the length of warm-up, by chain.

    NaN, and the empty string, for a chain without a segment. `sampler` has the options of a manifest. Of a sampler that
    is not accord's, nothing says why its metric has its form, nor at which acceptance it aims, unless an option does.
    """
    is_known = sampler.get("name") in KERNELS
    asked, wanted = sampler.get("metric", "auto"), sampler.get("target_accept")
    step_size, inverse_mass = np.full(len(segments), np.nan), np.broadcast_to(np.nan, (len(segments), dim))
    if any(segments):  # else nothing vouches for as many dimensions as a manifest claims
        inverse_mass = inverse_mass.copy()
    forms, reasons = [""] * len(segments), [""] * len(segments)
    warmups, is_settled = np.full(len(segments), num_warmup), np.ones(len(segments), bool)
    length, target = (np.full(len(segments), np.nan) for _ in range(2))
    for row, each in enumerate(segments):
        if not each:
            continue
        state = each[-1].end_state
        step_size[row] = state[STEP_SIZE]
        if LOG_LENGTH in state:
            length[row] = np.exp(state[LOG_LENGTH])
        is_diagonal = False  # its directions have no stretch then
        inverse_mass[row] = Metric(state[SCALE], state[FACTOR], state[STRETCH], is_diagonal).inverse_mass()
        choice = Choice.stored(state)
        forms[row], reasons[row] = choice.form, reason(choice, asked) if is_known else ""
        if is_known or wanted is not None:
            target[row] = target_accept(choice, wanted)
        warmups[row], is_settled[row] = state[WARMUP], state[IS_SETTLED]
    tuning = {
        "step_size": step_size,
        "inverse_mass": inverse_mass,
        "metric": np.asarray(forms),
        "metric_reason": np.asarray(reasons),
        "num_warmup": warmups,
        "is_settled": is_settled,
        "target_accept": target,
    }
    return tuning if np.isnan(length).all() else tuning | {"trajectory_length": length}
