"""Chains as workers know them: a plan, and the machine that carries it out."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..density import LogDensity
from ..runs.method import AbstractPlanned
from .compiled import compile_programs
from .group import GroupMachine
from .machine import Machine
from .plan import Plan


def build(
    density: LogDensity,
    plan: Plan,
    devices: Sequence[Any] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Machine, dict[str, float]]:
    """Compile the programs of a plan, for these devices or JAX's default one; return the machine and the seconds."""
    programs = compile_programs(density, plan, devices, meanwhile)
    machine = Machine(
        plan, programs.advance, programs.sites, clock, constants=programs.constants, put=programs.put
    )
    return machine, programs.seconds


@dataclass(frozen=True)
class MCMC(AbstractPlanned[Plan]):
    """Chains of one plan on one target. **Fields**: `density`, the target; `plan`."""

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[GroupMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        machine, seconds = build(self.density, self.plan, devices, meanwhile, clock)
        return GroupMachine(machine), seconds
