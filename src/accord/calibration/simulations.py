"""Run one simulation of a calibration in a worker: simulate, sample, and rank the truth."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..core import keys
from ..core.errors import AccordError, OptionError
from ..core.pace import USUAL, Pace
from ..core.precision import Precision
from ..executors import AbstractExecutor, Serial
from ..guides.base import AbstractGuide
from ..kernels import AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.extended import attach
from ..mcmc.prepare import prepared
from ..report.diagnostics import ess_mean
from ..runs.interrupts import Interrupts
from ..runs.method import AbstractMethod
from ..runs.units import AbstractMachine, AbstractUnit, Item
from .calibration import Trial
from .fitted import trial_of_fit
from .ranked import LP
from .ranks import ranked
from .simulator import Simulator


@dataclass(frozen=True)
class Numbered(AbstractUnit):
    """One simulation, by its number. **Fields**: `number`; `is_run`, whether it has run."""

    number: int
    is_run: bool = False
    noun: ClassVar[str] = "simulation"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return self.is_run


@dataclass(frozen=True)
class Simulating(AbstractMethod):
    """Simulations of one calibration.

    **Fields**: `model`; `sampler`, or the guide that is fitted, with its `options`: `draws`, `warmup` and `thinning`;
    `seed`; `working_precision`; `executor`, for the chain of a simulation; `known`, the simulator, if it is compiled
    already.
    """

    model: Model
    sampler: AbstractKernel | AbstractGuide
    options: dict[str, Any]
    seed: int
    working_precision: Precision
    executor: AbstractExecutor
    known: Simulator | None = None

    @property
    def precision(self) -> Precision:
        """See `AbstractMethod.precision`."""
        return self.working_precision

    @property
    def pace(self) -> Pace:
        """Return a pace without a deadline: how long a simulation takes is not known."""
        return replace(USUAL, patience=math.inf, patience_at_first=math.inf)

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple["SimulationMachine", dict[str, float]]:
        """See `AbstractMethod.machine`."""
        meanwhile()
        return SimulationMachine(
            self, self.known or Simulator.of(self.model, self.precision, self.sampler)
        ), {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without compiled programs."""
        fields = self.model, self.sampler, self.options, self.seed, self.precision, self.executor
        return Simulating, fields


@dataclass(frozen=True)
class SimulationMachine(AbstractMachine[Numbered]):
    """Machine of a worker that runs simulations. **Fields**: `method`; `simulator`, the compiled programs."""

    method: Simulating
    simulator: Simulator

    def work(
        self, units: Numbered, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Numbered, Sequence[Item]]:
        """Run the whole simulation; it brings nothing if it was stopped. See `AbstractMachine.work`."""
        trial = self.trial(units.number, is_stopped)
        return Numbered(units.number, is_run=True), [] if trial is None else [trial]

    def trial(self, number: int, is_stopped: Callable[[], bool]) -> Trial | None:
        """Run one simulation; return None if it was stopped."""
        method = self.method
        seed = simulation_seed(method.seed, number)
        if isinstance(method.sampler, AbstractGuide):
            num_draws, stopped = method.options["draws"], StoppedWhen(is_stopped)
            return trial_of_fit(self.simulator, method.sampler, num_draws, number, seed, stopped)
        simulation = self.simulator.simulate(seed)
        try:
            order = prepared(
                self.simulator.given(simulation),
                method.sampler,
                **method.options,
                chains=[0],
                seed=seed,
                precision=method.precision,
                executor=method.executor,
            )
            drawn = attach(order, StoppedWhen(is_stopped))
        except OptionError:
            raise  # of the run, not of these data
        except AccordError as error:
            return Trial(number, seed, (), {}, {}, error)
        if not drawn.complete and not drawn.lost_chains:
            return None
        notices = tuple(drawn.notices)
        if drawn.lost_chains or not np.isfinite(simulation.log_density):
            return Trial(number, seed, notices, {}, {})
        draws = {name: np.asarray(drawn[name][0]) for name in simulation.truth}
        log_density = np.asarray(drawn.stats["lp"][0])
        return Trial(
            number,
            seed,
            notices,
            ranked(simulation.truth, draws, simulation.log_density, log_density, seed),
            _effective(draws, drawn),
            num_divergent=int(np.sum(drawn.stats["diverging"])),
        )


class StoppedWhen(Interrupts):
    """Interrupts of a run within a run: heard once, when the outer one is stopped."""

    def __init__(self, is_stopped: Callable[[], bool]):
        super().__init__()
        self.is_stopped = is_stopped

    def check(self) -> None:
        """See `Interrupts.check`."""
        if not self._num_heard and self.is_stopped():
            self._num_heard = 1
        super().check()


def simulation_seed(seed: int, number: int) -> int:
    """The seed of one simulation: `simulate_and_recover` with it, and else the same, has its data and first chain."""
    words = keys.fold(keys.chain_key(seed, number), np.uint32(keys.USE_SIMULATION_SEED))
    return int(words[0]) << 32 | int(words[1])


def executors_of(executor: AbstractExecutor) -> tuple[AbstractExecutor, AbstractExecutor]:
    """Return where simulations run, and where the chain of each does.

    Simulations are given to workers, and each runs its chain itself; unless several devices or processes share the data
    of one.
    """
    shares_data = executor.spans_devices or tuple(executor.device_groups()) != (None,)
    return (Serial(), executor) if shares_data else (executor, Serial())


def _effective(names: Iterable[str], drawn: Draws) -> dict[str, np.ndarray]:
    """Return the effective number of draws of each scalar, by site, and of the log density."""
    values = {name: np.asarray(drawn[name]) for name in names} | {LP: np.asarray(drawn.stats["lp"])}
    return {
        name: ess_mean(some.reshape(*some.shape[:2], -1).astype(np.float64)) for name, some in values.items()
    }
