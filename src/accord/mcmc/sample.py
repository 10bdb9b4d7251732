"""Sample from a posterior."""

from collections.abc import Sequence

from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.options import checks_options
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..runs.interrupts import Interrupts
from ..runs.stopping.base import AbstractRule
from ..storage import AbstractStore
from .draws import Draws
from .extended import attach
from .plan import OnNonFinite
from .prepare import prepared
from .start.choose import Init


@checks_options
def sample(
    target: Model | LogDensity,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    draws: int = DEFAULT_DRAWS,
    warmup: int | None = None,
    chains: int | Sequence[int] = DEFAULT_CHAINS,
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
    - `sampler`: `NUTS()`, or `ChEES()` for many chains at once, `Gibbs({...})` for blocks of sites, or another of
      `infer`, with its options; or a kernel of your own. The run chooses the form of the metric unless you name one by
      `metric=`.
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
    with Interrupts() as interrupts:
        with interrupts.raising():
            order = prepared(
                target,
                sampler,
                draws=draws,
                warmup=warmup,
                chains=chains,
                seed=seed,
                thinning=thinning,
                init=init,
                until=until,
                lanes=lanes,
                executor=executor,
                precision=precision,
                store=store,
                progress=progress,
                on_nonfinite=on_nonfinite,
                quiet=quiet,
            )
        return attach(order, interrupts)
