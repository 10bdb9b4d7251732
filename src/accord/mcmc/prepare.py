"""Check the arguments of a run of chains, and make the order to carry it out."""

import time
from collections.abc import Sequence

import jax
import numpy as np

from ..core import keys
from ..core.defaults import DEFAULT_WARMUP
from ..core.errors import OptionError
from ..core.options import positive_count
from ..core.precision import Precision, scope
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model
from ..runs.carry_out import closed_on_error
from ..runs.fingerprint import fixed_whole
from ..runs.requests import check_kinds, check_until, default_executor, density_of, display
from ..runs.stopping.base import AbstractRule
from ..runs.stopping.looks import first_look
from ..storage import AbstractStore, Memory
from .block import rows_for
from .extended import ChainRequest, order_of
from .formula_check import check_formulas
from .group import NotBegun
from .limits import MAX_LANES, chain_numbers, check_lanes, count_of_draws, lanes_on_accelerators
from .memory import check_memory
from .placed import placed_and_piloted
from .plan import ON_NONFINITE, OnNonFinite, Plan
from .reference import begun_near, reference_for
from .samplers import check_adaptation, check_sampler
from .sites_program import rows_at_once
from .start.choose import KEPT, Init, start_of
from .start.near import FromReference
from .start.shared import points_for
from .statistics import width_of
from .stored.describe import describe

ENSEMBLE_WARMUP = 200
"""Default draws of warm-up of samplers whose chains learn from each other."""

MAX_WARMUP = 2000
"""Most draws of warm-up of a chain that has not settled after `DEFAULT_WARMUP` draws, without `warmup=`."""

_FEWEST = 4  # chains that learn together: fewer give no estimate of their spread


def prepared(
    target: Model | LogDensity,
    sampler: AbstractKernel,
    *,
    draws: int,
    warmup: int | None,
    chains: int | Sequence[int],
    seed: int,
    thinning: int,
    precision: Precision,
    executor: AbstractExecutor | None,
    init: Init = None,
    until: AbstractRule | None = None,
    lanes: int | None = None,
    store: AbstractStore | None = None,
    progress: bool = False,
    on_nonfinite: OnNonFinite = "notice",
    quiet: bool = True,
) -> ChainRequest:
    """Return the order of a run, whose store is open; nothing is compiled yet. Arguments as of `infer.sample`."""
    began = time.perf_counter()
    numbers = chain_numbers(chains)
    num_kept, thinning = count_of_draws("draws", draws), count_of_draws("thinning", thinning)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    check_kinds(target, executor, store)
    check_sampler(sampler)
    check_until(until)
    is_ensemble = sampler.is_ensemble
    usual = ENSEMBLE_WARMUP if is_ensemble else DEFAULT_WARMUP
    num_warmup = usual if warmup is None else count_of_draws("warmup", warmup, 0)
    if on_nonfinite not in ON_NONFINITE:
        raise OptionError(f"on_nonfinite must be one of {', '.join(ON_NONFINITE)}, got {on_nonfinite!r}.")
    start = FromReference() if init is None and sampler.needs_reference else start_of(init)
    density = density_of(
        target, precision, sampler.whole, sampler.whole_if_discrete, takes_parts=sampler.needs_minibatch
    )
    sampler, near = placed_and_piloted(sampler, density, int(seed))
    start = near if near is not None and init is None else start
    check_adaptation(sampler, density.dim)
    if until is not None:
        until.check([entry.name for entry in density.layout.drawn], len(numbers))
    lanes = _lanes_of(sampler, chains, lanes) if is_ensemble else _lane_width(lanes, len(numbers))
    executor = executor or default_executor()
    reference = reference_for(sampler, density, int(seed))
    start = begun_near(start, reference)
    with scope(density.program.precision):
        points = points_for(sampler, start, density, int(seed), numbers, len(numbers))
    cut = cut_arguments(density, executor.sharding)
    if cut and sampler.needs_minibatch:
        raise OptionError(
            f"{type(sampler).__name__} takes a part of the data at each step, and so rows cannot be cut into blocks. "
            "Leave out the executor's `data=`, and `chunk=` of plates."
        )
    check_formulas(sampler, density, points, int(seed), numbers[0], is_cut=bool(cut))
    num_numbers = density.dim + density.layout.num_whole
    num_rows = rows_for(num_numbers, lanes, executor.pace)
    check_lanes(lanes, num_numbers, width_of(sampler), num_rows)
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
        cut,
        points,
        MAX_WARMUP if warmup is None and not is_ensemble else num_warmup,
        until,
        on_nonfinite,
        first_look(len(numbers)),
        executor.pace,
        rows_at_once(),
        fixed_whole(density.layout),
        reference,
    )
    store = store or Memory()
    if store.location is None:
        check_memory(density.layout, sampler.stats, len(numbers), num_warmup, num_kept)
    run = store.create(describe(density, plan, numbers, start))
    with closed_on_error(run):
        if kept := start.kept():
            run.record(KEPT, kept)
    groups = [NotBegun(tuple(numbers[i : i + lanes])) for i in range(0, len(numbers), lanes)]
    return order_of(density, plan, groups, executor, run, display(progress, quiet), quiet, began)


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
