"""Estimate the evidence of a model by nested sampling, from its prior on."""

import time
from dataclasses import dataclass, replace
from typing import Any

from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count, shown
from ..core.precision import Precision, scope
from ..density import LogDensity
from ..density.halves import check_halves
from ..executors import AbstractExecutor
from ..language import Model
from ..nested.draw import WORDS, order_of
from ..nested.plan import Plan
from ..nested.points import NestedRun
from ..nested.stored import describe
from ..report.log_evidence import LogEvidence
from ..runs.carry_out import carry_out, closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.requests import check_kind, density_of, display
from ..storage import AbstractStore, Memory
from ..vi.fit import check_executor
from .base import AbstractEvidenceMethod

_FEWEST, _MOST, _MOST_RUNS, _MOST_STEPS = 20, 2**24, 2**16, 2**20
_BATCHES = 10  # of the live points, where the batch is not given
_LEAST_STEPS, _STEPS_PER_DIM = 10, 3


@checks_fields
@dataclass(frozen=True)
class NestedSampling(AbstractEvidenceMethod):
    """Nested sampling, which estimates the evidence of a model and draws from its posterior.

    Pass it to `infer.evidence` with a model that is called with its data. Live points begin at draws from the prior.
    Batch by batch, those with the lowest likelihood are replaced by others above them: moves within the prior, by
    slices along random directions, from copies of live points. By how the prior shrinks at each replacement, each point
    has a weight. What is observed, and each `ac.factor`, is the likelihood; the prior is what the latent sites
    contribute. Points of equal likelihood are ordered by a random number, so that a likelihood may be discrete.

    The result is an `infer.LogEvidence` with `information` and with `draws`, weighted draws of the posterior: see
    `NestedDraws`. It is the same bit for bit whichever executor runs it, also after an interruption.

    Use it for a likelihood that is far narrower than the prior, and for one with jumps or several modes. It needs no
    gradient. The work grows as `live * information * steps`, and the standard error of a run is about
    `sqrt(information / live)`.

    **Fields**
    - `live`: live points of each run; at least 20, and twice as many as the model has unknowns.
    - `batch`: points that are replaced at a time, in one vectorised program; at most half of `live`. None is a tenth of
      it.
    - `steps`: moves of each replacement. None is 3 for each unknown, and 10 at least.
    - `runs`: independent ones. Together they count as one with as many live points, and a notice says where they
      differ by more than their standard errors.
    - `tolerance`: a run ends when its live points would raise the log evidence by less, in nats; > 0.
    - `seed`: an integer in [0, 2**64).
    - `executor`: where runs are carried out: `Threads()` (the default), `Serial()`, `Processes()`, `Dask()` or `Ray()`.
    - `precision`, `store`, `progress`, `quiet`: as for `infer.sample`. With a store, `infer.load` returns the
      `NestedDraws`, and `infer.resume` goes on with it.

    Ctrl-C stops after the current batch and returns the evidence of the runs that came to their end.

    **Raises** `OptionError` for other options.

    **Source**: Skilling (2006), Bayesian Analysis 1(4), 833-860; batches and runs that are merged, Higson, Handley,
    Hobson & Lasenby (2019), Statistics and Computing 29; slices, Neal (2003), Annals of Statistics 31(3).

    **Example**

    >>> found = infer.evidence(eight_schools(sigma, y), infer.NestedSampling(quiet=True))
    >>> print(f"{found.value:.0f}, from {len(found.draws.by_run)} runs")
    -31, from 2 runs
    """

    live: int = 500
    batch: int | None = None
    steps: int | None = None
    runs: int = 2
    tolerance: float = 1e-3
    seed: int = 0
    executor: AbstractExecutor | None = None
    precision: Precision = "float64"
    store: AbstractStore | None = None
    progress: bool = True
    quiet: bool = False

    def __post_init__(self) -> None:
        here = "infer.NestedSampling"
        positive_count(f"{here}: live", self.live, minimum=_FEWEST, maximum=_MOST)
        if self.batch is not None:
            positive_count(f"{here}: batch", self.batch)
            if self.batch > self.live // 2:
                raise OptionError(
                    f"{here}: batch must be at most half of the live points, from whose others new points begin; got "
                    f"batch={self.batch} and live={self.live}. A tenth is usual."
                )
        if self.steps is not None:
            positive_count(f"{here}: steps", self.steps, maximum=_MOST_STEPS)
        positive_count(f"{here}: runs", self.runs, maximum=_MOST_RUNS)
        is_number = isinstance(self.tolerance, int | float) and not isinstance(self.tolerance, bool)
        if not is_number or not 0 < self.tolerance < 1:
            raise OptionError(
                f"{here}: tolerance must be in (0, 1), in nats of the log evidence, got {shown(self.tolerance)}. 0.001 "
                "is usual."
            )
        keys.chain_key(self.seed, 0)  # refuses a bad seed
        check_kind(f"{here}: executor", self.executor, AbstractExecutor | None, "infer.Threads()")
        check_kind(f"{here}: store", self.store, AbstractStore | None, 'infer.RunFolder("run")')

    def estimate(self, found: Any) -> LogEvidence:
        """Estimate the log evidence of a model: see `infer.evidence`."""
        began = time.perf_counter()
        with Interrupts() as interrupts:
            with interrupts.raising():
                _check_target(found)
                executor = check_executor(self.executor, "infer.NestedSampling", "run")
                density = density_of(found, self.precision)
                with scope(self.precision):
                    check_halves(density, "infer.NestedSampling")
                plan = self._plan(density, executor)
                run = (self.store or Memory()).create(describe(density, plan))
                units = [NestedRun(number) for number in range(plan.runs)]
                with closed_on_error(run):
                    shown_as = display(self.progress, self.quiet, *WORDS)
                order = order_of(density, plan, units, executor, run, shown_as, self.quiet, began)
            draws = carry_out(order, interrupts)
        return replace(draws.log_evidence, draws=draws, notices=draws.notices)

    def _plan(self, density: LogDensity, executor: AbstractExecutor) -> Plan:
        if self.live < 2 * density.dim:
            raise OptionError(
                f"infer.NestedSampling: the model has {density.dim} unknown numbers, of which live={self.live} points "
                f"do not tell the spread. Take at least live={2 * density.dim}; 25 for each unknown are usual."
            )
        return Plan(
            int(self.live),
            self.batch or max(self.live // _BATCHES, 1),
            self.steps or max(_STEPS_PER_DIM * density.dim, _LEAST_STEPS),
            int(self.runs),
            float(self.tolerance),
            int(self.seed),
            self.precision,
            density.dim,
            executor.pace,
        )


def _check_target(found: Any) -> None:
    if isinstance(found, Model | LogDensity):
        return
    hint = " Call the model with its data." if callable(found) else " For draws, use infer.BridgeSampling()."
    raise OptionError(
        "infer.evidence: infer.NestedSampling() takes a model called with its data, since it begins at draws from the "
        f"prior; got {type(found).__name__}.{hint}"
    )
