"""Judge a fit: what a user should know before using it."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.notice import Notice
from .evaluate import Judgement
from .findings_of_points import findings_of_points
from .objectives.renyi import AbstractBound
from .stage import Stage
from .stored import Ended
from .tail import DOUBTFUL, tail
from .written.guide import Written

_FEW_BAD = 0.01  # of the steps
_APART = 1.0  # nats between the bounds of restarts, or of parts of a fit
_PARTS = 10  # of a fit


def findings(ended: Sequence[Ended], judged: Mapping[int, Judgement], stage: Stage) -> list[Notice]:
    """Return the notices of a fit, from its restarts and what draws say of each."""
    stopped = _stopped(ended)
    if not judged:
        return stopped
    best = max(judged, key=lambda number: judged[number].height)
    own = next(each for each in ended if each.number == best)
    if stage.guide.num_points:
        return [*stopped, *findings_of_points(own, ended, judged, stage), *_bad_steps(own)]
    whole = {each.number: judged[each.number] for each in ended if each.is_over and each.number in judged}
    return [
        *_tail(judged[best], stage),
        *stopped,
        *_end(own, stage),
        *_bad_steps(own),
        *_worse(own, stage),
        *(_apart(whole, best) if best in whole else ()),
        *_point(stage),
        *_one_particle(stage),
    ]


def _stopped(ended: Sequence[Ended]) -> list[Notice]:
    left = [each for each in ended if not each.is_over]
    if not left:
        return []
    steps = max(len(each.losses) for each in ended)
    which = "It" if len(ended) == 1 else f"{len(left)} of {len(ended)} restarts"
    return [
        Notice(
            "warning",
            "interrupted",
            f"The fit was stopped after {steps} steps at most. {which} had not come to an end.",
            "Go on with infer.resume if it has a folder, or fit again.",
        )
    ]


def _tail(judgement: Judgement, stage: Stage) -> list[Notice]:
    if isinstance(stage.guide, Written):
        return _tail_of_written(judgement, stage.guide)
    narrow = " A mean field is too narrow where unknowns are dependent." if stage.guide.is_factorised else ""
    whole = "" if stage.guide.has_density else " Weights are of whole paths: their ends alone may be nearer."
    return tail(
        judgement.pareto_k,
        judgement.effective / judgement.count,
        f"the {stage.guide.label}",
        "the guide",
        f"Weighted, {judgement.count} draws are worth {judgement.effective:.0f}.{narrow}{whole}",
        "Take a guide that can bend or correlate (FullRank, Structured, Flow), write the model in a "
        "non-centred form, or draw with infer.sample(model, init=fit).",
    )


def _tail_of_written(judgement: Judgement, guide: Written) -> list[Notice]:
    k, local = judgement.pareto_k, guide.known.local
    if local and k >= DOUBTFUL:
        return [
            Notice(
                "warning",
                "high_pareto_k",
                f"Weights of draws are products over all entries of {local[0]!r}, and Pareto k of these is {k:.2f}: "
                f"they cannot correct the guide {guide.label!r}. Its bound is {judgement.bound:.6g}, with a standard "
                f"error of {judgement.error:.2g}.",
                "Compare it with the bound of another guide, or its draws with those of infer.sample for a part of the "
                "data.",
                local,
            )
        ]
    return tail(
        k,
        judgement.effective / judgement.count,
        f"the guide {guide.label!r}",
        "the guide",
        f"Weighted, {judgement.count} draws are worth {judgement.effective:.0f}.",
        "Let its sites depend on each other, take distributions with wider tails, or draw with infer.sample(model, "
        "init=fit).",
    )


def _end(own: Ended, stage: Stage) -> list[Notice]:
    if own.converged or not own.is_over:
        return []
    if len(own.losses) < stage.num_steps:
        what = "its line search found no higher point" if stage.is_climb else "too many steps were not finite"
        return [
            Notice(
                "warning",
                "not_converged",
                f"The fit ended after {len(own.losses)} steps because {what}.",
                "Look at `fit.losses`, and at the model with infer.check.",
            )
        ]
    before, after = _means(own.losses[-max(len(own.losses) // 10, 2) :], 2)
    gain = float(before - after)
    return [
        Notice(
            "warning",
            "not_converged",
            f"The fit took all of its {len(own.losses)} steps; the bound rose by {gain:.3g} nats over the last tenth.",
            "Take more steps=, or an optimizer= with other steps.",
        )
    ]


def _worse(own: Ended, stage: Stage) -> list[Notice]:
    """Tell of a fit that was better before it ended."""
    if stage.is_climb or len(own.losses) < _PARTS:
        return []
    means = _means(own.losses, _PARTS)
    if not np.isfinite(means).any():
        return []
    best = float(np.nanmin(means))
    if not means[-1] - best > _APART:
        return []
    return [
        Notice(
            "warning",
            "bound_fell",
            f"The bound has fallen by {means[-1] - best:.3g} nats since it was best, about step "
            f"{int(np.nanargmin(means)) * len(own.losses) // _PARTS}.",
            f"Take smaller steps, such as optimizer=optax.adam({stage.guide.rate / 10:g}).",
        )
    ]


def _means(losses: np.ndarray, parts: int) -> np.ndarray:
    """Return the mean of each of so many parts of the losses, of those that are finite; NaN where none is."""
    finite = (each[np.isfinite(each)] for each in np.array_split(losses, parts))
    return np.array([each.mean() if len(each) else np.nan for each in finite])


def _bad_steps(own: Ended) -> list[Notice]:
    if own.num_bad <= _FEW_BAD * max(len(own.losses), 1):
        return []
    return [
        Notice(
            "warning",
            "non_finite_steps",
            f"{own.num_bad} of {len(own.losses)} steps were left out, since the bound or its gradient was not finite.",
            "infer.check(model) looks for where the log density is not finite.",
        )
    ]


def _apart(judged: Mapping[int, Judgement], best: int) -> list[Notice]:
    highest = judged[best]
    others = {number: each.bound for number, each in judged.items() if number != best}

    def is_apart(number: int) -> bool:
        noise = 4 * np.hypot(np.nan_to_num(highest.error), np.nan_to_num(judged[number].error))
        return not highest.bound - others[number] <= max(_APART, noise)

    apart = [number for number in others if is_apart(number)]
    if not apart:
        return []
    listed = ", ".join(f"{judged[number].bound:.2f}" for number in sorted(judged))
    return [
        Notice(
            "warning",
            "restarts_disagree",
            f"Restarts have ended at different bounds ({listed}); the highest one is taken.",
            "The posterior may have several modes, of which a guide finds one: look at it with infer.sample.",
        )
    ]


def _point(stage: Stage) -> list[Notice]:
    if isinstance(stage.guide, Written) and stage.guide.pinned:
        which = ", ".join(map(repr, stage.guide.pinned))
        return [
            Notice(
                "info",
                "point_only",
                f"The guide {stage.guide.label!r} holds {which} at a point: draws of it are all equal, and the bound "
                "and Pareto k are of the other unknowns, given that point.",
                "Give these sites a distribution with spread to see their uncertainty.",
                stage.guide.pinned,
            )
        ]
    is_point = stage.guide.points(stage.dim)
    if not is_point.any():
        return []
    if not is_point.all():
        return [
            Notice(
                "info",
                "point_only",
                f"{int(is_point.sum())} of {stage.dim} unconstrained numbers are held at a point by a Delta: their "
                "draws are all equal, and the bound and Pareto k are of the other ones, given that point.",
                "Give these sites another guide to see their uncertainty.",
            )
        ]
    return [
        Notice(
            "info",
            "point_only",
            "A Delta is one point: its draws are all equal, and say nothing of uncertainty.",
            "infer.find_mode has standard errors; another guide has draws.",
        )
    ]


def _one_particle(stage: Stage) -> list[Notice]:
    """Tell of a bound of several draws that was asked for with one."""
    objective = stage.objective
    if not isinstance(objective, AbstractBound) or objective.draws > 1:
        return []
    name = type(objective).__name__
    return [
        Notice(
            "info",
            "one_particle",
            f"{name} with draws=1 is the bound of one draw, and that is the bound of `infer.ELBO()`.",
            f"Give {name} several draws, such as draws=10, or write `infer.ELBO()`.",
        )
    ]
