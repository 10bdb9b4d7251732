"""Sample from a posterior: check the arguments, then run the chains."""

import time
from collections.abc import Sequence

import jax
import numpy as np

from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision, scope
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..runs.carry_out import RunRequest, closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.memory import check_memory
from ..runs.requests import check_kinds, check_until, default_executor, density_of, display
from ..runs.resume import attach
from ..runs.stopping.base import AbstractRule
from ..runs.stopping.looks import first_look
from ..runs.stored.describe import describe
from ..storage import AbstractStore, Memory
from .block import rows_for
from .draws import Draws
from .limits import MAX_LANES, chain_numbers, check_lanes, count_of_draws, lanes_on_accelerators
from .plan import ON_NONFINITE, OnNonFinite, Plan
from .sites_program import rows_at_once
from .start.choose import KEPT, Init, start_of
from .start.shared import points_for
from .statistics import width_of

DEFAULT_WARMUP = 350
ENSEMBLE_WARMUP = 200
"""Default draws of warm-up; the second, for samplers whose chains learn from each other."""

MAX_WARMUP = 2000
"""Most draws of warm-up of a chain that has not settled after `DEFAULT_WARMUP` draws, without `warmup=`."""

_FEWEST = 4  # chains that learn together: fewer give no estimate of their spread


@checks_options
def sample(
    target: Model | LogDensity,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    draws: int = 1000,
    warmup: int | None = None,
    chains: int | Sequence[int] = 4,
    seed: int = 0,
    thinning: int = 1,
    init: Init = None,
    until: AbstractRule | None = None,
    lanes: int | None = None,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
    store: AbstractStore | None = None,
    progress: bool = True,
    on_nonfinite: OnNonFinite = "notice",
    quiet: bool = False,
) -> Draws:
    """Draw from the posterior of a model.

    Draws are reproducible bit for bit: they depend on target, sampler, its options, seed, precision and lanes, and not
    on the executor, the other chains, the progress display or the store.

    **Arguments**
    - `target`: a model called with its data, `model(x, y=y)`, or a `LogDensity`.
    - `sampler`: `NUTS()`, `HMC()` or `RandomWalk()`, or `ChEES()` for many chains at once, with their options; or a
      kernel of your own. The run chooses
      the form of the metric unless you name one by `metric=`.
    - `draws`: kept draws per chain; >= 1. With `until`, the maximum. A chain makes at most 2**31 - 1 draws, with its
      warm-up and before thinning.
    - `warmup`: draws per chain that adapt step size and metric, and are not among the results; >= 0. None is 350.
      A chain that has not settled by then goes on, up to 2000: a notice and `draws.tuning` report it. With `ChEES`,
      None is 200 for all chains.
    - `chains`: the number of chains, at most 2**20, or a list of zero-based chain numbers below 2**32, which become
      the chain coordinate. Chain k gives the same draws alone as among others. Chains of `ChEES` learn from each other:
      give their number, at most 2**16.
    - `seed`: an integer in [0, 2**64).
    - `thinning`: keep every n-th draw; >= 1.
    - `init`: where chains start: `infer.from_uniform()` (the default), `from_prior()`, `from_median()`,
      `from_values({...})` or the mapping itself, in the model's space; a `Mode` from `infer.find_mode`, to start at its
      values; or the `Draws` of an earlier run, to start where its chains ended. The start of a chain does not depend on
      the others.
    - `until`: a rule that ends the run once it holds for all chains, such as `infer.ESS(1000)`, `RHat(1.01)`,
      `MCSE(0.05)` or `Seconds(60)`; combine rules by `&` and `|`. It is checked after 100 draws per chain (from 64
      chains on, after 400 in all and at least 4 per chain), then each time the number of draws has grown by half. These
      points are fixed, so that results are reproducible; only `Seconds` depends on the clock. `draws.stopping` has what
      each check found.
    - `lanes`: how many chains one compiled program carries, at most 2**16. It changes the last bits of the draws, so it
      is recorded. None is 1 on CPU; on accelerators, however many, the number of chains rounded up to a power of two,
      at most 1024; and all chains with `ChEES`. Devices share out groups of this many chains.
    - `executor`: where chains run; None is `Threads()`, or `Devices()` with several accelerators. `Processes()`
      starts a process for each core; `Devices(shard={"X": 0})` distributes rows of data over devices.
    - `precision`: `"float64"` or `"float32"`. Your JAX settings have no effect on it and stay as they are.
    - `store`: where draws are kept during the run; None is `Memory()`. `RunFolder(path)` keeps them on disk.
    - `on_nonfinite`: `"notice"` counts log densities and gradients that are not finite in `draws.counts`, keeps the
      first positions in `draws.failures`, and gives a notice at the end. `"raise"` stops at the first one with an error
      that explains it.
    - `progress`: show a live display. `quiet`: show neither display nor notices.

    Ctrl-C stops after the current block (about half a second; seconds with thousands of lanes) and returns the draws
    made so far, with `complete` False; a second Ctrl-C raises. A full disk stops the run too, with a notice: the draws
    are returned. A chain fails on an exception that comes twice, on a worker lost for the fourth time, or after 250
    draws in a row without a move. It is left out with a notice, and the other chains go on. Continue a run in a
    `RunFolder` by `infer.resume`, and any result by its `extend`.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` if no chain found a starting point with a finite log density; `SamplingError` if every chain
    failed, or at the first value that is not finite with `on_nonfinite="raise"`.

    **Example**

    >>> draws = infer.sample(eight_schools(sigma, y), draws=200, chains=2, quiet=True)
    >>> draws
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    >>> draws["theta"].shape  # (chain, draw, school)
    (2, 200, 8)
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            numbers = chain_numbers(chains)
            num_kept, thinning = count_of_draws("draws", draws), count_of_draws("thinning", thinning)
            keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
            check_kinds(target, sampler, executor, store)
            check_until(until)
            is_ensemble = sampler.is_ensemble
            usual = ENSEMBLE_WARMUP if is_ensemble else DEFAULT_WARMUP
            num_warmup = usual if warmup is None else count_of_draws("warmup", warmup, 0)
            if on_nonfinite not in ON_NONFINITE:
                raise OptionError(
                    f"on_nonfinite must be one of {', '.join(ON_NONFINITE)}, got {on_nonfinite!r}."
                )
            start = start_of(init)
            density = density_of(target, precision)
            check_adaptation(sampler, density.dim)
            if until is not None:
                until.check([entry.name for entry in density.layout.drawn], len(numbers))
            lanes = _lanes_of(sampler, chains, lanes) if is_ensemble else _lane_width(lanes, len(numbers))
            executor = executor or default_executor()
            with scope(density.program.precision):
                points = points_for(sampler, start, density, int(seed), numbers, len(numbers))
            num_rows = rows_for(density.dim, lanes, executor.pace)
            check_lanes(lanes, density.dim, width_of(sampler), num_rows)
            plan = Plan(
                sampler,
                num_warmup,
                num_kept,
                thinning,
                int(seed),
                lanes,
                precision,
                density.dim,
                num_rows,
                cut_arguments(density, executor.sharding),
                points,
                MAX_WARMUP if warmup is None and not is_ensemble else num_warmup,
                until,
                on_nonfinite,
                first_look(len(numbers)),
                executor.pace,
                rows_at_once(),
            )
            store = store or Memory()
            if store.location is None:
                check_memory(density.layout, sampler.stats, len(numbers), num_warmup, num_kept)
            run = store.create(describe(density, plan, numbers, start))
            with closed_on_error(run):
                if kept := start.kept():
                    run.record(KEPT, kept)
            groups = [numbers[i : i + lanes] for i in range(0, len(numbers), lanes)]
            order = RunRequest(density, plan, groups, executor, run, display(progress, quiet), quiet, began)
        return attach(order, interrupts)


def check_adaptation(sampler: AbstractKernel, dim: int) -> None:
    """Raise `OptionError` for an adaptation that is not of the sampler's kind, or not for so many dimensions."""
    wanted = sampler.adaptation_kind
    if not isinstance(sampler.adaptation, wanted):
        raise OptionError(
            f"{type(sampler).__name__}: its adaptation must be an {wanted.__name__}, got {sampler.adaptation!r}."
        )
    sampler.adaptation.check(dim)


def _lanes_of(sampler: AbstractKernel, chains: int | Sequence[int], lanes: int | None) -> int:
    """Return the number of lanes: all chains, if they learn from each other."""
    name = type(sampler).__name__
    if not isinstance(chains, (int, np.integer)):
        raise OptionError(
            f"chains must be a number of chains with {name}, whose chains learn from each other; got {chains!r}. "
            f"Write for instance chains=64."
        )
    if chains < _FEWEST:
        raise OptionError(
            f"chains must be at least {_FEWEST} with {name}, whose chains learn from each other, got {chains!r}. "
            "64 chains are usual; for a few chains, use infer.NUTS()."
        )
    positive_count(f"chains of {name}", chains, maximum=MAX_LANES)
    if lanes is not None and lanes != chains:
        raise OptionError(
            f"lanes must equal the number of chains with {name}, which move in step; got lanes={lanes!r} for "
            f"chains={chains!r}. Leave it out."
        )
    superchains = getattr(sampler, "superchains", None)
    if superchains is not None and chains % superchains:
        raise OptionError(
            f"{name}: superchains must divide the number of chains, got superchains={superchains} for chains={chains}."
        )
    return int(chains)


def _lane_width(lanes: int | None, num_chains: int) -> int:
    if lanes is not None:
        return positive_count("lanes", lanes, maximum=MAX_LANES)
    return 1 if jax.default_backend() == "cpu" else lanes_on_accelerators(num_chains)
