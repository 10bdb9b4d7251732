"""Find the peak of a density of unconstrained numbers, Jacobian included, and judge whether it is one."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..core.precision import float_dtype
from ..density import LogDensity
from .information import Information, sharpened
from .starts import climbs_from
from .surface import heights
from .view import View, viewing

MAX_STEPS = 1000
_GAIN = 1e-6  # nats


@dataclass(frozen=True, eq=False)
class Peak:
    """Where the highest climb ended.

    **Fields**: `view` of it; `information`, None unless the density falls in all directions there; `is_reached`,
    whether another step would gain nothing.
    """

    view: View
    information: Information | None
    is_reached: bool


def peak_from(density: LogDensity, rounds: Iterable[np.ndarray]) -> Peak | None:
    """Climb from candidates, and refine the highest end by Newton's method; None without a finite candidate.

    **Arguments**: `rounds`, as of `climbs_from`.
    """
    epsilon = float(np.finfo(float_dtype(density.program.precision)).eps)
    climbs = climbs_from(density, LogDensity.__call__, rounds, MAX_STEPS)
    if np.all(np.isnan(climbs.heights)):
        return None
    end = climbs.positions[int(np.nanargmax(climbs.heights))]
    view = sharpened(viewing(density, LogDensity.__call__), end, epsilon)
    information = None
    if view.is_known:
        information = Information.checked(view, epsilon, heights(density, LogDensity.__call__))
    if information is None or information.told.shape[1] < density.dim:
        return Peak(view, None, is_reached=False)
    gain = information.gain(view.gradient)
    return Peak(view, information, bool(gain <= _GAIN + 100 * epsilon * abs(view.value)))
