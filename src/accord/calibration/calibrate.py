"""Sample, or fit a guide, given many simulated data sets, and rank each truth among its draws."""

from typing import Any

from ..core import keys
from ..core.errors import ModelError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..density import cut_arguments
from ..executors import AbstractExecutor
from ..guides.base import AbstractGuide
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.samplers import check_sampler
from ..runs.carry_out import closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.requests import check_kinds, default_executor, display
from ..runs.target import Target
from ..storage import AbstractStore, Memory
from ..vi.fit import check_executor
from .book import Book
from .calibration import Calibration
from .carry_out import CalibrationRequest, carry_out
from .fitted import check_guide
from .identity import Identity
from .ranked import LP
from .simulations import Simulating, executors_of
from .simulator import Simulator
from .stored import describe

_MOST = 2**20  # simulations, as a store has units
_THINNING = 5  # neighbours of NUTS are then nearly independent in most posteriors


@checks_options
def calibrate(
    model: Model,
    sampler: AbstractKernel | AbstractGuide = NUTS(),  # noqa: B008 - a frozen value
    *,
    simulations: int = 100,
    draws: int = 100,
    warmup: int | None = None,
    thinning: int | None = None,
    seed: int = 0,
    precision: Precision = "float64",
    executor: AbstractExecutor | None = None,
    store: AbstractStore | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Calibration:
    """Test calibration: over simulated data sets, the rank of the truth among the draws must be uniform.

    It draws unknowns from the prior, and data given them. If model, sampler and run are right, the truth is one more
    draw from the posterior given its data. It tests each parameter, and the log density ("lp"), which shows errors of
    the dependence between parameters.

    All simulations run through one compiled program, one chain each, shared out among the workers of the executor: it
    takes their number times `warmup + draws * thinning` draws, and beside that the time to trace the model for each
    run, which is a tenth of a second for a small one. A simulation whose worker is lost is run again by another.
    With `Devices` or `MultiHost`, simulations run one after the other, each on all of them.
    Simulation k is a function of (seed, k), so that a longer calibration begins with the ranks of a shorter one.

    **Arguments**
    - `model`: called with data of the right shapes. Simulated values replace its observations, also masked
      entries; other arguments are used unchanged.
    - `simulations`: number of simulations; >= 1. A hundred detect draws that are half or twice as wide as they should
      be, a thousand an error of a fifth.
    - `draws`: kept draws to rank each truth among; >= 1.
    - `thinning`: keep every n-th draw; >= 1. None is 5. Ranks are uniform for independent draws: a notice reports
      dependent ones, and which thinning would suffice.
    - `sampler`: as for `infer.sample`; discrete sites that it moves are parameters too. Or a guide, such as
      `infer.guides.MeanField()`: then it is fitted to each data set as by `infer.fit` at its defaults, and the
      truth ranked among draws from it. Ranks at both ends tell of a guide that is too narrow, and ranks
      at one of a shifted one. Fits take no `warmup` and no `thinning`.
    - `warmup`, `precision`, `executor`, `progress`, `quiet`: as for `infer.sample`. `seed`: an integer in [0, 2**64).
    - `store`: `infer.RunFolder("folder")` keeps each simulation on disk as soon as it is finished. `infer.load` reads
      them, and `infer.resume(path, model)` runs those that are missing. None keeps them in memory.

    Ctrl-C returns the finished simulations, with a notice. A full disk stops the calibration too, with a notice. A
    notice also counts failed simulations, and gives a seed that repeats one; only simulations without all their draws
    have no rank.

    **Raises** `ModelError` for a model that observes nothing, or has a site named 'lp'; `SiteError` for a prior
    that is improper or cannot be sampled, or a factor; `OptionError` for a `Delta`, or options of chains beside a
    guide; the error of the first simulation, if none could be run.

    **Source**: Talts, Betancourt, Simpson, Vehtari & Gelman (2018), arXiv:1804.06788; the log density among what is
    ranked: Modrák et al. (2023), Bayesian Analysis 20(2), 461-488; of fits: Yao, Vehtari, Simpson & Gelman (2018),
    "Yes, but did it work?", ICML, section 3.2.

    **Example**

    >>> report = infer.calibrate(coin(4, heads), simulations=20, draws=20, warmup=100, thinning=5, quiet=True)
    >>> report.ok, len(report)
    (True, 2)
    """
    count = positive_count("simulations", simulations, maximum=_MOST)
    num_draws = positive_count("draws", draws)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    check_kinds(model, executor, store)
    if isinstance(sampler, AbstractGuide):
        check_guide(sampler, {"warmup": warmup, "thinning": thinning})
        executor = check_executor(executor, "infer.calibrate", "simulation")
        options: dict[str, Any] = {"draws": num_draws, "warmup": 0, "thinning": 1}
    else:
        check_sampler(sampler)
        options = {
            "draws": num_draws,
            "warmup": None if warmup is None else positive_count("warmup", warmup, 0),
            "thinning": _THINNING if thinning is None else positive_count("thinning", thinning),
        }
    with Interrupts() as interrupts:
        with interrupts.raising():
            simulator = Simulator.of(model, precision, sampler)
            posterior = simulator.posterior
            if any(entry.name == LP for entry in posterior.layout.unknowns):
                raise ModelError(
                    f"site {LP!r} has the name under which the log density is ranked. Rename the site."
                )
            where, of_chain = executors_of(simulator.cut(executor or default_executor()))
            method = Simulating(model, sampler, options, int(seed), precision, of_chain, simulator)
            shard = dict(cut_arguments(posterior, of_chain.sharding))
            run = (store or Memory()).create(describe(posterior, method, shard, count))
            with closed_on_error(run):
                identity = Identity.of(simulator, method.seed)
                book = Book(run, Target(posterior, run, {}, method.pace), identity)
        request = CalibrationRequest(method, where, book, range(count), display(progress, quiet), quiet)
        return carry_out(request, interrupts)
