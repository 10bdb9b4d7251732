"""Sample from a model: check what was asked, and have the chains run."""

import time
from collections.abc import Sequence

import jax
import numpy as np

from ..adaptation.metric import check_room
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision, scope
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..storage import AbstractStore, Memory
from .block import rows_for
from .describe import describe
from .draws import Draws
from .interrupts import Interrupts
from .memory import check_memory
from .plan import ON_NONFINITE, OnNonFinite, Plan
from .requests import check_kinds, check_until, default_executor, density_of, display
from .resume import attach
from .run import Order
from .starting.choose import KEPT, Init, start_of
from .starting.shared import points_for
from .stopping.base import AbstractRule
from .stopping.looks import first_look

DEFAULT_WARMUP = 350
ENSEMBLE_WARMUP = 200
"""Draws of warm-up where nobody said how long it is to be; the second, where all chains learn together."""

MAX_WARMUP = 2000
"""Of a chain that has not settled after `DEFAULT_WARMUP` draws, where nobody said how long warm-up is to be."""

_FEWEST = 4  # chains that learn together: fewer tell nothing of their spread


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

    The same target, seed, precision and lane width give the same draws, bit for bit, whatever executor runs them,
    whichever other chains are run, and whether or not the run is watched or stored.

    **Arguments**
    - `target`: a model called with its data, `model(x, y=y)`, or a `LogDensity`.
    - `sampler`: `NUTS()` or `HMC()`, or `ChEES()` for many chains at once, with their options; `metric=` of all is
      chosen by the run unless you name a form.
    - `draws`: kept draws per chain; >= 1. Under `until`, the most there may be.
    - `warmup`: draws per chain spent on learning step size and metric, not kept among the draws; >= 0. None is
      350, and more for a chain that has not settled by then: up to 2000, which a notice and `draws.tuning` tell. Under
      `ChEES` None is 200, for all chains.
    - `chains`: how many chains, or a list of zero-based chain numbers, which become the chain coordinate. Chain k
      is the same alone as among others; those of `ChEES` learn from each other, and are given by their count.
    - `seed`: an integer in [0, 2**64).
    - `thinning`: keep every n-th draw; >= 1.
    - `init`: where chains begin: `infer.from_uniform()`, which is None, `from_prior()`, `from_median()`,
      `from_values({...})` or the mapping itself, in the model's space; the `Mode` of `infer.find_mode`, for its values;
      or the `Draws` of an earlier run, to begin where its chains ended. What a chain begins at does not depend on which
      others are run.
    - `until`: a rule that ends the run as soon as it holds for the same number of draws of every chain, such as
      `infer.ESS(1000)`, `RHat(1.01)`, `MCSE(0.05)` or `Seconds(60)`, combined by `&` and `|`. It is looked at after
      100 draws per chain (from 64 chains on, after 400 of all together and at least 4 per chain), and after each half
      as many again, so that the result is the same however the run is made; only `Seconds` depends on the clock.
      `draws.stopping` says what was found.
    - `lanes`: how many chains one compiled program carries; it changes the last bits of the draws, so it is yours to
      choose and is recorded. None is 1 on CPU, and the chains rounded up to a power of two on accelerators; all chains
      under `ChEES`.
    - `executor`: where chains run; None is `Threads()`, or `Devices()` where there are several accelerators.
      `Processes()` starts a process for each core; `Devices(shard={"X": 0})` shares out data over devices.
    - `precision`: `"float64"` or `"float32"`; your own settings of JAX neither matter nor are changed.
    - `store`: where draws go as they are made; None is `Memory()`. `RunFolder(path)` survives the process.
    - `on_nonfinite`: `"notice"` counts log densities and gradients that are not finite, in `draws.counts`, keeps the
      first places in `draws.failures`, and says so at the end; `"raise"` stops the run at the first one and says why.
    - `progress`: show a live display. `quiet`: neither display nor notices.

    Ctrl-C stops after the current block (about half a second; seconds with thousands of lanes) and returns what was
    drawn, with `complete` False; a second one raises. A disk that is full stops the run too: what was drawn is
    returned, with a notice. A chain that cannot go on (an exception that came twice, a worker lost for the fourth time,
    or 250 draws in a row without a move) is left out, with a notice, and harms no other. What is in a `RunFolder` can
    be taken up again by `infer.resume`, and any result by its `extend`.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` when no starting point of any chain has a finite log density; `SamplingError` when no chain
    could go on, or at the first number that is not finite under `on_nonfinite="raise"`.

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
            numbers = _chain_numbers(chains)
            num_kept, thinning = positive_count("draws", draws), positive_count("thinning", thinning)
            keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
            check_kinds(target, sampler, executor, store)
            check_until(until)
            is_ensemble = sampler.is_ensemble
            usual = ENSEMBLE_WARMUP if is_ensemble else DEFAULT_WARMUP
            num_warmup = usual if warmup is None else positive_count("warmup", warmup, 0)
            if on_nonfinite not in ON_NONFINITE:
                raise OptionError(
                    f"on_nonfinite must be one of {', '.join(ON_NONFINITE)}, got {on_nonfinite!r}."
                )
            start = start_of(init)
            density = density_of(target, precision)
            check_room(density.dim, sampler.metric)
            if until is not None:
                until.check([entry.name for entry in density.layout.drawn], len(numbers))
            lanes = _lanes_of(sampler, chains, lanes) if is_ensemble else _lane_width(lanes, len(numbers))
            executor = executor or default_executor()
            with scope(density.program.precision):
                points = points_for(sampler, start, density, int(seed), numbers, len(numbers))
            plan = Plan(
                sampler,
                num_warmup,
                num_kept,
                thinning,
                int(seed),
                lanes,
                precision,
                density.dim,
                rows_for(density.dim, lanes, executor.pace),
                cut_arguments(density, executor.sharding),
                points,
                MAX_WARMUP if warmup is None and not is_ensemble else num_warmup,
                until,
                on_nonfinite,
                first_look(len(numbers)),
                executor.pace,
            )
            store = store or Memory()
            if store.location is None:
                check_memory(density.layout, len(numbers), num_warmup, num_kept)
            run = store.create(describe(density, plan, numbers, start))
            if kept := start.kept():
                run.record(KEPT, kept)
            groups = [numbers[i : i + lanes] for i in range(0, len(numbers), lanes)]
            order = Order(density, plan, groups, executor, run, display(progress, quiet), quiet, began)
        return attach(order, interrupts)


def _chain_numbers(chains: int | Sequence[int]) -> list[int]:
    if isinstance(chains, (int, np.integer)):
        return list(range(positive_count("chains", chains)))
    numbers = [positive_count("each of chains", chain, 0) for chain in chains]
    if not numbers or len(set(numbers)) != len(numbers):
        raise OptionError(f"chains must be a count or a list of different chain numbers, got {chains!r}.")
    return numbers


def _lanes_of(sampler: AbstractKernel, chains: int | Sequence[int], lanes: int | None) -> int:
    """All chains of a sampler whose chains learn from each other."""
    name = type(sampler).__name__
    if not isinstance(chains, (int, np.integer)):
        raise OptionError(
            f"chains must be a count under {name}, whose chains learn from each other: none of them is the same "
            f"without the others. Got {chains!r}; give a number, such as chains=64."
        )
    if chains < _FEWEST:
        raise OptionError(
            f"chains must be at least {_FEWEST} under {name}, whose chains learn from each other, got {chains!r}. "
            "Sixty-four are usual; for a few chains, infer.NUTS() is better."
        )
    if lanes is not None and lanes != chains:
        raise OptionError(
            f"lanes is the number of chains under {name}, which move in step: got lanes={lanes!r} for "
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
        return positive_count("lanes", lanes)
    return 1 if jax.default_backend() == "cpu" else 1 << (num_chains - 1).bit_length()
