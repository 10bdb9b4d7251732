"""Make the notices of a mode."""

from collections.abc import Iterator

import numpy as np

from ..core.notice import Notice
from ..density.rows.conditions import listed
from .edges import PART, level_parts
from .found import SAME_HEIGHT, Found

_NEAR = 10.0  # nats: what is lower has a share of less than 1e-4 unless it is much wider
_OBJECTIVES = {"map": "log density", "mle": "log likelihood"}


def findings(found: Found) -> Iterator[Notice]:
    """Return the notices of a mode."""
    yield from _convergence(found)
    if found.information is None:
        yield _without_errors(found)
    elif found.is_converged and found.information.level.size:
        yield from _level(found, level_parts(found.information) > PART)
    yield from _elsewhere(found)


def _convergence(found: Found) -> Iterator[Notice]:
    if found.is_converged:
        return
    what, information, names = _OBJECTIVES[found.estimator], found.information, ()
    message = f"The search ended where the {what} still rises"
    if information is not None and information.rising.size:
        parts = np.linalg.norm(information.rising / information.scales[:, None], axis=1)
        names = found.sites(parts > PART)
        message = (
            f"The {what} curves upward along {_lines(names)} where the search ended: this is no maximum."
        )
    elif information is not None:
        message = f"{message}: another step promises {found.gain:.3g}."
    else:
        message = f"{message}."
    if found.is_last_step:
        remedy = "Raise `max_steps`, or start nearer by `init=`."
    else:
        remedy = (
            "There may be no maximum, as where a scale can go to zero together with what it scales: look at the "
            "values, write the model without those it sums over, or give a prior that keeps them away."
        )
    yield Notice("error", "not_converged", message, remedy, names)


def _without_errors(found: Found) -> Notice:
    if found.view.information.size:
        what = "the second derivatives at the mode are not finite"
    else:
        what = f"the matrix of second derivatives of {found.density.dim} unknowns is too large"
    return Notice(
        "warning",
        "no_standard_errors",
        f"There are no standard errors: {what}.",
        "`infer.sample` shows how uncertain the values are.",
    )


def _level(found: Found, is_part: np.ndarray) -> Iterator[Notice]:
    """Directions along which the objective does not fall: toward the edge of a support, and others."""
    what = _OBJECTIVES[found.estimator]
    edges = found.sites(found.is_edge)
    if edges:
        yield Notice(
            "warning",
            "edge_of_support",
            f"The {what} is highest at the edge of the support of {listed(edges)}, which was approached as far as it "
            "matters; there is no standard error for what lies there.",
            "Use the edge as the estimate, or give a prior that keeps away from it; `infer.sample` averages over "
            "the values near it.",
            edges,
        )
    others = found.sites(is_part & ~found.is_edge)
    if others:
        without_priors = (
            ' Priors are left out by "mle"; with theirs, "map" may have a mode.'
            if found.estimator == "mle"
            else ""
        )
        yield Notice(
            "warning",
            "singular_information",
            f"The information is singular: along {_lines(others)} the {what} does not fall. The estimate is one of "
            "many as good, or the best one is at infinity.",
            f"Fix one of the values that the data cannot distinguish, or give a prior that can.{without_priors}",
            others,
        )


def _elsewhere(found: Found) -> Iterator[Notice]:
    """Climbs that ended at another place, or nowhere."""
    climbs, is_here = found.climbs, found.is_here
    num_starts, is_other = len(climbs.heights), climbs.is_settled & ~is_here
    if is_other.any():
        best = float(np.max(climbs.heights[is_other]))
        lower = found.view.value - best
        is_as_high = lower < SAME_HEIGHT + 1e3 * found.epsilon * abs(best)
        words = "is as high" if is_as_high else f"is lower by {lower:.3g}"
        yield Notice(
            "warning" if lower < _NEAR else "info",
            "other_modes",
            f"{is_other.sum()} of {num_starts} starts ended elsewhere; the highest place among them {words}.",
            "One mode does not describe the posterior: look at draws of `infer.sample`. More `starts=` find more.",
        )
    num_lost = int(np.sum(~climbs.is_settled & ~is_here))
    if num_lost and found.is_converged:
        yield Notice(
            "info",
            "lost_starts",
            f"{num_lost} of {num_starts} starts found no finite starting point, or did not finish.",
            "They do not affect the mode, which others reached.",
        )


def _lines(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"a direction of site {names[0]!r}"
    return f"directions in which {listed(names)} change together"
