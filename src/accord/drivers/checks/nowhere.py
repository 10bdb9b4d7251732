"""Explain why no starting point has a finite log density."""

from collections.abc import Sequence

import numpy as np

from ...core.notice import Notice
from ...density import LogDensity
from ...density.blame import blame
from .non_finite import capitalized
from .survey import Survey


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
