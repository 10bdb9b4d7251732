"""Judge sums over discrete unknowns that end at a largest value."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import percent

FREQUENT = 0.001  # of the draws: more than that is missing beyond the end


def bound_reached(run: Evidence) -> Iterator[Notice]:
    """Find sites with draws at the largest value up to which they are summed."""
    for name, bound in run.limits.items():
        if name not in run.sites or not run.sites.width(name):
            continue
        at_bound = np.asarray(run.sites[name]) >= bound
        share = at_bound.mean() if at_bound.size else 0.0
        if share:
            yield Notice(
                "error" if share > FREQUENT else "warning",
                "bound_reached",
                f"{at_bound.sum()} of {at_bound.size} draws of {name!r} ({percent(share)}) are {bound}, up to which it "
                "is summed: larger values, which are left out, have about as much probability.",
                f"Sum further: `handlers.collapse(model, {{{name!r}: {max(2 * bound, 1)}}})`.",
                (name,),
            )
