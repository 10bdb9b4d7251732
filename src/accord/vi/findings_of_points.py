"""Judge a fit of particles: what a user should know before using it."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.notice import Notice
from .evaluate import Judgement
from .points import NARROW
from .stage import Stage
from .stored import Ended

_POOR = 1.0  # discrepancy, of that of independent draws
_APART = 1.0  # standard deviations between the means of restarts


def findings_of_points(
    own: Ended, ended: Sequence[Ended], judged: Mapping[int, Judgement], stage: Stage
) -> list[Notice]:
    """Return the notices of particles, of the best restart `own`."""
    judgement = judged[own.number]
    return [
        *_discrepancy(judgement, stage),
        *_narrow(judgement, stage),
        *_end(own, stage),
        *_apart(own, ended),
    ]


def _discrepancy(judgement: Judgement, stage: Stage) -> list[Notice]:
    if judgement.discrepancy <= _POOR:
        return []
    number = stage.guide.num_points
    return [
        Notice(
            "warning",
            "high_discrepancy",
            f"The Stein discrepancy of the particles is {judgement.discrepancy:.2f} times that of {number} independent "
            "draws from the posterior.",
            "Take more steps= or particles, another guide such as FullRank, or draw with infer.sample.",
        )
    ]


def _narrow(judgement: Judgement, stage: Stage) -> list[Notice]:
    if not judgement.narrow:
        return []
    names = ", ".join(map(repr, judgement.narrow[:5])) + (" and others" if len(judgement.narrow) > 5 else "")
    number, dim = stage.guide.num_points, stage.dim
    few = f" {number} particles are few for {dim} unconstrained numbers." if number < 4 * dim else ""
    return [
        Notice(
            "warning",
            "narrow_particles",
            f"Particles are too near to each other in {names}: by the gradients there, their variance is down to "
            f"{judgement.spread:.2f} of that of the posterior, where {NARROW} is the least that is not told.{few}",
            "Take more particles, or a guide that is a distribution, such as FullRank.",
            judgement.narrow,
        )
    ]


def _end(own: Ended, stage: Stage) -> list[Notice]:
    if own.converged or not own.is_over:
        return []
    if len(own.losses) < stage.num_steps:
        what, remedy = (
            "no particle had a finite gradient",
            "infer.check(model) looks for where it is not finite.",
        )
    else:
        what, remedy = (
            "all steps were taken",
            "Take more steps=, or look at `fit.losses` for whether they still fall.",
        )
    return [
        Notice(
            "warning",
            "not_converged",
            f"The particles had not settled after {len(own.losses)} steps, when {what}.",
            remedy,
        )
    ]


def _apart(own: Ended, ended: Sequence[Ended]) -> list[Notice]:
    """Tell of restarts with other means."""
    others = [
        each for each in ended if each.is_over and each.fitted is not None and each.number != own.number
    ]
    if own.fitted is None or not own.is_over or not others:
        return []
    mean, sd = _moments(own)
    distances = {each.number: float(np.max(np.abs(_moments(each)[0] - mean) / sd)) for each in others}
    farthest = max(distances, key=lambda number: distances[number])
    if distances[farthest] <= _APART:
        return []
    return [
        Notice(
            "warning",
            "restarts_disagree",
            f"The means of particles differ between restarts, by up to {distances[farthest]:.1f} standard deviations; "
            f"restart {own.number}, with the lowest discrepancy, is taken.",
            "The posterior may have several modes, of which each restart finds one: look at it with infer.sample.",
        )
    ]


def _moments(ended: Ended) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of particles, unconstrained; shape `(dim,)` each."""
    assert ended.fitted is not None
    positions = np.asarray(ended.fitted.frame.position(np.asarray(ended.fitted.params["positions"], float)))
    return positions.mean(axis=0), positions.std(axis=0)
