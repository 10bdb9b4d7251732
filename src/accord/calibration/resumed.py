"""Take up a stored calibration where it ended."""

import functools
from collections.abc import Callable, Mapping

from ..core.errors import OptionError
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor, Devices
from ..kernels import AbstractKernel
from ..language import Model
from ..mcmc.samplers import sampler_from
from ..report import AbstractProgress
from ..runs.interrupts import Interrupts
from ..runs.stopping.base import AbstractRule
from ..runs.stored.checked import check_same
from ..runs.target import Target
from ..storage import AbstractRun
from ..vi.fit import check_executor
from ..vi.stored import guide_of
from .book import Book
from .calibration import Calibration
from .carry_out import CalibrationRequest, carry_out, concluded
from .identity import Identity
from .kinds import is_of_fits
from .simulations import Simulating, executors_of
from .simulator import Simulator
from .stored import describe, options_of, stored_trials


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> Callable[[Interrupts], Calibration]:
    """Take up a stored calibration with its model; return what runs the simulations that are missing.

    Arguments as of `infer.resume`; `began` is not used.

    **Raises** `StorageError` if model, data or settings differ from the stored ones; `OptionError` for a stopping rule.
    """
    del began
    if until is not None:
        raise OptionError(
            "until: a calibration has no stopping rule, but a number of simulations. Leave it out."
        )
    stored = run.manifest
    trials = stored_trials(run)
    if is_of_fits(stored):
        if sampler is not None:
            raise OptionError("sampler: this calibration is one of fits, which have none. Leave it out.")
        kernel = guide_of(stored)
        check_executor(executor, "infer.resume", "simulation")
    else:
        kernel = sampler or sampler_from(stored["sampler"])
    simulator = Simulator.of(target, stored["precision"], kernel)
    posterior = simulator.posterior
    where, of_chain = executors_of(simulator.cut(executor))
    shard: Mapping[str, int] = dict(stored["settings"].get("shard", {}))
    if shard and not executor.sharding and shard != dict(cut_arguments(posterior, ())):
        of_chain = Devices(data=1, shard=shard)  # blocks of data give the same bits on one device
    seed, precision = stored["seed"], stored["precision"]
    method = Simulating(simulator.model, kernel, options_of(stored), seed, precision, of_chain, simulator)
    here = dict(cut_arguments(posterior, of_chain.sharding))
    check_same(run, describe(posterior, method, here, len(stored.chains)))
    book = Book(run, Target(posterior, run, {}, method.pace), Identity.of(simulator, method.seed), trials)
    known = {trial.number for trial in trials}
    missing = [number for number in stored.chains if number not in known]
    if missing or run.problems:
        book.identify()
    if missing:
        request = CalibrationRequest(method, where, book, missing, shown, is_quiet)
        return functools.partial(carry_out, request)
    found = concluded(book, trials)
    return lambda interrupts: found
