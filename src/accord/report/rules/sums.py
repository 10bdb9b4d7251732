"""Judge sums over discrete unknowns that end at a largest value."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import percent

FREQUENT = 0.001  # of the draws: more than that is missing beyond the end
MUCH = 0.001  # share of the probability that is left out
NOTHING = (
    FREQUENT**2
)  # such a share, with which a value at the bound is not frequent, or the end of a support


def bound_reached(run: Evidence) -> Iterator[Notice]:
    """Find sites with draws at the largest value up to which they are summed."""
    for name, bound in run.limits.items():
        if name not in run.sites or not run.sites.width(name):
            continue
        at_bound = np.asarray(run.sites[name]) >= bound
        if f"beyond.{name}" in run.stats:
            # Entries whose own support ends at the bound may be there as often as they like.
            leaves_out = ~(np.asarray(run.stats[f"beyond.{name}"]) < NOTHING)
            at_bound = at_bound & leaves_out.reshape(*leaves_out.shape, *(1,) * (at_bound.ndim - 2))
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


def left_out(run: Evidence) -> Iterator[Notice]:
    """Say how much probability sums leave out, which end at a largest value."""
    for name, bound in run.limits.items():
        if f"beyond.{name}" not in run.stats:
            continue
        shares = np.asarray(run.stats[f"beyond.{name}"])
        shares = shares[np.isfinite(shares)]
        if not shares.size:
            continue
        mean = shares.mean()
        yield Notice(
            "warning" if mean > MUCH else "info",
            "left_out",
            f"{name!r} is summed up to {bound}, beyond which lies at most {mean:.2g} of the probability of an entry "
            f"(mean over draws; {shares.max():.2g} in one draw). This is an estimate, which takes probabilities to be "
            "log-concave beyond the bound; it is 1 where they do not fall there.",
            f"Sum further: `handlers.collapse(model, {{{name!r}: {max(2 * bound, 1)}}})`."
            if mean > MUCH
            else "",
            (name,),
        )
