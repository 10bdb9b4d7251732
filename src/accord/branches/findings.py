"""Judge whether the programs of a model can be weighed: what a user should know before using their draws."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..core.notice import Notice, by_severity
from .result import ProgramDraws

# Of draws and of evidences: codes with which an evidence may be wrong by more than its standard error says.
_IN_DOUBT = (
    "bridge_not_converged",
    "evidence_of_modes",
    "few_ancestors",
    "few_draws",
    "halves_disagree",
    "population_failed",
    "populations_disagree",
)
_NEAR_THE_END = 0.01  # posterior probability of the last value that was asked for
_MUCH = 1e-3  # prior mass left out


def findings(
    programs: Sequence[ProgramDraws], left_out: Mapping[str, float], most_error: float, is_complete: bool
) -> list[Notice]:
    """Return the notices of a divided model.

    **Arguments**: `left_out`, prior mass by site of values that were not asked for; `most_error`, the largest standard
    error of a probability with which programs are weighed.
    """
    found = [
        _unknown(programs, most_error, is_complete),
        *_left_out(programs, left_out),
        *_of_programs(programs),
    ]
    return by_severity(each for each in found if each is not None)


def _unknown(programs: Sequence[ProgramDraws], most_error: float, is_complete: bool) -> Notice | None:
    reason = "" if is_complete else "The run was interrupted before all programs had draws."
    remedy = "Run it again."
    for program in () if reason else programs:
        if (doubt := _doubt(program)) is not None:
            reason = f"The evidence of the program {program} may be off by more than its error says: {doubt.message}"
            remedy = f"{doubt.remedy} Its options are those of run=; values= leaves out programs that do not matter."
            break
    errors = [each.standard_error for each in programs]
    if not reason and not np.max(errors, initial=0.0) <= most_error:
        worst = programs[int(np.argmax(np.nan_to_num(errors, nan=np.inf)))]
        reason = (
            f"The probability of the program {worst} is {worst.probability:.3g} with a standard error of "
            f"{worst.standard_error:.2g}, above {most_error:g}."
        )
        remedy = (
            "Take more draws, by run=lambda program, seed: infer.sample(program, draws=4000, seed=seed, quiet=True), "
            "or particles of infer.smc."
        )
    if not reason:
        return None
    return Notice("error", "evidence_unknown", reason, remedy)


def _doubt(program: ProgramDraws) -> Notice | None:
    """Return what makes the evidence of a program doubtful."""
    if program.draws is None:
        return None
    told = [*program.draws.notices, *program.log_evidence.notices]
    errors = [each for each in told if each.severity == "error" or each.code in _IN_DOUBT]
    return next(iter(by_severity(errors)), None)


def _left_out(programs: Sequence[ProgramDraws], left_out: Mapping[str, float]) -> list[Notice]:
    found = []
    for name, mass in left_out.items():
        listed = [each for each in programs if name in each.values]
        last = max((np.asarray(each.values[name]).tolist() for each in listed), default=None)
        share = sum(each.probability for each in listed if np.asarray(each.values[name]).tolist() == last)
        if mass <= _MUCH and not share > _NEAR_THE_END:
            continue
        found.append(
            Notice(
                "warning" if share > _NEAR_THE_END else "info",
                "values_left_out",
                f"Values of {name!r} that are not listed have a prior probability of {mass:.2g}, and the posterior "
                f"probability of the last one listed, {last}, is {share:.2g}.",
                f"List more values of {name!r} in values= until the last hardly counts.",
                (name,),
            )
        )
    return found


def _of_programs(programs: Sequence[ProgramDraws]) -> list[Notice]:
    """Tell of programs whose draws have warnings: one notice for each code."""
    by_code: dict[str, list[tuple[ProgramDraws, Notice]]] = {}
    for program in programs:
        told = [] if program.draws is None else [*program.draws.notices, *program.log_evidence.notices]
        for notice in told:
            if notice.severity != "info":
                by_code.setdefault(notice.code, []).append((program, notice))
    found = []
    for each in by_code.values():
        program, worst = min(each, key=lambda pair: ("error", "warning").index(pair[1].severity))
        message = f"{len(each)} of {len(programs)} programs, the first {program}: {worst.message}"
        found.append(replace(worst, message=message))
    return found
