"""Hold a mode with the evidence to judge it."""

from dataclasses import dataclass

import numpy as np

from ..density import LogDensity
from ..optimise.information import Information
from ..optimise.surface import Climbs
from ..optimise.view import View

SAME_HEIGHT = 1e-3
"""Nats by which two climbs that ended at one place may differ."""

_GAIN = 1e-6  # nats: where less is to be gained by a step, there is a maximum
_SAME_PLACE = 0.02  # squared distance in standard errors


@dataclass(frozen=True, eq=False)
class Found:
    """End of the highest climb.

    **Fields**
    - `information`: None where second derivatives are not finite or were not computed.
    - `is_edge`: shape `(dim,)`: coordinates that have gone to the edge of a support.
    - `climbs`: all of them; `is_settled`, `is_last_step`: of the highest one, whether it could gain no more, and
      whether it was stopped.
    - `epsilon`: what numbers of order one are rounded to.
    """

    density: LogDensity
    estimator: str
    view: View
    information: Information | None
    is_edge: np.ndarray
    climbs: Climbs
    is_settled: bool
    is_last_step: bool
    epsilon: float

    @property
    def is_converged(self) -> bool:
        """Return whether no step in any direction gains anything."""
        if self.information is None:
            return self.is_settled
        noise = 100 * self.epsilon * abs(self.view.value)
        return not self.information.rising.size and self.gain <= _GAIN + noise

    @property
    def gain(self) -> float:
        """Bound the possible gain in nats: Newton's step where curvature is known, and a step to zero slope elsewhere.

        NaN without second derivatives.
        """
        if self.information is None:
            return np.nan
        gradient, level = self.view.gradient.astype(float), self.information.level
        far = max(1.0, float(np.linalg.norm(self.view.position)))
        rises = np.abs(level.T @ gradient) / np.linalg.norm(level, axis=0) * far
        return self.information.gain(gradient) + float(rises.sum())

    @property
    def is_here(self) -> np.ndarray:
        """Return which climbs ended at this mode, shape `(start,)`."""
        moves = (self.climbs.positions - self.view.position).astype(float)
        if self.information is None:
            distances = np.max(np.abs(moves), axis=1) / (1 + np.max(np.abs(self.view.position)))
        else:
            distances = np.einsum("si,ij,sj->s", moves, self.view.information.astype(float), moves)
        noise = SAME_HEIGHT + 1e3 * self.epsilon * abs(self.view.value)
        is_as_high = np.nan_to_num(self.climbs.heights, nan=-np.inf) > self.view.value - noise
        return is_as_high & (np.abs(distances) < _SAME_PLACE)

    def sites(self, is_part: np.ndarray) -> tuple[str, ...]:
        """Return the sites of some coordinates, shape `(dim,)`."""
        entries = self.density.layout.entries
        return tuple(entry.name for entry in entries if is_part[entry.start : entry.stop].any())
