"""Draw from a posterior by populations of particles that come from its prior."""

import time
from typing import Any

from ..adaptation.hamiltonian import Hamiltonian
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_options, positive_count, shown
from ..core.precision import Precision, scope
from ..density import LogDensity
from ..density.halves import check_halves
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.placed import placed
from ..mcmc.samplers import check_adaptation, check_sampler
from ..report import AbstractProgress
from ..resampling import AbstractResampling, Systematic
from ..runs.carry_out import carry_out, closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.method import RunRequest
from ..runs.requests import check_kind, check_kinds, density_of, display
from ..storage import AbstractRun, AbstractStore, Memory
from ..vi.fit import check_executor
from .host import PopulationHost
from .machine import SMC
from .plan import Plan
from .population import Population
from .result import SMCDraws
from .stored import describe

_MOST_POPULATIONS, _MOST_PARTICLES, _FEWEST_ANCESTORS = 2**16, 2**24, 4
WORDS = ("population", "stages and draws")
"""For a unit, and what is done in it."""


@checks_options
def smc(
    target: Model | LogDensity,
    kernel: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    particles: int = 1000,
    populations: int = 4,
    moves: int = 10,
    ess: float = 0.5,
    resampling: AbstractResampling = Systematic(),  # noqa: B008 - a frozen value
    seed: int = 0,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
    store: AbstractStore | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> SMCDraws:
    """Draw from a posterior by sequential Monte Carlo, which estimates the evidence too.

    Particles begin at draws from the prior. Stage by stage the likelihood gets a higher power, up to 1: particles are
    weighed by what it adds, some are chosen as ancestors by their weights, and a chain of the kernel begins at each.
    Every point of every chain is a particle of the next stage (waste-free). What is observed, and each `ac.factor`, is
    the likelihood; the prior is what the latent sites contribute.

    Use it for the evidence, and where a posterior has several modes that draws from the prior find. For a posterior
    with one mode, `infer.sample` takes fewer gradients for each effective draw.

    Draws are reproducible bit for bit, whichever executor makes them, also after an interruption. A population does not
    depend on how many others there are.

    **Arguments**
    - `target`: a model called with its data, or a `LogDensity` of one. Discrete unknowns are summed out. All priors are
      proper.
    - `kernel`: how particles move: `infer.NUTS()`, or `HMC()`, `MALA()`, `Barker()`, `RandomWalk()`. Step size and
      metric follow from the particles of each population, by the kernel's `target_accept` and `metric`.
    - `particles`: of each population; a multiple of `moves`, at least 4 times as many, and at most 2**24.
    - `populations`: independent ones, whose differences tell the error of the evidence; in [1, 65536].
    - `moves`: particles that come of one ancestor at each stage, which is the first of them; >= 2.
    - `ess`: what the weights of a stage are worth, as a share of the particles; in (0, 1). A larger one takes more
      stages.
    - `resampling`: `infer.Systematic()`, `Stratified()`, `Residual()` or `Multinomial()`.
    - `seed`: an integer in [0, 2**64).
    - `executor`: where populations run: `Threads()` (the default), `Serial()`, `Processes()`, `Dask()` or `Ray()`.
    - `precision`, `store`, `progress`, `quiet`: as for `infer.sample`. `infer.resume` goes on with stored populations.

    Ctrl-C stops after the current block and returns the draws of the populations that came to the posterior, with
    `complete` False.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` if the likelihood is zero, or no number, at all draws from the prior of all populations;
    `SamplingError` if none reached the posterior in 1000 stages.

    **Source**: Del Moral, Doucet & Jasra (2006), J. R. Statist. Soc. B 68(3); Dau & Chopin (2022), "Waste-free
    sequential Monte Carlo", J. R. Statist. Soc. B 84(1).

    **Example**

    >>> draws = infer.smc(eight_schools(sigma, y), quiet=True)
    >>> print(f"{draws.log_evidence.value:.1f}")
    -31.3
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            check_kinds(target, executor, store)
            check_sampler(kernel)
            check_kind("resampling", resampling, AbstractResampling, "infer.Systematic()")
            count = positive_count("populations", populations, maximum=_MOST_POPULATIONS)
            num_particles, num_moves = _sizes(particles, moves)
            share = _share(ess)
            keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
            where = check_executor(executor, "infer.smc", "population")
            density = density_of(target, precision)
            check_kernel(kernel, density.dim)
            with scope(precision):
                check_halves(density, "infer.smc")
                kernel = placed(kernel, density)
            plan = Plan(
                kernel,
                num_particles,
                count,
                num_moves,
                share,
                resampling,
                int(seed),
                precision,
                density.dim,
                where.pace,
            )
            run = (store or Memory()).create(describe(density, plan))
            units = [Population(number) for number in range(count)]
            with closed_on_error(run):
                shown_as = display(progress, quiet, *WORDS)
            order = order_of(density, plan, units, where, run, shown_as, quiet, began)
        return carry_out(order, interrupts)


def order_of(
    density: LogDensity,
    plan: Plan,
    units: list[Population],
    executor: AbstractExecutor,
    run: AbstractRun,
    shown_as: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> RunRequest[SMCDraws]:
    """Return the order to carry out a plan; `began`, by `time.perf_counter`."""
    return RunRequest(
        SMC(density, plan), PopulationHost(density, plan), units, executor, run, shown_as, is_quiet, began
    )


def check_kernel(kernel: AbstractKernel, dim: int) -> None:
    """Raise `OptionError` unless a step size and a metric tune a kernel, and it moves free numbers alone."""
    is_plain = not (
        kernel.whole
        or kernel.whole_if_discrete
        or kernel.needs_halves
        or kernel.needs_minibatch
        or kernel.has_memory
    )
    if not is_plain or not isinstance(kernel.adaptation, Hamiltonian):
        raise OptionError(
            f"kernel: infer.smc tunes kernels by a step size and a metric, which {type(kernel).__name__} as given does "
            "not have alone. Take infer.NUTS(), HMC(), MALA(), Barker() or RandomWalk()."
        )
    check_adaptation(kernel, dim)


def _sizes(particles: Any, moves: Any) -> tuple[int, int]:
    num_particles = positive_count("particles", particles, maximum=_MOST_PARTICLES)
    num_moves = positive_count("moves", moves, 2, maximum=_MOST_PARTICLES)
    if num_particles % num_moves:
        raise OptionError(
            f"particles must be a multiple of moves, since each ancestor gives so many particles; got particles="
            f"{num_particles} and moves={num_moves}. The nearest is {max(num_particles // num_moves, 1) * num_moves}."
        )
    if num_particles < _FEWEST_ANCESTORS * num_moves:
        raise OptionError(
            f"particles must be at least {_FEWEST_ANCESTORS} times moves, so that there are some ancestors; got "
            f"particles={num_particles} and moves={num_moves}. 100 ancestors are usual."
        )
    return num_particles, num_moves


def _share(ess: Any) -> float:
    if isinstance(ess, bool) or not isinstance(ess, int | float) or not 0 < ess < 1:
        raise OptionError(f"ess must be a share of the particles, in (0, 1), got {shown(ess)}. 0.5 is usual.")
    return float(ess)
