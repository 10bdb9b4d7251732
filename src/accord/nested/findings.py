"""Judge a run of nested sampling: what a user should know before using its evidence."""

from collections.abc import Sequence

import numpy as np

from ..core.notice import Notice
from ..report.log_evidence import LogEvidence
from ..storage import Manifest
from .estimate import LEVEL, disagreement
from .insertion import p_value
from .stored import Ended

_STAYED = 0.01  # of the moves


def findings(ended: Sequence[Ended], by_run: Sequence[LogEvidence], manifest: Manifest) -> list[Notice]:
    """Return the notices of a run; `by_run`, the evidence of each run that came to its end."""
    done = [each for each in ended if each.is_complete]
    checks = (
        _interrupted(ended),
        _not_over(done, manifest),
        _disagree(by_run),
        _uneven(done, manifest),
        _stayed(done, manifest),
        _non_finite(ended),
    )
    return [each for each in checks if each is not None]


def _interrupted(ended: Sequence[Ended]) -> Notice | None:
    number = sum(each.is_complete for each in ended)
    if number == len(ended):
        return None
    return Notice(
        "warning",
        "interrupted",
        f"It was stopped when {number} of {len(ended)} runs of nested sampling had ended. The others are left out.",
        "Go on with infer.resume if it has a folder, or begin again.",
    )


def _not_over(done: Sequence[Ended], manifest: Manifest) -> Notice | None:
    left = [float(each.rounds["left"][-1]) for each in done]
    if all(each < manifest["settings"]["tolerance"] for each in left):
        return None
    rounds = max(len(each.rounds["left"]) for each in done) - 1
    return Notice(
        "error",
        "likelihood_still_rises",
        f"After {rounds} rounds, the live points would still raise the log evidence by {max(left):.2g}: their "
        "likelihood has no end, or the posterior is in too small a part of the prior.",
        "Look for an observation with hardly any noise, and give the prior the scale of the data; infer.check(model) "
        "looks for both.",
    )


def _disagree(by_run: Sequence[LogEvidence]) -> Notice | None:
    if disagreement(by_run) >= LEVEL:
        return None
    values = [each.value for each in by_run]
    error = np.mean([each.standard_error for each in by_run])
    return Notice(
        "warning",
        "runs_disagree",
        f"Log evidences of {len(values)} runs go from {min(values):.4g} to {max(values):.4g}, where each has an error "
        f"of {error:.2g}: by chance, less than one in {1 / LEVEL:.0f} differ so. The standard error is by how they do.",
        "Take more steps, and more live points if the posterior has several modes: "
        "infer.NestedSampling(live=2000, steps=100).",
    )


def _uneven(done: Sequence[Ended], manifest: Manifest) -> Notice | None:
    p = p_value([each.ranks for each in done], manifest["draws"])
    if p >= LEVEL:
        return None
    steps = manifest["settings"]["steps"]
    return Notice(
        "warning",
        "ranks_not_uniform",
        f"The ranks of new points among the live points are not uniform (p = {p:.2g}): {steps} steps do not make new "
        "points independent, so that the log evidence is off by more than its standard error says.",
        f"Take more steps: infer.NestedSampling(steps={4 * steps}).",
    )


def _stayed(done: Sequence[Ended], manifest: Manifest) -> Notice | None:
    moves = sum(len(each.ranks) for each in done) * manifest["settings"]["steps"]
    count = int(sum(each.rounds["stayed"].sum() for each in done))
    if not moves or count <= _STAYED * moves:
        return None
    return Notice(
        "warning",
        "moves_stayed",
        f"{count} of {moves} moves found no place above the floor of the likelihood, and stayed: places above are far "
        "smaller than the spread of the live points.",
        "Take more live points and steps, and look whether the likelihood is finite near its mode: infer.check(model).",
    )


def _non_finite(ended: Sequence[Ended]) -> Notice | None:
    count = int(sum(each.rounds["non_finite"].sum() for each in ended if each.rounds))
    if not count:
        return None
    return Notice(
        "warning",
        "likelihood_not_finite",
        f"The log likelihood was NaN or +inf at {count} places, which count as impossible.",
        "Call infer.check(model), and look at exp, log, sqrt and division in it.",
    )
