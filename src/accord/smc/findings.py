"""Judge populations: what a user should know before using their draws."""

from collections.abc import Sequence

import numpy as np

from ..core.notice import Notice
from ..storage import Manifest
from .stored import UNKNOWNS, Ended

_CORRELATION = 0.5  # of where a chain began with where it ended, above which its moves are short
_FEWEST = 20  # ancestors of a stage
_NATS = 1.0  # standard deviation of the log evidence over populations


def findings(ended: Sequence[Ended], manifest: Manifest) -> list[Notice]:
    """Return the notices of a run of populations."""
    done = [each for each in ended if each.positions is not None]
    checks = (
        _interrupted(ended),
        _disagree(done),
        _few(done, manifest),
        _short(done, manifest),
        _non_finite(ended),
    )
    return [each for each in checks if each is not None]


def _interrupted(ended: Sequence[Ended]) -> Notice | None:
    number = sum(each.positions is not None for each in ended)
    if number == len(ended):
        return None
    return Notice(
        "warning",
        "interrupted",
        f"The run was stopped when {number} of {len(ended)} populations had come to the posterior. The others are left "
        "out.",
        "Go on with infer.resume if it has a folder, or begin again.",
    )


def _disagree(done: Sequence[Ended]) -> Notice | None:
    logs = np.array([each.log_evidence for each in done])
    if len(logs) < 2 or np.std(logs, ddof=1) <= _NATS:
        return None
    return Notice(
        "warning",
        "populations_disagree",
        f"Log evidences of {len(logs)} populations have a standard deviation of {np.std(logs, ddof=1):.2g}, from "
        f"{logs.min():.4g} to {logs.max():.4g}: the population with the highest has most of the weight, and the "
        "standard error of the evidence is rough.",
        "Take more particles, or more moves from each ancestor: infer.smc(model, particles=10_000, moves=20).",
    )


def _few(done: Sequence[Ended], manifest: Manifest) -> Notice | None:
    if not done:
        return None
    counts = [int(each.stages["ancestors"][1:].min()) for each in done]
    least = min(counts)
    if least >= min(_FEWEST, manifest["draws"] // manifest["settings"]["moves"]):
        return None
    return Notice(
        "warning",
        "few_ancestors",
        f"At some stage all particles come of {least} ancestor{'s' * (least != 1)}: few draws from the prior, or few "
        "particles of the stage before, are in a likely place.",
        "Take more particles, or a prior that excludes what the likelihood makes impossible.",
    )


def _short(done: Sequence[Ended], manifest: Manifest) -> Notice | None:
    if not done:
        return None
    found = np.median([each.stages["correlation"][-1] for each in done], axis=0)
    worst = found.max(initial=0.0)
    if worst <= _CORRELATION:
        return None
    names = tuple(
        name
        for name, (start, stop) in manifest["settings"][UNKNOWNS].items()
        if np.any(found[start:stop] > _CORRELATION)
    )
    return Notice(
        "warning",
        "short_moves",
        f"At the last stage, where chains end has a correlation of {worst:.2f} with the ancestors where they began "
        f"({', '.join(map(repr, names))}): the moves do not forget these, and standard errors are too small.",
        "Take more moves from each ancestor, such as infer.smc(model, particles=2000, moves=40), or another kernel. If "
        "the posterior has several modes, no moves forget them: take more particles, so that more ancestors decide "
        "their weights.",
        names,
    )


def _non_finite(ended: Sequence[Ended]) -> Notice | None:
    count = int(sum(each.stages["non_finite"].sum() for each in ended if each.stages))
    if not count:
        return None
    return Notice(
        "warning",
        "likelihood_not_finite",
        f"The log likelihood was NaN or +inf at {count} particles, which count as impossible.",
        "Call infer.check(model), and look at exp, log, sqrt and division in it.",
    )
