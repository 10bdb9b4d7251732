"""Tell whether a model is the one of a stored calibration, by what it simulates."""

from dataclasses import dataclass

import numpy as np

from ..runs.constants import Constants
from ..runs.fingerprint import Fingerprint
from .simulations import simulation_seed
from .simulator import Simulation, Simulator

_NUM_COMPARED = 3  # simulations


@dataclass(frozen=True)
class Identity:
    """Numbers that other models do not have.

    **Fields**: `fingerprint`, of the first simulations: the log density of each truth, and the sum of all simulated
    values; `constants` in the code of the model, None if there are too many.
    """

    fingerprint: Fingerprint
    constants: Constants | None

    @staticmethod
    def of(simulator: Simulator, seed: int) -> "Identity":
        """Return the identity of a model, for the calibration of this seed."""
        found = [simulator.simulate(simulation_seed(seed, number)) for number in range(_NUM_COMPARED)]
        values = [[each.log_density, _sum(each)] for each in found]
        return Identity(Fingerprint(np.array(values, float)), Constants.of(simulator.trace()))


def _sum(simulation: Simulation) -> float:
    """Add up all finite values."""
    values = [np.asarray(each, float) for each in (*simulation.truth.values(), *simulation.data.values())]
    return float(sum(np.sum(each, where=np.isfinite(each)) for each in values))
