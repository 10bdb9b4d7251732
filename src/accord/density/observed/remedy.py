"""Say what to do about observed values that their site cannot have, from what the values look like."""

from typing import Any

import numpy as np

from ...distributions import constraint as c

_OTHERWISE = (
    "Check the data (units, sign, codes for missing values), or choose a distribution that has such values."
)
_CODES = (-1, -9, -99, -999, -9999)
"""Numbers by which tables often say that a value is missing."""
MANY = 1_000_000
"""How many values are sorted to see which different ones there are."""


def how_to_mend(
    name: str, distribution: str, support: c.Constraint, outside: np.ndarray, shown: np.ndarray
) -> str:
    """Say what to write, in a sentence or two.

    **Arguments**
    - `name`, `distribution`, `support`: of the site; the support of the first event that is outside.
    - `outside`: events that are not in it, along the first axis. `shown`: all events that count.
    """
    match support:
        case c.Boolean():
            return _for_numbers(name, distribution, 0, 1, outside, shown)
        case c.IntegerInterval(lower=lower, upper=upper):
            return _for_numbers(name, distribution, lower, upper, outside, shown)
        case c.IntegerGreaterThanOrEqual(lower=lower):
            return _for_numbers(name, distribution, lower, None, outside, shown)
        case c.Circular() if _is_rounding(-np.pi, np.pi, outside):
            return _for_rounding(name, "-np.pi", "np.pi", outside)
        case c.Circular():
            return (
                f"Degrees become radians by `np.deg2rad({name})`; radians come between -pi and pi by "
                f"`np.arctan2(np.sin({name}), np.cos({name}))`."
            )
        case c.Simplex():
            return _for_simplex(name, outside[0])
        case c.Multinomial(upper=upper):
            return _for_counts(outside[0], upper)
        case c.LowerCholesky():
            return _for_factor(outside[0])
        case c.PositiveDefinite() | c.PositiveSemidefinite() | c.BelowIdentity():
            return _for_matrix(outside[0])
        case _:
            return _for_range(name, support, outside, shown)


def _for_numbers(
    name: str, distribution: str, lower: Any, upper: Any, outside: np.ndarray, shown: np.ndarray
) -> str:
    """Advise on whole numbers in a range: fractions, other codes, missing values, too many successes."""
    if shown.ndim != 1 or np.ndim(lower):
        return _OTHERWISE
    has_trials = "Binomial" in distribution and upper is not None
    if not np.all(shown % 1 == 0):
        return _for_fractions(distribution, upper, shown, has_trials=has_trials)
    least, most = shown.min(), shown.max()
    levels = np.unique(shown[:MANY])
    if has_trials and np.all(outside > lower):
        return "There are more successes than trials: look at the data, and at the order of the columns."
    if upper is not None and least == lower + 1 and most == upper + 1:
        return (
            f"They are coded from {least:g} to {most:g}, one above what {distribution} takes: subtract 1, as in "
            f"`obs={name} - 1`."
        )
    if (lower, upper) == (0, 1) and len(levels) == 2:
        return f"They have two levels, {levels[0]:g} and {levels[1]:g}: write `obs={name} == {levels[1]:g}`."
    if _are_codes(outside):
        return _leave_out(name, outside)
    if upper is not None and most == upper + 1 and least >= lower:
        return (
            f"Codes begin at {lower}, so that {most:g} would be one level more: give {distribution} as many "
            "probabilities as there are levels, or correct the codes."
        )
    return _OTHERWISE


def _for_fractions(distribution: str, upper: Any, shown: np.ndarray, *, has_trials: bool) -> str:
    """Advise on numbers that are not whole: proportions, rates."""
    if shown.min() >= 0 and shown.max() <= 1 and has_trials:
        return (
            "Proportions are not counts: give the number of successes, `np.round(proportion * trials)`, and the number "
            "of trials as total_count."
        )
    if shown.min() >= 0 and shown.max() <= 1 and upper == 1:
        return (
            "Proportions have a `dist.Beta`, or the counts that they are from a `dist.Binomial`; scores become 0 and 1 "
            "by `y > 0.5`."
        )
    return (
        f"{distribution} is a distribution of whole numbers: give counts and not rates, means or logarithms (an "
        "exposure goes into the rate), or take a continuous distribution, such as `dist.Gamma` or `dist.LogNormal`."
    )


def _for_range(name: str, support: c.Constraint, outside: np.ndarray, shown: np.ndarray) -> str:
    """Advise on numbers in an interval: codes for missing values, zeros, percentages."""
    if shown.ndim != 1:
        return _OTHERWISE
    lower: Any = getattr(support, "lower", np.nan)
    upper: Any = getattr(support, "upper", np.nan)
    if not np.ndim(lower) and not np.ndim(upper) and _is_rounding(lower, upper, outside):
        return _for_rounding(name, f"{lower}", f"{upper}", outside)
    if _are_codes(outside):
        return _leave_out(name, outside)
    if isinstance(support, c.GreaterThan) and lower == 0 and np.all(outside == 0):
        return (
            "A zero has no density here. Is it a measurement below a limit of detection (`.censor(low=limit)`), a code "
            "for a missing value, or a kind of its own, which needs a model of its own?"
        )
    if not np.ndim(lower) and not np.ndim(upper) and (lower, upper) == (0, 1):
        if shown.min() >= 0 and 1 < shown.max() <= 100:
            return f"Percentages become proportions by `{name} / 100`."
        if np.all((outside == 0) | (outside == 1)):
            return (
                f"0 and 1 themselves have no density here: move them inside, as in `np.clip({name}, 1e-6, 1 - 1e-6)`, "
                "or give them a model of their own."
            )
    return _OTHERWISE


def _is_rounding(lower: float, upper: float, outside: np.ndarray) -> bool:
    """Return whether numbers lie beyond an interval by no more than float32 rounds its ends."""
    if not (np.isfinite(lower) and np.isfinite(upper)):
        return False
    beyond = np.maximum(lower - outside, outside - upper)
    return bool(np.all((beyond > 0) & (beyond <= 1e-6 * max(abs(lower), abs(upper)))))


def _for_rounding(name: str, lower: str, upper: str, outside: np.ndarray) -> str:
    """For ends of an interval that came as float32; clipping in float32 would round them again."""
    return (
        f"It is {float(outside[0]):.10g}, beyond by rounding, as of numbers in float32. Bring such values back: "
        f"`np.clip(np.asarray({name}, float), {lower}, {upper})`."
    )


def _are_codes(outside: np.ndarray) -> bool:
    return set(np.unique(outside[:MANY]).tolist()) <= set(_CODES)


def _leave_out(name: str, outside: np.ndarray) -> str:
    codes = ", ".join(f"{code:g}" for code in np.unique(outside[:MANY]))
    return (
        f"Is {codes} a code for a missing value? Leave such entries out by "
        f"`with handlers.mask(mask={name} >= 0):` around the site, or drop them from the data."
    )


def _for_simplex(name: str, event: np.ndarray) -> str:
    if np.any(event < 0):
        return f"Its smallest element is {event.min():g}. {_OTHERWISE}"
    return f"Its sum is {event.sum():.10g}: divide by it, as in `{name} / {name}.sum(-1, keepdims=True)`."


def _for_counts(event: np.ndarray, total: Any) -> str:
    if np.any(event < 0) or np.any(event % 1 != 0):
        return "Give counts, which are whole numbers of at least 0."
    return f"Its sum is {event.sum():g} and total_count is {total}: give the sum of each row, `y.sum(-1)`."


def _for_factor(event: np.ndarray) -> str:
    if np.any(np.triu(event, 1) != 0) and np.allclose(event, event.T):
        return "It is a symmetric matrix and no Cholesky factor: give `np.linalg.cholesky(x)`."
    return "Look at its diagonal, at what is above it, and at the length of its rows."


def _for_matrix(event: np.ndarray) -> str:
    asymmetry = np.abs(event - event.T).max()
    if asymmetry > 1e-6 * np.abs(event).max():
        return f"It differs from its transpose by up to {asymmetry:.3g}: `(x + x.T) / 2` is symmetric."
    eigenvalues = np.linalg.eigvalsh(event)
    diagonal = np.diag(event)
    return (
        f"Its eigenvalues are from {eigenvalues[0]:.3g} to {eigenvalues[-1]:.3g}, its diagonal from "
        f"{diagonal.min():.3g} to {diagonal.max():.3g}. A matrix estimated from fewer rows than columns is singular."
    )
