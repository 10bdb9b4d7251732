"""Judge whether chains agree, and how many independent draws they are worth."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...core.notice import Notice, Severity
from ..diagnostics import ess_bulk, ess_tail
from ..evidence import Evidence
from .apart import are_same_throughout
from .ends import divergences
from .extent import FEW_DRAWS
from .matched import matched, relabelling
from .movement import low_e_bfmi
from .unbounded import runaways
from .words import moving_between_modes, non_centred, site_list

R_HAT_DOUBT = 1.01  # Vehtari et al. (2021)
R_HAT_SLIGHT = 1.02  # up to here, with as many effective draws as the next line says, it is information
ESS_AMPLE = 400
R_HAT_FAILED = 1.1  # the limit of Gelman & Rubin's day: the chains are not in the same place
ESS_PER_CHAIN = 100  # below this the diagnostics are unreliable too; Vehtari et al. (2021)
CHAINS_ASKED = 16  # beyond this many chains the total is what counts, and a hundred each would never be met
_MARGIN = (
    1.5  # beyond the draws at which R-hat would be just low enough, since chance alone makes one of many high
)
_SUBJECTS = {"divergences": "divergences", "e_bfmi": "E-BFMI"}  # of notices, by code: the code is not printed
COLLINEAR = 0.9999  # correlation beyond which two unknowns are one, as far as the data can tell
_MOST_PAIRED = 200  # scalars whose correlations are looked at


def high_r_hat(run: Evidence) -> Iterator[Notice]:
    """Find scalars on which chains disagree."""
    values = run.judged(run.r_hat)
    bad = [item for item in values if item[0] > R_HAT_DOUBT]
    if not bad:
        return
    worst = max(bad)
    names = tuple(dict.fromkeys(name for _, name, _ in sorted(bad, reverse=True)))
    yield Notice(
        _severity_of_r_hat(run, worst[0]),
        "r_hat",
        f"{'Nested ' if run.has_many_chains else ''}R-hat is above {R_HAT_DOUBT} for {len(bad)} of {len(values)} "
        f"parameters, worst {worst[0]:.4g} for {run.label(*worst[1:])}.",
        _remedy_of_r_hat(run, bad),
        names,
    )


def low_ess(
    run: Evidence, code: str, kind: str, statistic: Callable[[np.ndarray], np.ndarray]
) -> Iterator[Notice]:
    """Find scalars with a low effective sample size."""
    if run.num_draws < (1 if run.has_many_chains else FEW_DRAWS):
        return
    limit = _enough(run)
    values = run.judged(statistic)
    bad = [item for item in values if item[0] < limit]
    if bad:
        worst = min(bad)
        times = f"{np.ceil(limit / max(worst[0], 1.0)):.0f}"
        yield Notice(
            "warning",
            code,
            f"{kind} ESS is below {limit} for {len(bad)} of {len(values)} parameters, "
            f"lowest {worst[0]:.0f} for {run.label(*worst[1:])}.",
            f"Draw about {times} times as many draws, or reparameterise{_as_told(run)}.",
            tuple(dict.fromkeys(name for _, name, _ in sorted(bad))),
        )


def low_ess_bulk(run: Evidence) -> Iterator[Notice]:
    """Find scalars with a low effective sample size of the bulk."""
    return low_ess(run, "ess_bulk", "Bulk", ess_bulk)


def low_ess_tail(run: Evidence) -> Iterator[Notice]:
    """Find scalars with a low effective sample size of the tails."""
    return low_ess(run, "ess_tail", "Tail", ess_tail)


def collinear(run: Evidence) -> Iterator[Notice]:
    """Find two unknowns of which the data determine only a combination."""
    if run.num_draws < FEW_DRAWS or not len(run.chains):
        return
    columns, owners = [], []
    for name, scalars, draws in run.picked():
        if name in run.latents:
            columns.append(draws.reshape(-1, draws.shape[2]).T.astype(np.float64))
            owners += [(name, int(scalar)) for scalar in scalars]
        if len(owners) > _MOST_PAIRED:
            return
    if not owners:
        return
    rows = np.concatenate(columns)
    varying = np.isfinite(rows).all(axis=1) & (np.ptp(rows, axis=1) > 0)
    if varying.sum() < 2:
        return
    owners = [owner for owner, is_varying in zip(owners, varying, strict=True) if is_varying]
    with np.errstate(all="ignore"):
        correlation = np.nan_to_num(np.corrcoef(rows[varying]))
    np.fill_diagonal(correlation, 0.0)
    # Two equal entries, as in a symmetric matrix, are one unknown.
    size = np.where(np.abs(correlation) > 1 - 1e-12, 0.0, np.abs(correlation))
    first, second = np.unravel_index(np.argmax(size), size.shape)
    if size[first, second] > COLLINEAR:
        pair = owners[first], owners[second]
        yield Notice(
            "info",
            "collinear",
            f"{run.label(*pair[0])} and {run.label(*pair[1])} have correlation {correlation[first, second]:.6f}: the "
            "data hardly distinguish them, so the prior decides.",
            "Fix one of them, or write the model in terms of their sum, difference or ratio.",
            tuple(dict.fromkeys(name for name, _ in pair)),
        )


def _remedy_of_r_hat(run: Evidence, bad: Sequence[tuple[float, str, int]]) -> str:
    """Name the cause where it is that elements change places, or that each chain by itself is the same throughout."""
    away = tuple(dict.fromkeys(each.name for each in runaways(run)))
    bad = [item for item in bad if item[1] not in away]
    if not bad:
        return f"Draws of {site_list(away)} run away: more of them do not help."
    worst, name, scalar = max(bad)
    if not (worst > R_HAT_FAILED and not run.has_many_chains and run.num_draws >= FEW_DRAWS):
        return _more(run, worst)
    apart = [item for item in bad if item[0] > R_HAT_FAILED]
    along, agreed = matched(run, [name for _, name, _ in apart])
    if along:
        return (
            f"Components along {along} change places, between chains or between draws: matched they agree (R-hat "
            f"{agreed:.4g}). {relabelling(along)} If others still disagree then, use more warm-up and draws."
        )
    if are_same_throughout(run.sites.columns(name, np.array([scalar]))[:, :, 0]):
        return (
            "Each chain by itself is the same throughout, so there are probably several modes: "
            f"{moving_between_modes(run)}."
        )
    return _more(run, worst)


def _more(run: Evidence, worst: float) -> str:
    draws = "draws"
    if worst <= R_HAT_FAILED and not run.has_many_chains:
        # Its distance from 1 falls as draws get more, or faster.
        times = np.ceil(_MARGIN * (worst - 1) / (R_HAT_DOUBT - 1))
        draws = f"about {times:.0f} times as many draws"
    form = _with_form(run)
    if form:
        return (
            f"The chains disagree: first do what the notice on {form} says. If they still do, use more warm-up and "
            f"{draws}."
        )
    more = f"The chains disagree: use more warm-up and {draws}. If they still do, "
    if run.flat and worst > R_HAT_FAILED:
        return f"{more}give {site_list(sorted(run.flat))} a proper prior: under a flat one, nothing may bound them."
    return f"{more}look for several modes, between which `infer.Tempered()` moves."


def _as_told(run: Evidence) -> str:
    form = _with_form(run)
    return f" as the notice on {form} says" if form else ""


def _with_form(run: Evidence) -> str:
    """Say what the notice is on that prints a non-centred form; empty without any."""
    forms = [non_centred(run, name) for name in run.scaled_by]
    told = (notice for rule in (divergences, low_e_bfmi) for notice in rule(run)) if forms else ()
    return next(
        (_SUBJECTS[notice.code] for notice in told if any(form in notice.remedy for form in forms)), ""
    )


def _severity_of_r_hat(run: Evidence, worst: float) -> Severity:
    if worst > R_HAT_FAILED:
        return "error"
    if worst > R_HAT_SLIGHT:
        return "warning"
    lowest = min((value for value, _, _ in run.judged(ess_bulk)), default=0.0)
    return "info" if lowest > ESS_AMPLE else "warning"


def _enough(run: Evidence) -> int:
    """Return how many effective draws the diagnostics themselves need."""
    return ESS_PER_CHAIN * min(len(run.chains), CHAINS_ASKED)
