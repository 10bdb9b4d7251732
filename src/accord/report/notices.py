"""Say what a user must know about a run before using its draws: one rule each, worst first."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from ..core.notice import Notice, Severity
from ..core.series import as_series
from .diagnostics import e_bfmi, ess_bulk, ess_tail, r_hat
from .evidence import Evidence
from .labels import Coords, Dims, Sites

R_HAT_DOUBT = 1.01  # Vehtari et al. (2021)
R_HAT_FAILED = 1.1  # the limit of Gelman & Rubin's day: the chains are not in the same place
ESS_PER_CHAIN = 100  # below this the diagnostics are unreliable too; Vehtari et al. (2021)
CHAINS_ASKED = 16  # beyond this many chains the total is what counts, and a hundred each would never be met
E_BFMI_LOW = 0.3  # Stan's diagnose warns below the same
FEW_DRAWS = 100  # per chain
SATURATED_SHARE = 0.01  # of the draws: below this, deep trees cost time and nothing else

_ORDER: tuple[Severity, ...] = ("error", "warning", "info")


def examine(
    sites: Sites,
    stats: Sites,
    *,
    chains: Sequence[int] | None = None,
    dims: Dims | None = None,
    coords: Coords | None = None,
    max_tree_depth: int | None = None,
    target_accept: float | None = None,
    complete: bool = True,
    requested: int | None = None,
) -> list[Notice]:
    """Apply every rule to a run; an empty list means that nothing was found wrong.

    - `sites`: site to draws, shape `(chain, draw, *event)`; `stats`: ArviZ's name to shape `(chain, draw)`. A
      rule whose statistic is absent is silent. Warm-up draws do not belong here.
    - `chains`: chain numbers, for the messages; `dims`, `coords`: label scalars as in the summary.
    - `max_tree_depth`, `target_accept`: options of the sampler, None where it has none.
    - `complete`: whether the run reached its end, `requested`: the draws per chain it was to make.

    Never raises for what the draws hold: none, one chain, two draws, NaN.
    """
    both = as_series(sites), as_series(stats)
    shapes = [series.shape(name) for series in both for name in series]
    num_chains = shapes[0][0] if shapes else 0
    numbers = list(range(num_chains)) if chains is None else list(chains)
    options = (max_tree_depth, target_accept, complete, requested)
    evidence = Evidence(*both, numbers, dims or {}, coords or {}, *options)
    found = [notice for rule in RULES for notice in rule(evidence)]
    return sorted(found, key=lambda notice: _ORDER.index(notice.severity))


def tell(notices: Iterable[Notice]) -> None:
    """Write notices to standard error, one a line; standard output stays the program's."""
    for notice in notices:
        sys.stderr.write(f"{notice}\n")


def _incomplete(run: Evidence) -> Iterator[Notice]:
    if not run.complete:
        asked = f" of {run.requested}" if run.requested is not None else ""
        yield Notice(
            "error",
            "incomplete",
            f"The run stopped after {run.num_draws}{asked} draws per chain.",
            "Treat these draws as a look ahead, and take a whole run before using them.",
        )


def _too_few_draws(run: Evidence) -> Iterator[Notice]:
    if run.num_draws < FEW_DRAWS:
        yield Notice(
            "warning" if run.num_draws else "error",
            "too_few_draws",
            f"{run.num_draws} draws per chain are too few to judge convergence.",
            f"Take at least {FEW_DRAWS} draws in each of 4 chains.",
        )


def _single_chain(run: Evidence) -> Iterator[Notice]:
    if len(run.chains) == 1 and run.num_draws:
        yield Notice(
            "info",
            "single_chain",
            "With 1 chain, R-hat cannot compare chains.",
            "Run chains=4 to see whether they agree.",
        )


def _constant_chains(run: Evidence) -> Iterator[Notice]:
    """Find chains that never moved. What is alike everywhere, as a correlation's diagonal, is meant so."""
    if run.num_draws < 4 or not run.num_scalars:
        return
    num_moving = np.zeros(len(run.chains), int)
    stuck: list[tuple[str, int]] = []
    stuck_chains: set[int] = set()
    for name, scalars, draws in run.picked():
        still = (draws == draws[:, :1]).all(axis=1)
        num_moving += (~still).sum(axis=1)
        # A count may well stay what it is in one chain, also one that is written as a real number.
        meant = (draws == draws[:1, :1]).all(axis=(0, 1)) | _is_whole(draws)
        stuck += [(name, int(scalars[index])) for index in np.flatnonzero(still.any(axis=0) & ~meant)]
        stuck_chains |= set(np.flatnonzero(still[:, ~meant].any(axis=1)).tolist())
    unmoved = np.flatnonzero(num_moving == 0)
    if unmoved.size:
        message = f"{_chain_list(run, unmoved)} did not move in {run.num_draws} draws."
    elif stuck:
        where = _chain_list(run, sorted(stuck_chains))
        share = f"{len(stuck)} of {run.num_scalars} scalars"
        message = f"{where} did not move in {share}, such as {run.label(*stuck[0])}."
    else:
        return
    remedy = (
        "Look at their step size and acceptance rate in `draws.stats`, and at the model where they stand."
    )
    yield Notice("error", "constant_chains", message, remedy)


def _non_finite_draws(run: Evidence) -> Iterator[Notice]:
    for name in run.sites:
        bad = sum(int((~np.isfinite(piece)).sum()) for piece in run.sites.pieces(name))
        if bad:
            yield Notice(
                "error",
                "non_finite_draws",
                f"{bad} of {math.prod(run.sites.shape(name))} values of {name!r} are not finite.",
                f"Find where {name!r} overflows, divides by zero or takes the logarithm of nothing.",
            )


def _non_finite_evaluations(run: Evidence) -> Iterator[Notice]:
    counts = run.stats.get("non_finite")
    if counts is not None and counts.sum() > 0:
        totals = zip(run.chains, counts.sum(axis=1), strict=True)
        by_chain = [f"{int(total)} in chain {chain}" for chain, total in totals if total]
        yield Notice(
            "warning",
            "non_finite",
            f"The log density or gradient was not finite {counts.sum():.0f} times ({', '.join(by_chain)}).",
            "Look for exp, log, sqrt and division in the model, and for `where` around one that fails elsewhere.",
        )


def _divergences(run: Evidence) -> Iterator[Notice]:
    diverging = run.stats.get("diverging")
    if diverging is None or not diverging.any():
        return
    count, total = int(np.count_nonzero(diverging)), diverging.size
    where = _where_divergent(run, diverging.astype(bool))
    raising = (
        f"Raise target_accept above {run.target_accept:g}" if run.target_accept else "Take smaller steps"
    )
    most = f", most with {where[1]}" if where else ""
    sites = f"what depends on {where[0]}" if where else "the sites whose scale varies"
    yield Notice(
        "warning",
        "divergences",
        f"{count} of {total} draws diverged ({_percent(count / total)}){most}.",
        f"{raising}, or reparameterise {sites} (a non-centred form, or a prior away from the edge).",
    )


def _where_divergent(run: Evidence, diverging: np.ndarray) -> tuple[str, str] | None:
    """The scalar whose ranks tell diverging draws apart best, and a phrase for it; None where none does."""
    flags = diverging.ravel()
    num_bad, num_good = int(flags.sum()), int((~flags).sum())
    if num_bad < 3 or num_good < 3:
        return None
    score, name, scalar = run.best_separation(diverging)
    # The standard deviation of the score where there is nothing to tell.
    chance = np.sqrt((flags.size + 1) / (12 * num_bad * num_good))
    if abs(score) < 0.2 or abs(score) < 4 * chance:
        return None
    label = run.label(name, scalar)
    return label, f"{'small' if score < 0 else 'large'} {label}"


def _saturated_trees(run: Evidence) -> Iterator[Notice]:
    depth = run.stats.get("tree_depth")
    if depth is None or run.max_tree_depth is None:
        return
    count = int((depth >= run.max_tree_depth).sum())
    if count:
        yield Notice(
            "warning" if count >= SATURATED_SHARE * depth.size else "info",
            "tree_depth",
            f"{count} of {depth.size} draws ({_percent(count / depth.size)}) "
            f"reached max_tree_depth {run.max_tree_depth}.",
            "The draws are valid but dear: rescale or reparameterise the model, or raise max_tree_depth.",
        )


def _low_e_bfmi(run: Evidence) -> Iterator[Notice]:
    energy = run.stats.get("energy")
    if energy is None or run.num_draws < FEW_DRAWS:
        return
    values = e_bfmi(energy)
    low = np.flatnonzero(values < E_BFMI_LOW)
    if low.size:
        worst = int(low[np.argmin(values[low])])
        yield Notice(
            "warning",
            "e_bfmi",
            f"E-BFMI is below {E_BFMI_LOW} in {low.size} of {len(values)} chains, "
            f"lowest {values[worst]:.2f} in chain {run.chains[worst]}.",
            "Tails are explored slowly: reparameterise heavy tails and varying scales, or take more draws.",
        )


def _high_r_hat(run: Evidence) -> Iterator[Notice]:
    values = run.judged(r_hat)
    bad = [item for item in values if item[0] > R_HAT_DOUBT]
    if bad:
        worst = max(bad)
        yield Notice(
            "error" if worst[0] > R_HAT_FAILED else "warning",
            "r_hat",
            f"R-hat is above {R_HAT_DOUBT} for {len(bad)} of {len(values)} scalars, "
            f"worst {worst[0]:.4g} for {run.label(*worst[1:])}.",
            "The chains disagree: take more warm-up and draws, and look for several modes.",
        )


def _low_ess(
    run: Evidence, code: str, kind: str, statistic: Callable[[np.ndarray], np.ndarray]
) -> Iterator[Notice]:
    if run.num_draws < FEW_DRAWS:
        return
    limit = ESS_PER_CHAIN * min(len(run.chains), CHAINS_ASKED)
    values = run.judged(statistic)
    bad = [item for item in values if item[0] < limit]
    if bad:
        worst = min(bad)
        yield Notice(
            "warning",
            code,
            f"{kind} ESS is below {limit} for {len(bad)} of {len(values)} scalars, "
            f"lowest {worst[0]:.0f} for {run.label(*worst[1:])}.",
            f"Take about {np.ceil(limit / max(worst[0], 1.0)):.0f} times as many draws, or reparameterise.",
        )


def _judged_in_part(run: Evidence) -> Iterator[Notice]:
    total, judged = run.num_scalars, run.num_judged
    if total > judged and run.num_draws:
        yield Notice(
            "info",
            "judged_in_part",
            f"R-hat and ESS were judged on about {judged} of {total} scalars, some of every site.",
            "`draws.summary()` has them all.",
        )


RULES: tuple[Callable[[Evidence], Iterator[Notice]], ...] = (
    _incomplete,
    _constant_chains,
    _non_finite_draws,
    _high_r_hat,
    _divergences,
    _non_finite_evaluations,
    partial(_low_ess, code="ess_bulk", kind="Bulk", statistic=ess_bulk),
    partial(_low_ess, code="ess_tail", kind="Tail", statistic=ess_tail),
    _low_e_bfmi,
    _saturated_trees,
    _too_few_draws,
    _single_chain,
    _judged_in_part,
)


def _is_whole(draws: np.ndarray) -> np.ndarray:
    """Which scalars only take whole numbers, shape `(n,)`."""
    return (draws == np.floor(draws)).all(axis=(0, 1))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.001 else "less than 0.1%"


def _chain_list(run: Evidence, places: Sequence[int] | np.ndarray) -> str:
    numbers = ", ".join(str(run.chains[place]) for place in places)
    return f"Chain {numbers}" if len(places) == 1 else f"Chains {numbers}"
