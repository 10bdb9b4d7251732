"""Sample from a model: check what was asked, compile, run the chains, and return what they drew."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core import precision as precisions
from ..core.errors import OptionError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor, Job, Serial, Threads
from ..executors.pools import one_blas_thread
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..report import AbstractProgress, NoProgress, RichProgress, tell
from ..storage import AbstractRun, AbstractStore, Memory
from . import cache
from .chain import Piece, Plan, Progress, Start, StartFailedError, run_chains
from .compiled import Programs, compile_programs
from .describe import describe
from .draws import Draws
from .program import rows_for
from .record import assemble, judge, notice_records, to_segment
from .starts import explain_start

DEFAULT_WARMUP = 500
_START_RADIUS = 2.0  # starting points are uniform within it, in unconstrained space (Stan's choice)


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
    lanes: int | None = None,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
    store: AbstractStore | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Draws:
    """Draw from the posterior of a model.

    The same target, seed, precision and lane width give the same draws, bit for bit, whatever executor runs them,
    whichever other chains are run, and whether or not the run is watched or stored.

    **Arguments**
    - `target`: a model called with its data, `model(x, y=y)`, or a `LogDensity`.
    - `sampler`: `NUTS()` or `HMC()`, with their options.
    - `draws`: kept draws per chain; >= 1.
    - `warmup`: draws per chain spent on learning step size and metric, not kept among the draws; >= 0. None is 500.
    - `chains`: how many chains, or a list of zero-based chain numbers, which become the chain coordinate. Chain k
      is the same alone as among others.
    - `seed`: an integer in [0, 2**64).
    - `thinning`: keep every n-th draw; >= 1.
    - `lanes`: how many chains one compiled program carries; it changes the last bits of the draws, so it is yours to
      choose and is recorded. None is 1 on CPU, and the chains rounded up to a power of two on accelerators.
    - `executor`: where chains run; None is `Threads()`.
    - `precision`: `"float64"` or `"float32"`; your own settings of JAX neither matter nor are changed.
    - `store`: where draws go as they are made; None is `Memory()`. `RunFolder(path)` survives the process.
    - `progress`: show a live display. `quiet`: neither display nor notices.

    Ctrl-C stops after the current block (about half a second) and returns what was drawn, with `complete` False. A
    second one raises.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` when no starting point has a finite log density.
    """
    began = time.perf_counter()
    numbers = _chain_numbers(chains)
    num_draws, thinning = positive_count("draws", draws), positive_count("thinning", thinning)
    num_warmup = DEFAULT_WARMUP if warmup is None else positive_count("warmup", warmup, 0)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    _check_kinds(target, sampler, executor, store)
    with precisions.scope(precision), one_blas_thread():
        density = target if isinstance(target, LogDensity) else LogDensity.from_model(target, precision)
        lanes = _lane_width(lanes, len(numbers))
        settings = dict(
            seed=int(seed),
            precision=precision,
            lanes=lanes,
            chains=numbers,
            draws=num_draws,
            warmup=num_warmup,
            thinning=thinning,
        )
        run = (store or Memory()).create(describe(density, sampler, settings))
        display: AbstractProgress = RichProgress() if progress and not quiet else NoProgress()
        display.start(numbers, {"warmup": num_warmup, "sample": num_draws})
        timings: dict[str, float] = {}
        try:
            cache.persist()
            programs = _compile(density, sampler, precision, lanes)
            plan = Plan(
                kernel=sampler,
                num_warmup=num_warmup,
                num_draws=(num_draws - 1) * thinning + 1,
                seed=int(seed),
                lanes=lanes,
                segment=rows_for(density.dim),
                thinning=thinning,
                dtype=precisions.float_dtype(precision),
                start=_uniform_start(density.dim),
                advance=programs.advance,
                sites=programs.sites,
            )
            timings |= programs.seconds
            timings |= _run(plan, numbers, executor or Threads(), run, display, precision)
        except _InterruptedError:
            pass
        except StartFailedError as failure:
            run.close()
            raise explain_start(density, failure) from None
        except BaseException:
            run.close()
            raise
        finally:
            display.stop()
        return _finish(run, density, timings, began, quiet)


class _InterruptedError(Exception):
    """Ctrl-C came before the first draw."""


def _compile(density: LogDensity, sampler: AbstractKernel, precision: Precision, lanes: int) -> Programs:
    try:
        return compile_programs(density, sampler, precision, lanes)
    except KeyboardInterrupt:
        raise _InterruptedError from None


def _run(
    plan: Plan,
    numbers: list[int],
    executor: AbstractExecutor,
    run: AbstractRun,
    display: AbstractProgress,
    precision: Precision,
) -> dict[str, float]:
    """Run all chains, committing what they yield; returns the seconds that the slowest chain took in each phase."""
    stop = threading.Event()
    groups = [numbers[i : i + plan.lanes] for i in range(0, len(numbers), plan.lanes)]

    def job(group: list[int]) -> Job[Progress | Piece]:
        def chains() -> Iterator[Progress | Piece]:
            with precisions.scope(precision):  # of the thread that runs this
                yield from run_chains(plan, group, stop.is_set)

        return chains

    clock = _Clock(time.perf_counter())

    def consume() -> Iterator[None]:
        for item in executor.stream([job(group) for group in groups]):
            clock.see(item)
            if isinstance(item, Piece):
                run.append(to_segment(item, plan.thinning))
            else:
                _show(display, item, plan, clock)
        yield

    # What arrives is stored in a thread of its own: an interrupt reaches the calling thread alone, which only waits, so
    # that it cannot fall between receiving a segment and committing it.
    waiting = Serial().stream([consume])
    while True:
        try:
            for _ in waiting:
                pass
            return clock.seconds
        except KeyboardInterrupt:
            if stop.is_set():
                raise
            stop.set()
            display.message("Stopping after the current block; Ctrl-C again to abandon it.")


class _Clock:
    """Seconds spent by the slowest chain in each phase."""

    def __init__(self, began: float):
        self._began = began
        self._begins: dict[int, float] = {}
        self._ends: dict[tuple[int, str], float] = {}

    def see(self, item: Progress | Piece) -> None:
        """Note that a chain was at work in a phase now."""
        now = time.perf_counter()
        self._begins.setdefault(item.chain, now)
        self._ends[item.chain, item.phase] = now

    @property
    def elapsed(self) -> float:
        """Since the first chain began."""
        return time.perf_counter() - self._began

    @property
    def seconds(self) -> dict[str, float]:
        """By phase; not the time that a chain waited for a core."""
        warm = {chain: self._ends.get((chain, "warmup"), begin) for chain, begin in self._begins.items()}
        warmup = [warm[chain] - begin for chain, begin in self._begins.items()]
        sampling = [self._ends.get((chain, "sample"), end) - end for chain, end in warm.items()]
        return {"warmup": max(warmup, default=0.0), "sampling": max(sampling, default=0.0)}


def _show(display: AbstractProgress, item: Progress, plan: Plan, clock: _Clock) -> None:
    drawn = item.num_draws + (plan.num_warmup if item.phase == "sample" else 0)
    step, count = (1, plan.num_warmup) if item.phase == "warmup" else (plan.thinning, plan.num_draws)
    display.update(
        item.chain,
        item.phase,
        -(-item.num_draws // step),
        -(-count // step),
        step_size=item.step_size,
        divergences=item.num_divergent,
        steps_per_draw=item.num_gradients / max(drawn, 1),
        seconds=clock.elapsed,
    )


def _finish(
    run: AbstractRun,
    density: LogDensity,
    timings: dict[str, float],
    began: float,
    quiet: bool,
) -> Draws:
    """Judge the run, write what was found beside the draws, and say it."""
    draws = assemble(run, density.data)
    notices = (*judge(draws), *density.notices)
    timings = {**timings, "total": time.perf_counter() - began}
    run.record("notices", notice_records(notices))
    run.record("timings", timings)
    run.close()
    if not quiet:
        tell(notices)
    return replace(draws, notices=notices, timings=timings)


def _uniform_start(dim: int) -> Start:
    def start(generator: np.random.Generator, attempt: int) -> np.ndarray:
        del attempt
        return generator.uniform(-_START_RADIUS, _START_RADIUS, dim)

    return start


def _chain_numbers(chains: int | Sequence[int]) -> list[int]:
    if isinstance(chains, (int, np.integer)):
        return list(range(positive_count("chains", chains)))
    numbers = [positive_count("each of chains", chain, 0) for chain in chains]
    if not numbers or len(set(numbers)) != len(numbers):
        raise OptionError(f"chains must be a count or a list of different chain numbers, got {chains!r}.")
    return numbers


def _lane_width(lanes: int | None, num_chains: int) -> int:
    if lanes is not None:
        return positive_count("lanes", lanes)
    return 1 if jax.default_backend() == "cpu" else 1 << (num_chains - 1).bit_length()


def _check_kinds(target: Any, sampler: Any, executor: Any, store: Any) -> None:
    if not isinstance(target, Model | LogDensity):
        hint = " Call it with its data: `infer.sample(model(x, y=y))`." if callable(target) else ""
        raise OptionError(
            f"target must be a model called with its data, or a LogDensity; got {type(target).__name__}.{hint}"
        )
    kinds = (
        ("sampler", sampler, AbstractKernel, "infer.NUTS()"),
        ("executor", executor, AbstractExecutor | None, "infer.Threads()"),
        ("store", store, AbstractStore | None, 'infer.RunFolder("run")'),
    )
    for name, value, kind, example in kinds:
        if not isinstance(value, kind):
            hint = " Build it first, with its parentheses." if isinstance(value, type) else ""
            raise OptionError(f"{name} must be something like {example}, got {value!r}.{hint}")
