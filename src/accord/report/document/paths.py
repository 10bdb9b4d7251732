"""Show how the candidates of paths weigh, and how near each path has come."""

from collections.abc import Mapping

import numpy as np

from ..figures.marks import Figure
from ..figures.sampler import seconds
from ..figures.weights import bounds, shares
from . import made
from .base import Section


def weighing(
    log_weights: np.ndarray,
    bounds_of: Mapping[int, float],
    errors: Mapping[int, float],
    timings: Mapping[str, float],
) -> Section | None:
    """Draw weights, bounds by path, and the time; None where no path has draws."""
    if not bounds_of:
        return None
    phases = made.phases_of(timings)
    panels = (shares(log_weights), bounds(bounds_of, errors), *([seconds(phases)] if phases else []))
    words = (
        "Candidates from the normals of all paths are weighted by the posterior, and draws are resampled among them. "
        "If few candidates have most of the weight, the draws are few points again and again. Paths that end at "
        "different bounds have come to different modes, or not to their end."
    )
    figure = Figure("Candidates", " ".join(each.sentence for each in panels), panels)
    return Section("candidates", "Candidates", words, (figure,))
