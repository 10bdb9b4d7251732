"""Fit a guide to simulated data, and rank the truth among draws from it."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..core.errors import AccordError, OptionError
from ..core.precision import Precision, scope
from ..density import LogDensity
from ..executors import Serial
from ..executors.pools import one_blas_thread
from ..guides.base import AbstractGuide
from ..mcmc.start.choose import start_of
from ..optimise.surface import in_batches
from ..report import NoProgress
from ..runs.carry_out import carry_out
from ..runs.interrupts import Interrupts
from ..storage import Memory
from ..vi.fit import described_optimizer, order_of
from ..vi.plan import Plan, stages_of
from ..vi.plateau import ELBOPlateau
from ..vi.restart import Restart
from ..vi.result import Fit
from ..vi.stored import describe
from .calibration import Trial
from .ranked import LP
from .ranks import ranked
from .simulator import Simulator

_STEPS = 10_000
"""Steps of a fit at most, as of `infer.fit`."""


def check_guide(guide: AbstractGuide, given: Mapping[str, Any]) -> None:
    """Raise `OptionError` for a guide without spread, and for options of chains."""
    if guide.has_point:
        raise OptionError(
            f"{guide!r} is one point, or has one for some unknowns, among whose draws nothing can be ranked. Take "
            "infer.guides.MeanField(), or another guide that has spread."
        )
    for name, value in given.items():
        if value is not None:
            raise OptionError(
                f"{name}={value!r} is an option of chains; draws from a {type(guide).__name__} are independent. Leave "
                "it out."
            )


def trial_of_fit(
    simulator: Simulator,
    guide: AbstractGuide,
    num_draws: int,
    number: int,
    seed: int,
    interrupts: Interrupts,
) -> Trial | None:
    """Fit the guide to the data of a simulation, and rank the truth; None if it was stopped."""
    simulation = simulator.simulate(seed)
    try:
        density = simulator.given(simulation)
        fit = fitted(density, guide, seed, interrupts)
    except OptionError:
        raise  # of the guide, not of these data
    except AccordError as error:
        return Trial(number, seed, (), {}, {}, error)
    if not fit.complete:
        return None
    if not np.isfinite(simulation.log_density):
        return Trial(number, seed, fit.notices, {}, {})
    drawn = fit.draw(num_draws, seed=seed)
    with scope(density.program.precision), one_blas_thread():
        log_density = in_batches(density, _heights)(drawn.positions)
    draws = {name: np.asarray(drawn[name][0]) for name in simulation.truth}
    effective = {name: np.full(each[0].size, float(num_draws)) for name, each in draws.items()}
    ranks = ranked(simulation.truth, draws, simulation.log_density, log_density, seed)
    return Trial(number, seed, fit.notices, ranks, effective | {LP: np.array([float(num_draws)])})


def fitted(density: LogDensity, guide: AbstractGuide, seed: int, interrupts: Interrupts) -> Fit:
    """Fit a guide at the defaults of `infer.fit`, in this thread; the fit of the same seed is the same."""
    precision: Precision = density.program.precision
    stages, start = stages_of(density, guide, None, None, _STEPS, None), start_of(None)
    with scope(precision):
        points = start.points(density, seed, range(1))
    plan = Plan(stages, ELBOPlateau(), points, seed, 1, precision, density.dim)
    run = Memory().create(describe(density, plan, start, described_optimizer(None), _STEPS))
    units = [Restart(0, num_stages=len(stages))]
    return carry_out(order_of(density, plan, units, Serial(), run, NoProgress(), True, 0.0), interrupts)


def _heights(density: LogDensity, positions: Any) -> Any:
    return jax.lax.map(density, positions)
