"""Check where the log density or its gradient is not finite, how often, and why."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.notice import Notice, Severity
from ...density import LogDensity
from ...density.blaming import blame
from .base import Context
from .survey import Survey

_SOME = 0.05  # of the points: good models overflow at one or two of a hundred
_MANY = 0.1  # of the draws of the prior: it is wide, and few of its draws matter
_HARMLESS = "It does no harm unless a chain gets there; then the chain turns back."


@dataclass(frozen=True)
class _Fault:
    """Kind of value that is not finite.

    **Fields**: `code`; `what`, in words; `is_at(survey)`, a mask of points; `judge(shares)`, the severity by the shares
    of points near, drawn from the prior, and wide, or None for nothing; `remedy`, where the operation says none;
    `unless`, the code of a fault of which this one would be a repetition.
    """

    code: str
    what: str
    is_at: Callable[[Survey], np.ndarray]
    judge: Callable[[float, float, float], Severity | None]
    remedy: str
    unless: str = ""


def check_non_finite(context: Context) -> Iterator[Notice]:
    """Look through all points for each way of not being finite."""
    found: set[str] = set()
    for fault in _FAULTS:
        masks = [fault.is_at(survey) for survey in context.surveys]
        near, wide, *prior = (float(mask.mean()) if mask.size else 0.0 for mask in masks)
        severity = fault.judge(near, sum(prior), wide)
        if severity is not None and fault.unless not in found:
            found.add(fault.code)
            yield _notice(context, fault, severity, masks)
    yield from _zero_density(context)


def _is_infinite(survey: Survey) -> np.ndarray:
    return survey.values == np.inf


def _is_undefined(survey: Survey) -> np.ndarray:
    return np.isnan(survey.values)


def _is_steep(survey: Survey) -> np.ndarray:
    return np.isfinite(survey.values) & survey.is_steep


def _is_steep_within_reach(survey: Survey) -> np.ndarray:
    """Return points of usual log density with a gradient that is not finite; at very low ones it may overflow."""
    lowest = np.min(survey.values[survey.is_good], initial=np.inf)
    return _is_steep(survey) & ((survey.values >= lowest) | np.isinf(lowest))


def _is_steep_beyond(survey: Survey) -> np.ndarray:
    return _is_steep(survey) & ~_is_steep_within_reach(survey)


def _of_infinite(near: float, prior: float, wide: float) -> Severity | None:
    if near or prior:
        return "error"
    return "warning" if wide else None


def _of_undefined(near: float, prior: float, wide: float) -> Severity | None:
    if near >= _SOME or prior >= _MANY:
        return "warning"
    return "info" if near or prior or wide else None


def _of_steep(near: float, prior: float, wide: float) -> Severity | None:
    if near >= _SOME or prior >= _SOME:
        return "warning"
    return "info" if near or prior or wide else None


def _of_steep_beyond(near: float, prior: float, wide: float) -> Severity | None:
    return "info" if near or prior or wide else None


_FAULTS = (
    _Fault(
        "infinite_log_density",
        "the log density is +inf",
        _is_infinite,
        _of_infinite,
        "A chain that gets there never leaves: look for a division by zero and for an unbounded density.",
    ),
    _Fault(
        "undefined_log_density",
        "the log density is NaN",
        _is_undefined,
        _of_undefined,
        "A chain cannot enter there, and turns back: look for 0/0, inf - inf and parameters out of range.",
    ),
    _Fault(
        "undefined_gradient",
        "the log density is finite and its gradient is not",
        _is_steep_within_reach,
        _of_steep,
        "A chain cannot enter there though it should: look for a `where` around a function that is not finite on the "
        "side not taken, and for 0/0 or sqrt(0).",
    ),
    _Fault(
        "gradient_overflows",
        "the log density is low and its gradient is not finite",
        _is_steep_beyond,
        _of_steep_beyond,
        _HARMLESS,
        unless="undefined_gradient",
    ),
)


def _notice(context: Context, fault: _Fault, severity: Severity, masks: Sequence[np.ndarray]) -> Notice:
    pairs = [(survey, mask) for survey, mask in zip(context.surveys, masks, strict=True) if mask.any()]
    counts = ", ".join(f"{mask.sum()} of {mask.size} points {survey.where}" for survey, mask in pairs)
    survey, mask = pairs[0]
    position = survey.positions[mask][0]
    if severity == "info":
        terms = {name: float(term) for name, term in context.whole.terms(position).items()}
        sites = tuple(name for name, term in terms.items() if not np.isfinite(term))
        why = f" There, {_of_terms({name: terms[name] for name in sites})}." if sites else ""
        remedy = _HARMLESS
    else:
        found = blame(context.density, position)
        sites, remedy = found.sites, capitalized(found.remedy) or fault.remedy
        why = f" At the first of them, {'; '.join(found.found())}." if found.found() else ""
    return Notice(severity, fault.code, f"At {counts}, {fault.what}.{why}", remedy, sites)


def _zero_density(context: Context) -> Iterator[Notice]:
    """Report points at which the log density is -inf: outside of a support, or by underflow."""
    near, _, *prior = context.surveys
    pairs = [(survey, survey.values == -np.inf) for survey in (near, *prior)]
    pairs = [(survey, mask) for survey, mask in pairs if mask.size and mask.mean() >= _SOME]
    if not pairs:
        return
    counts = ", ".join(f"{mask.sum()} of {mask.size} points {survey.where}" for survey, mask in pairs)
    survey, mask = pairs[0]
    found = blame(context.density, survey.positions[mask][0])
    message = f"At {counts}, the log density is -inf. At the first of them, {'; '.join(found.found())}."
    if any(term.is_outside for term in found.bad_terms):
        remedy = (
            "A chain turns back where the density is zero. If the support depends on a latent value, bound that by "
            "the data, so that its prior ends there too."
        )
        yield Notice("warning", "outside_support", message, remedy, found.sites)
    else:
        yield Notice("info", "zero_density", message, _HARMLESS, found.sites)


def _of_terms(terms: dict[str, float]) -> str:
    return ", ".join(f"site {name!r} has log density {term:g}" for name, term in terms.items())


def capitalized(text: str) -> str:
    """Capitalise text as a sentence."""
    return text[:1].upper() + text[1:]


def nowhere_finite(density: LogDensity, surveys: Sequence[Survey]) -> Notice:
    """Blame a site, data or an operation at the last candidate for a starting point."""
    near, _, *prior = surveys
    found = blame(density, near.positions[-1])
    what = "; ".join(found.found())
    elsewhere = [f"{survey.is_good.sum()} of {survey.is_good.size} points {survey.where}" for survey in prior]
    begins = any(survey.is_good.any() for survey in prior)
    remedy = capitalized(found.remedy) or "Look for 0/0, sqrt(0) and logarithms of what may be negative."
    if begins:
        remedy = f"They are at {', '.join(elsewhere)}: begin there, by `init=infer.from_prior()`. {remedy}"
    return Notice(
        "error",
        "nowhere_finite",
        f"At none of {np.size(near.values)} starting points {near.where} are the log density and its gradient finite. "
        f"At the last one, {what or 'the log density is finite and its gradient is not'}.",
        remedy,
        found.sites,
    )
