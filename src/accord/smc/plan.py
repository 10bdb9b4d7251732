"""Plan a run of populations."""

from dataclasses import dataclass

import numpy as np

from ..adaptation.hamiltonian import Hamiltonian
from ..core.pace import USUAL, Pace
from ..core.precision import Precision, float_dtype
from ..kernels import AbstractKernel
from ..resampling import AbstractResampling

KIND = "smc"
"""Name of this method in a manifest."""

MOST_STAGES = 1000
"""Stages of a population: a likelihood that no ladder of powers reaches is not followed for ever."""

_USUAL_ACCEPTANCE = 0.8  # where the kernel leaves it to its metric


@dataclass(frozen=True)
class Plan:
    """Plan of every population; plain values, so that it can be sent to a worker.

    **Fields**: `kernel`; `particles` and `populations`, their numbers; `moves`, particles of a stage that come of one
    ancestor, which is the first of them; `ess`, the share of particles that weights are worth at each stage;
    `resampling`; `seed`; `precision`; `dim`; `pace`, how much is done at a time.
    """

    kernel: AbstractKernel
    particles: int
    populations: int
    moves: int
    ess: float
    resampling: AbstractResampling
    seed: int
    precision: Precision
    dim: int
    pace: Pace = USUAL

    @property
    def dtype(self) -> np.dtype:
        """Type of positions."""
        return float_dtype(self.precision)

    @property
    def ancestors(self) -> int:
        """Number of particles that are chosen at each stage."""
        return self.particles // self.moves

    @property
    def metric_form(self) -> str:
        """Form of the metric, as the kernel has it."""
        return self._adaptation.metric

    @property
    def target_accept(self) -> float:
        """Mean acceptance that the step size aims at."""
        return self._adaptation.target_accept or _USUAL_ACCEPTANCE

    @property
    def _adaptation(self) -> Hamiltonian:
        adaptation = self.kernel.adaptation
        assert isinstance(adaptation, Hamiltonian)
        return adaptation
