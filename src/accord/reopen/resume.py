"""Continue a stored run where it ended."""

import time
from pathlib import Path
from typing import Any

from ..core.errors import OptionError
from ..core.forks import check_threads
from ..core.options import checks_options
from ..density import LogDensity
from ..executors import AbstractExecutor, Threads
from ..kernels import AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.samplers import check_sampler
from ..runs.carry_out import closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.requests import check_kinds, check_until, default_executor, display
from ..runs.stopping.base import AbstractRule
from ..storage import AbstractStore, RunFolder
from .methods import reopening_of


@checks_options
def resume(
    path: str | Path | AbstractStore,
    target: Model | LogDensity,
    *,
    sampler: AbstractKernel | None = None,
    until: AbstractRule | None = None,
    optimizer: Any = None,
    guide: Model | None = None,
    executor: AbstractExecutor | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Draws | Any:
    """Continue the run in a folder: the draws are the same as without the interruption.

    Draws are equal bit for bit on the same machine with the same JAX. Elsewhere the run continues from the same states,
    and its record `seams` says from which draw. A complete run is read and returned; `extend` makes it longer. Damaged
    files are set aside, and what they held is drawn again.

    Of a calibration, it runs the simulations that are missing or lost their workers, and returns a `Calibration`; of a
    fit, it goes on where each restart stood, and returns a `Fit` with its model; of a pathfinder, of populations or of
    nested sampling, where each path, population or run stood, and returns `Paths`, `SMCDraws` or `NestedDraws` with
    their model.

    **Arguments**
    - `path`: the folder, which holds every other argument of the run; or another store of your own.
    - `target`: the same model with the same data; no code is read from the folder.
    - `sampler`, `until`: the same sampler and the same rule, each needed if it is not one of accord's.
    - `optimizer`: of a fit, the same optimiser, if you gave one. `guide`: the same guide, if it was written as a model.
    - `executor`, `progress`, `quiet`: as for `infer.sample`.

    **Raises** `StorageError` if the folder holds no run, if another process writes to it, or if target, data or
    settings differ from the stored ones: it names each difference. `SamplingError` as in `infer.sample`, also at a
    value that is not finite if the run was started with `on_nonfinite="raise"`.

    **Example**

    >>> folder = infer.RunFolder("run")
    >>> _ = infer.sample(eight_schools(sigma, y), draws=100, chains=2, store=folder, quiet=True)
    >>> longer = infer.resume("run", eight_schools(sigma, y), quiet=True).extend(100)
    >>> np.array_equal(longer["theta"], draws["theta"])  # as one run of 200 draws
    True
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            store = path if isinstance(path, AbstractStore) else RunFolder(path)
            check_kinds(target, executor, store)
            if sampler is not None:
                check_sampler(sampler)
            check_until(until)
            check_threads()  # before the folder is locked, which a fork of its writer holds too
            run = store.reopen()
            with closed_on_error(run):
                reopening = reopening_of(run)
                where = executor or (default_executor() if reopening.is_of_chains else Threads())
                of_fit = {"optimizer": optimizer, "guide": guide}
                for name, value in of_fit.items():
                    if value is not None and not reopening.is_fit:
                        raise OptionError(f"{name}: the run is no fit, and has none. Leave it out.")
                shown = display(progress, quiet, *reopening.words)
                more = of_fit if reopening.is_fit else {}
                carry_on = reopening.take_up(run, target, sampler, until, where, shown, quiet, began, **more)
        return carry_on(interrupts)
