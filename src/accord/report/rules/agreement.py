"""Judge whether chains agree, and how many independent draws they are worth."""

from collections.abc import Callable, Iterator

import numpy as np

from ...core.notice import Notice, Severity
from ..diagnostics import ess_bulk, ess_tail, r_hat
from ..evidence import Evidence
from .extent import FEW_DRAWS
from .words import chain_list

R_HAT_DOUBT = 1.01  # Vehtari et al. (2021)
R_HAT_SLIGHT = 1.02  # up to here, with as many effective draws as the next line says, it is information
ESS_AMPLE = 400
R_HAT_FAILED = 1.1  # the limit of Gelman & Rubin's day: the chains are not in the same place
ESS_PER_CHAIN = 100  # below this the diagnostics are unreliable too; Vehtari et al. (2021)
CHAINS_ASKED = 16  # beyond this many chains the total is what counts, and a hundred each would never be met
APART = 4.0  # standard deviations within chains between the groups of chains that are in different places
SAME = 1.0  # standard deviations within chains, up to which means of elements in order agree between chains
ALIKE = 1.05  # R-hat of the halves of one chain, up to which it is the same throughout
COLLINEAR = 0.9999  # correlation beyond which two unknowns are one, as far as the data can tell
_MOST_PAIRED = 200  # scalars whose correlations are looked at


def chains_apart(run: Evidence) -> Iterator[Notice]:
    """Find groups of chains that each stayed in a mode of their own."""
    worst: tuple[float, str, int, np.ndarray, np.ndarray] | None = None
    reordered = (APART, "")
    if len(run.chains) < 2 or run.num_draws < FEW_DRAWS:
        return
    for name, scalars, draws in run.picked():
        # Draws may be infinite, or too large to be squared.
        with np.errstate(all="ignore"):
            means, widths = draws.mean(axis=1, dtype=np.float64), draws.std(axis=1, dtype=np.float64)
            gaps = np.diff(np.sort(means, axis=0), axis=0).max(axis=0) / widths.max(axis=0)
            differ_by_order = _differ_by_order(means, widths)
        gaps = np.where(np.isfinite(gaps), gaps, 0.0)
        best = int(np.argmax(gaps))
        if gaps[best] > APART and (worst is None or gaps[best] > worst[0]):
            worst = (float(gaps[best]), name, int(scalars[best]), means[:, best], draws[:, :, best])
        # The elements of a simplex are told apart by ordering those of another site.
        is_row = name in run.latents - run.discrete and len(run.sites.shape(name)) == 3
        if differ_by_order and is_row and gaps[best] > reordered[0] and not np.allclose(means.sum(axis=1), 1):
            reordered = (float(gaps[best]), name)
    if worst is None:
        return
    _, name, scalar, means, draws = worst
    cut = np.argmax(np.diff(np.sort(means)))
    is_low = means <= np.sort(means)[cut]
    low, high = (chain_list(run, np.flatnonzero(where)) for where in (is_low, ~is_low))
    yield Notice(
        "error",
        "chains_apart",
        f"{low} stayed near {means[is_low].mean():.4g} and {high.lower()} near {means[~is_low].mean():.4g} of "
        f"{run.label(name, scalar)}: {_what_differs(reordered[1])}",
        _remedy(run, reordered[1], _are_same_throughout(draws)),
        (name,),
    )


def _differ_by_order(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether chains have the same elements in different orders, as exchangeable components do.

    `means` and `widths`: means and standard deviations of the elements of one site, each `(chain, n)`.
    """
    order = np.argsort(means, axis=1)
    ordered, their_widths = (np.take_along_axis(each, order, axis=1) for each in (means, widths))
    is_same = bool(np.all(np.ptp(ordered, axis=0) < SAME * their_widths.max(axis=0)))
    return means.shape[1] > 1 and is_same and not _are_mirrored(means, widths)


def _are_mirrored(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether some chains have all elements of others with the opposite sign, as loadings of factors may."""
    apart = np.abs(means[:, None] + means[None]).max(axis=2)
    return bool(np.all(apart.min(axis=1) < SAME * widths.max()))


def _what_differs(reordered: str) -> str:
    """Say what chains found, where `reordered` is a site whose elements they have in different orders, or empty."""
    if reordered:
        return (
            f"the chains found different modes, with the elements of {reordered!r} in different orders: probably "
            "nothing in the model tells them apart."
        )
    return "the chains found different modes, or some have not reached the posterior yet."


def _are_same_throughout(draws: np.ndarray) -> bool:
    """Return whether the halves of each chain agree, so that it stays in one mode; `draws`: shape `(chain, draw)`."""
    half = draws.shape[1] // 2
    halves = draws[:, : 2 * half].reshape(len(draws), 2, half, 1)
    return all(r_hat(chain)[0] < ALIKE for chain in halves)


def _remedy(run: Evidence, reordered: str, are_modes: bool) -> str:
    """Say what to do about chains in different places."""
    if reordered:
        return (
            f"If they are exchangeable, order them, as by `ac.sample({reordered!r}, dist.ordered(dist.Normal(0, 1)"
            ".expand((2,)).to_event(1)))`, with their own distribution and number. Else "
            f"{_moving_between_modes(run)}, and look only at what does not depend on the order."
        )
    share = "The share of draws in a mode depends on the starting points, and is not its probability."
    others = "break a symmetry by an ordering, or exclude an unwanted mode"
    moving = _moving_between_modes(run)
    if are_modes:
        return f"{share} {moving[0].upper()}{moving[1:]}. Else start near one by `init=`, {others}."
    return f"{share} Start near the posterior by `init=`, {others}; or {moving}."


def _moving_between_modes(run: Evidence) -> str:
    """Name the line that moves between modes."""
    if run.temperatures is not None:
        return f"take more rungs than {run.temperatures.shape[1]}, `infer.Tempered(temperatures=...)`, or more draws"
    kernel = "infer.Tempered()"
    if run.discrete:
        blocks = ", ".join(f"{name!r}: infer.DiscreteGibbs()" for name in sorted(run.discrete))
        kernel = f"infer.Tempered(infer.Gibbs({{{blocks}, ...: infer.NUTS()}}))"
    return f"sample by `infer.sample(model, {kernel})`, which moves between modes if every prior is proper"


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
        _remedy_of_r_hat(run, *worst),
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
        yield Notice(
            "warning",
            code,
            f"{kind} ESS is below {limit} for {len(bad)} of {len(values)} parameters, "
            f"lowest {worst[0]:.0f} for {run.label(*worst[1:])}.",
            f"Draw about {np.ceil(limit / max(worst[0], 1.0)):.0f} times as many draws, or reparameterise.",
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
    if run.num_draws < FEW_DRAWS:
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


def _remedy_of_r_hat(run: Evidence, worst: float, name: str, scalar: int) -> str:
    """Name modes as the cause where chains disagree although each one is the same throughout."""
    is_judged = worst > R_HAT_FAILED and not run.has_many_chains and run.num_draws >= FEW_DRAWS
    if is_judged and _are_same_throughout(run.sites.columns(name, np.array([scalar]))[:, :, 0]):
        return (
            "Each chain by itself is the same throughout, so there are probably several modes: "
            f"{_moving_between_modes(run)}."
        )
    return (
        "The chains disagree: use more warm-up and draws. If they still do, look for several modes, between which "
        "`infer.Tempered()` moves."
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
