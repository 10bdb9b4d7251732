"""Find draws near a posterior by paths that climb to its mode."""

import time

from ...core import keys
from ...core.options import checks_options, positive_count
from ...core.precision import Precision, scope
from ...density import LogDensity
from ...executors import AbstractExecutor
from ...language import Model
from ...mcmc.start.choose import KEPT, Init, start_of
from ...report import AbstractProgress
from ...runs.carry_out import carry_out, closed_on_error
from ...runs.interrupts import Interrupts
from ...runs.method import RunRequest
from ...runs.requests import check_kinds, density_of, display
from ...storage import AbstractRun, AbstractStore, Memory
from ..fit import check_executor
from .host import PathHost
from .machine import Pathfinder
from .path import Path
from .plan import Plan
from .result import Paths
from .stored import blank_trail, describe

_MOST = 2**16  # paths
WORDS = ("path", "points and draws")
"""For a unit, and what is done in it."""


@checks_options
def pathfinder(
    target: Model | LogDensity,
    *,
    paths: int = 8,
    draws: int = 1000,
    seed: int = 0,
    init: Init = None,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
    store: AbstractStore | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Paths:
    """Approximate a posterior in seconds by normals on the way to its mode: multi-path Pathfinder.

    Each path climbs by L-BFGS. At every point after the first, what it has learnt of the curvature gives a normal; the
    one with the highest evidence lower bound, by 25 draws, is kept. Draws from the normals of all paths are weighted by
    the posterior and resampled. Read `paths.pareto_k` and the notices before using them: above 0.7 the draws are only
    good to begin at. That is common where a mode is far from most of the mass, as in hierarchies; `infer.fit` takes
    longer and is better there.

    Draws are reproducible bit for bit, whichever executor makes them, also after an interruption. A path does not
    depend on how many others there are.

    **Arguments**
    - `target`: a model called with its data, or a `LogDensity`. Discrete unknowns are summed out.
    - `paths`: the number of climbs, each from a start of its own; in [1, 65536]. Several find several modes.
    - `draws`: the number of draws of the result, and of those that each path makes to choose among; >= 1.
    - `seed`: an integer in [0, 2**64).
    - `init`: where paths begin, as for `infer.sample`.
    - `executor`: where paths run: `Threads()` (the default), `Serial()`, `Processes()`, `Dask()` or `Ray()`.
    - `precision`, `store`, `progress`, `quiet`: as for `infer.sample`. `infer.resume` goes on with stored paths.

    Ctrl-C stops after the current block and returns the draws of the paths that have some, with `complete` False.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` if no path found a start with a finite log density and gradient; `SamplingError` if none has
    a normal with a finite bound, such as one that begins at a mode.

    **Source**: Zhang, Carpenter, Gelman & Vehtari (2022), "Pathfinder: parallel quasi-Newton variational inference",
    JMLR 23(306). Unlike there, weights are over the mixture of all normals, which is right too if several paths come to
    one mode and few to another; and lines are searched, and curvature is checked, by the rules of `infer.find_mode`.

    **Example**

    >>> paths = infer.pathfinder(coin(4, heads), quiet=True)
    >>> paths.pareto_k < 0.7, paths["p"].shape
    (True, (1, 1000))
    >>> paths = infer.pathfinder(eight_schools(sigma, y), quiet=True)
    >>> infer.sample(eight_schools(sigma, y), init=paths, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            check_kinds(target, executor, store)
            count, num_draws = positive_count("paths", paths, maximum=_MOST), positive_count("draws", draws)
            keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
            start = start_of(init)
            where = check_executor(executor, "infer.pathfinder", "path")
            density = density_of(target, precision)
            with scope(precision):
                points = start.points(density, int(seed), range(count))
            plan = Plan(points, int(seed), count, num_draws, precision, density.dim, where.pace)
            run = (store or Memory()).create(describe(density, plan, start))
            with closed_on_error(run):
                if kept := start.kept():
                    run.record(KEPT, kept)
            units = [Path(number, blank_trail(run.manifest), num_draws) for number in range(count)]
            order = order_of(density, plan, units, where, run, display(progress, quiet, *WORDS), quiet, began)
        return carry_out(order, interrupts)


def order_of(
    density: LogDensity,
    plan: Plan,
    units: list[Path],
    executor: AbstractExecutor,
    run: AbstractRun,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> RunRequest[Paths]:
    """Return the order to carry out a plan; `began`, by `time.perf_counter`."""
    return RunRequest(
        Pathfinder(density, plan), PathHost(density, plan), units, executor, run, shown, is_quiet, began
    )
