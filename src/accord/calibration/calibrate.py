"""Sample given many simulated data sets, and rank each truth among its draws."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import keys
from ..core.errors import AccordError, ModelError, OptionError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.sample import sample
from ..report import AbstractProgress, tell
from ..report.diagnostics import ess_mean
from ..runs.requests import check_kinds, display
from ..storage import Memory
from .calibration import LP, Calibration, Trial
from .findings import findings
from .ranks import rank
from .simulator import Simulation, Simulator

_THINNING = 5  # neighbours of NUTS are then nearly independent in most posteriors


@checks_options
def calibrate(
    model: Model,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    simulations: int = 100,
    draws: int = 100,
    warmup: int | None = None,
    thinning: int | None = None,
    seed: int = 0,
    precision: Precision = "float64",
    executor: AbstractExecutor | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Calibration:
    """Test calibration: over simulated data sets, the rank of the truth among the draws must be uniform.

    It draws unknowns from the prior, and data given them. If model, sampler and run are right, the truth is one more
    draw from the posterior given its data. It tests each parameter, and the log density ("lp"), which shows errors of
    the dependence between parameters.

    All simulations run through one compiled program, one after the other, one chain each: it takes their number times
    `warmup + draws * thinning` draws on one core, and beside that the time to trace the model for each run, which is a
    tenth of a second for a small one. Where an executor has to start workers, it does so for each run. Simulation k is
    a function of (seed, k), so that a longer calibration begins with the ranks of a shorter one.

    **Arguments**
    - `model`: called with data of the right shapes. Simulated values replace its observations, also masked
      entries; other arguments are used unchanged.
    - `simulations`: number of simulations; >= 1. A hundred detect draws that are half or twice as wide as they should
      be, a thousand an error of a fifth.
    - `draws`: kept draws to rank each truth among; >= 1.
    - `thinning`: keep every n-th draw; >= 1. None is 5. Ranks are uniform for independent draws: a notice reports
      dependent ones, and which thinning would suffice.
    - `sampler`, `warmup`, `precision`, `executor`, `progress`, `quiet`: as for `infer.sample`. `seed`: an integer in
      [0, 2**64).

    Ctrl-C returns the finished simulations, with a notice. A notice also counts failed simulations, and gives a seed
    that repeats one; only simulations without all their draws have no rank.

    **Raises** `ModelError` for a model that observes nothing, or has a site named 'lp'; `SiteError` for a prior
    that is improper or cannot be sampled, or a factor; the error of the first simulation, if none could be run.

    **Source**: Talts, Betancourt, Simpson, Vehtari & Gelman (2018), arXiv:1804.06788; the log density among what is
    ranked: Modrák et al. (2023), Bayesian Analysis 20(2), 461-488.

    **Example**

    >>> report = infer.calibrate(coin(4, heads), simulations=20, draws=20, warmup=100, thinning=5, quiet=True)
    >>> report.ok, len(report)
    (True, 2)
    """
    count, num_draws = positive_count("simulations", simulations), positive_count("draws", draws)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    check_kinds(model, sampler, executor, Memory())
    kept_every = _THINNING if thinning is None else positive_count("thinning", thinning)
    options = {
        "draws": num_draws,
        "warmup": None if warmup is None else positive_count("warmup", warmup, 0),
        "thinning": kept_every,
    }
    simulator = Simulator.of(model, precision)
    layout = simulator.posterior.layout
    if any(entry.name == LP for entry in layout.entries):
        raise ModelError(f"site {LP!r} has the name under which the log density is ranked. Rename the site.")
    runner = _Runner(simulator, sampler, options, precision, executor, time.perf_counter())
    shown = display(progress, quiet)
    trials: list[Trial] = []
    shown.start([0], {"simulation": count})
    try:
        for trial in runner.trials(int(seed), count):
            trials.append(trial)
            _show(shown, trials, count, runner.began)
    except KeyboardInterrupt:
        pass  # what is done is returned
    finally:
        shown.stop()
    done = [trial for trial in trials if trial.ranks]
    if trials and not done and trials[0].error is not None:
        raise trials[0].error
    found = Calibration.of(model.name, layout, trials, count, num_draws + 1, kept_every)
    found = found.with_notices(findings(found, trials))
    if not quiet:
        tell(found.notices)
    return found


@dataclass(frozen=True)
class _Runner:
    simulator: Simulator
    sampler: AbstractKernel
    options: dict[str, Any]
    precision: Precision
    executor: AbstractExecutor | None
    began: float

    def trials(self, seed: int, count: int) -> Iterator[Trial]:
        """Run simulations one after the other, until the end or Ctrl-C."""
        for number in range(count):
            trial = self._trial(number, simulation_seed(seed, number))
            if trial is None:
                return
            yield trial

    def _trial(self, number: int, seed: int) -> Trial | None:
        """Run one simulation; return None if it was interrupted."""
        simulation = self.simulator.simulate(seed)
        try:
            drawn = sample(
                self.simulator.given(simulation),
                self.sampler,
                **self.options,
                chains=[0],
                seed=seed,
                precision=self.precision,
                executor=self.executor,
                progress=False,
                quiet=True,
            )
        except OptionError:
            raise  # of the run, not of these data
        except AccordError as error:
            return Trial(number, seed, (), {}, {}, error)
        if not drawn.complete and not drawn.lost_chains:
            return None
        notices = tuple(drawn.notices)
        if drawn.lost_chains or not np.isfinite(simulation.log_density):
            return Trial(number, seed, notices, {}, {})
        num_divergent = int(np.sum(drawn.stats["diverging"]))
        return Trial(number, seed, notices, *_ranked(simulation, drawn, seed), num_divergent=num_divergent)


def simulation_seed(seed: int, number: int) -> int:
    """The seed of one simulation: `simulate_and_recover` with it, and else the same, has its data and first chain."""
    words = keys.fold(keys.chain_key(seed, number), np.uint32(keys.USE_SIMULATION_SEED))
    return int(words[0]) << 32 | int(words[1])


def _ranked(
    simulation: Simulation, drawn: Draws, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return, by site, the ranks of the truth, and the effective number of draws."""
    generator = keys.generator(keys.chain_key(seed, 0), keys.USE_SIMULATE, 1)
    values = {name: (np.asarray(drawn[name][0]), truth) for name, truth in simulation.truth.items()}
    values[LP] = np.asarray(drawn.stats["lp"][0], np.float64), np.array(simulation.log_density)
    ranks = {name: rank(some, truth, generator) for name, (some, truth) in values.items()}
    effective = {
        name: ess_mean(some.reshape(1, len(some), -1).astype(np.float64))
        for name, (some, _) in values.items()
    }
    return ranks, effective


def _show(shown: AbstractProgress, trials: Sequence[Trial], count: int, began: float) -> None:
    """Show all simulations as one chain of the progress display."""
    seconds, divergences = time.perf_counter() - began, sum(trial.num_divergent for trial in trials)
    shown.update(0, "simulation", len(trials), count, divergences=divergences, seconds=seconds)
