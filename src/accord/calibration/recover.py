"""Sample, or fit a guide, given simulated data, and compare the draws with the known truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import keys
from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.precision import Precision
from ..executors import AbstractExecutor
from ..guides.base import AbstractGuide
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.sample import sample
from ..mcmc.samplers import check_sampler
from ..report import tell
from ..report.labels import scalar_labels
from ..runs.requests import check_kinds
from ..vi.draws import GuideDraws
from ..vi.fit import fit
from .fitted import check_guide
from .ranks import share_below
from .recovery import Recovery
from .simulator import Simulator, Values

_OUTSIDE = 0.0005  # of the draws, on each side of the central 99.9%
_MAX_NAMED = 5


@checks_options
def simulate_and_recover(
    model: Model,
    sampler: AbstractKernel | AbstractGuide = NUTS(),  # noqa: B008 - a frozen value
    *,
    draws: int = DEFAULT_DRAWS,
    warmup: int | None = None,
    chains: int | Sequence[int] = DEFAULT_CHAINS,
    seed: int = 0,
    precision: Precision = "float64",
    executor: AbstractExecutor | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Recovery:
    """Simulate unknowns and data from the model, sample given these data, and compare the draws with the truth.

    This is a first check that a model can recover its unknowns from such data; `infer.calibrate` repeats it often
    enough to test whether the draws are right.

    **Arguments**
    - `model`: called with data of the right shapes. Simulated values replace its observations, also masked
      entries; other arguments are used unchanged.
    - `sampler`, `draws`, `warmup`, `chains`, `precision`, `executor`, `progress`, `quiet`: as for `infer.sample`. Or a
      guide in the place of a sampler, such as `infer.guides.MeanField()`, which is fitted by the defaults of
      `infer.fit`; it takes no `warmup` and no `chains`.
    - `seed`: seed of the simulation and the run, which use different random numbers.

    **Raises** `ModelError` for a model that observes nothing; `SiteError` for a prior that is improper or cannot be
    sampled, or a factor; errors of `infer.sample` and `infer.fit`.

    **Example**

    >>> found = infer.simulate_and_recover(coin(4, heads), draws=200, chains=2, quiet=True)
    >>> found.to_dataframe().index.tolist()
    ['p']
    """
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    check_kinds(model, executor, None)
    is_fitted = isinstance(sampler, AbstractGuide)
    if is_fitted:
        check_guide(sampler, {"warmup": warmup, "chains": None if chains == DEFAULT_CHAINS else chains})
    else:
        check_sampler(sampler)
    simulator = Simulator.of(model, precision, sampler)
    simulation = simulator.simulate(int(seed))
    density = simulator.given(simulation)
    common: dict[str, Any] = dict(seed=seed, precision=precision, executor=executor)
    shown: dict[str, Any] = dict(progress=progress, quiet=quiet)
    if is_fitted:
        drawn = fit(density, sampler, **common, **shown).draw(draws, seed=seed)
    else:
        chain: dict[str, Any] = dict(draws=draws, warmup=warmup, chains=chains)
        drawn = sample(density, sampler, **chain, **common, **shown)
    recovery = _compared(simulation.truth, simulation.data, drawn)
    if not quiet:
        tell(recovery.notices)
    return recovery


def _compared(truth: Values, data: Values, drawn: Draws | GuideDraws) -> Recovery:
    labels: list[str] = []
    owners: list[str] = []
    parts: list[dict[str, np.ndarray]] = []
    for name, value in truth.items():
        labels += scalar_labels(name, value.shape, drawn.dims.get(name, ()), drawn.coords)
        owners += [name] * value.size
        pooled = np.asarray(drawn[name], np.float64).reshape(-1, value.size)
        parts.append(_columns(pooled, value.ravel().astype(np.float64)))
    values = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    num_draws = len(drawn.chains) * drawn.num_draws
    return Recovery(truth, data, drawn, tuple(labels), values, _far(labels, owners, values, num_draws))


def _columns(draws: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    """Compute all columns for draws of shape `(draw, k)`."""
    if not len(draws):  # interrupted before the first one
        unknown = np.full(len(truth), np.nan)
        return {"truth": truth, **dict.fromkeys(("mean", "sd", "5%", "95%", "rank", "z"), unknown)}
    mean = draws.mean(axis=0)
    sd = draws.std(axis=0, ddof=1) if len(draws) > 1 else np.full(len(truth), np.nan)
    low, high = np.quantile(draws, (0.05, 0.95), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # what is always the same has no z
        z = np.where(sd > 0, (truth - mean) / sd, np.nan)
    return {
        "truth": truth,
        "mean": mean,
        "sd": sd,
        "5%": low,
        "95%": high,
        "rank": share_below(draws, truth),
        "z": z,
    }


def _far(
    labels: Sequence[str], owners: Sequence[str], values: dict[str, np.ndarray], num_draws: int
) -> tuple[Notice, ...]:
    """Make a notice of true values outside of nearly all draws."""
    rank = values["rank"]
    far = [int(i) for i in np.flatnonzero((rank < _OUTSIDE) | (rank > 1 - _OUTSIDE))]
    if not far:
        return ()
    distance = np.nan_to_num(np.abs(values["z"]), nan=np.inf)
    worst = sorted(far, key=lambda i: -distance[i])
    named = ", ".join(f"{labels[i]!r} ({values['z'][i]:+.3g} sd)" for i in worst[:_MAX_NAMED])
    more = f" and {len(far) - _MAX_NAMED} more" if len(far) > _MAX_NAMED else ""
    # Of independent draws, each rank is as likely as any other.
    possible = np.arange(num_draws + 1) / num_draws
    chance = float(np.mean((possible < _OUTSIDE) | (possible > 1 - _OUTSIDE)))
    touched = tuple(dict.fromkeys(owners[i] for i in far))
    return (
        Notice(
            "warning",
            "truth_far",
            f"The truth lies outside of the central 99.9% of the draws for {len(far)} of {len(labels)} parameters: "
            f"{named}{more}; by chance it would for about {chance * len(labels):.2g}.",
            "Try other seeds. If it happens again, chains have not found the posterior, or parts of the model "
            "contradict each other: `infer.calibrate` shows what is wrong with the draws.",
            touched,
        ),
    )
