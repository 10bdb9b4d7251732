"""Step through the draws of one chain, one at a time, in the caller's own loop."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import keys
from ..core.defaults import DEFAULT_WARMUP
from ..core.errors import OptionError, SamplingError
from ..core.options import checks_options
from ..core.precision import Precision, scope
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..executors import Serial
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..runs.fingerprint import fixed_whole
from ..runs.requests import check_kinds, density_of
from ..storage import Phase
from .block import rows_for
from .columns import WHOLE, columns
from .endings import MAX_UNMOVED
from .formula_check import check_formulas
from .group import begin, run_block
from .limits import MAX_DRAWS, chain_numbers, count_of_draws
from .machine import Machine
from .method import build
from .placed import placed_and_piloted
from .plan import Plan
from .reference import begun_near, reference_for
from .samplers import check_adaptation, check_sampler
from .sites_program import rows_at_once
from .start.choose import Init, start_of
from .start.explained import explain_start
from .start.near import FromReference
from .start.search import StartFailedError, find_starts
from .stretch import Stretch

_MOST_GRADIENTS = 2**30  # a trajectory has a limit of its own


@dataclass(frozen=True, eq=False)
class Step(Mapping[str, np.ndarray]):
    """One draw of a chain: a mapping from the names of latent and deterministic sites to values.

    **Fields**: `phase`, `"warmup"` or `"sample"`; `number`, from 0 in its phase; `position`, shape `(dim,)`,
    unconstrained; `stats`, the statistics of the draw by name, as in `draws.stats`; `tuning`, what the chain had learnt
    after it, by name, as in `draws.tuning`. Draws of warm-up have no sites: `density.constrain(step.position)` computes
    them. `whole`, shape `(count,)`: the whole numbers of the position, or None.
    """

    phase: Phase
    number: int
    position: np.ndarray
    stats: Mapping[str, Any]
    tuning: Mapping[str, Any]
    sites: Mapping[str, np.ndarray]
    whole: np.ndarray | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        return self.sites[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)


@entry_points
class Steps(Iterator[Step]):
    """A chain that makes a draw whenever it is asked for one. **Fields**: `density`, the target of the chain."""

    def __init__(self, density: LogDensity, plan: Plan, number: int):
        self.density, self._plan = density, plan
        with scope(plan.precision):
            self._machine: Machine = build(density, plan)[0]
            self._group = begin(self._machine, [number])
            try:
                find_starts(self._machine, self._group.chains)
            except StartFailedError as error:
                raise explain_start(density, error) from None

    def __next__(self) -> Step:
        (chain,) = self._group.chains
        if chain.is_given_up:
            raise SamplingError(
                f"chain {chain.number} has not moved for {MAX_UNMOVED} draws, and is given up. Look at `step.tuning`, "
                "and at the log density around its position."
            )
        if chain.is_done:
            raise StopIteration
        with scope(self._plan.precision):
            before = chain.draw
            while chain.draw == before:
                run_block(self._machine, [chain], [before + 1], [_MOST_GRADIENTS])
            (arrays,) = columns([chain.drawn()], self._machine.sites)
            return self._step(chain.stretch(arrays))

    def _step(self, made: Stretch) -> Step:
        (chain,) = self._group.chains
        rows = {name: array[0] for name, array in made.arrays.items()}
        tuning = self._plan.adaptation.described(chain.state.learnt, chain.fitted)

        def of(kind: str) -> dict[str, Any]:
            return {name.removeprefix(kind): row for name, row in rows.items() if name.startswith(kind)}

        at, whole = rows["position"], rows.get(WHOLE)
        return Step(made.phase, made.start, at, of("stat/"), tuning, of("site/"), whole)


@checks_options
def steps(
    target: Model | LogDensity,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    warmup: int = DEFAULT_WARMUP,
    seed: int = 0,
    chain: int = 0,
    init: Init = None,
    precision: Precision = "float64",
) -> Steps:
    """Step through the draws of one chain in a loop of your own: to watch it, to stop it, to teach.

    The draws are those of chain `chain` in `infer.sample` with the same seed and `warmup=`, bit for bit. They go on
    without an end; nothing is stored.

    **Arguments**: as for `infer.sample`. `chain` is the number of the chain. Not for `ChEES`, whose chains learn from
    each other.

    **Returns** an iterator over `Step`: a mapping from sites to values, with `phase`, `number`, `position`, `stats` and
    `tuning`.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` without a starting point whose log density is finite.

    **Example**

    >>> for step in infer.steps(eight_schools(sigma, y), warmup=100, seed=1):
    ...     if step.phase == "sample":
    ...         break
    >>> step["theta"].shape, bool(step.stats["diverging"])
    ((8,), False)
    """
    check_kinds(target, None, None)
    check_sampler(sampler)
    if sampler.is_ensemble:
        raise OptionError(
            f"infer.steps moves one chain, and chains of {type(sampler).__name__} learn from each other. Use "
            "infer.NUTS(), or infer.sample for many chains."
        )
    (number,) = chain_numbers([chain])
    keys.chain_key(seed, number)  # refuses a bad seed
    num_warmup = count_of_draws("warmup", warmup, 0)
    start = FromReference() if init is None and sampler.needs_reference else start_of(init)
    density = density_of(
        target, precision, sampler.whole, sampler.whole_if_discrete, takes_parts=sampler.needs_minibatch
    )
    sampler, near = placed_and_piloted(sampler, density, int(seed))
    start = near if near is not None and init is None else start
    check_adaptation(sampler, density.dim)
    reference = reference_for(sampler, density, int(seed))
    start = begun_near(start, reference)
    with scope(precision):
        points = start.points(density, int(seed), [number])
    check_formulas(sampler, density, points, int(seed), number, is_cut=False)
    plan = Plan(
        sampler,
        num_warmup,
        MAX_DRAWS - num_warmup,
        thinning=1,
        seed=int(seed),
        lanes=1,
        precision=precision,
        dim=density.dim,
        segment=rows_for(density.dim + density.layout.num_whole, 1, Serial().pace),
        start=points,
        max_warmup=num_warmup,
        rows_at_once=rows_at_once(),
        whole=fixed_whole(density.layout),
        reference=reference,
    )
    return Steps(density, plan, number)
