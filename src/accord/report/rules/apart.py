"""Judge whether chains are in different places, and whether those are modes."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..diagnostics import r_hat
from ..evidence import Evidence
from .extent import FEW_DRAWS
from .matched import matched, relabelling
from .signs import APART, SIGNS, have_other_signs
from .unbounded import runaways
from .words import chain_list, moving_between_modes

ALIKE = 1.05  # R-hat of the halves of one chain, up to which it is the same throughout
FAR_BELOW = 100.0  # nats below the best chain, which leave no weight
WIDE = 10.0  # standard deviations of the log density of the best chain, which it may be below by itself
WIDER = 5.0  # nats for each unknown: a mode would have to be 150 times as wide along all of them


def chains_apart(run: Evidence) -> Iterator[Notice]:
    """Find groups of chains that each stayed in a mode of their own."""
    worst: tuple[float, str, int, np.ndarray, np.ndarray] | None = None
    names: list[str] = []
    has_signs = False
    if len(run.chains) < 2 or run.num_draws < FEW_DRAWS:
        return
    away = {each.name for each in runaways(run)}  # what runs away is in no mode
    for name, scalars, draws in run.picked(set(run.sites) - away):
        # Draws may be infinite, or too large to be squared.
        with np.errstate(all="ignore"):
            means, widths = draws.mean(axis=1, dtype=np.float64), draws.std(axis=1, dtype=np.float64)
            gaps = np.diff(np.sort(means, axis=0), axis=0).max(axis=0) / widths.max(axis=0)
            gaps = np.where(np.isfinite(gaps), gaps, 0.0)
            best = int(np.argmax(gaps))
            names += [name] if gaps[best] > APART else []
            if gaps[best] > APART and (worst is None or gaps[best] > worst[0]):
                worst = (float(gaps[best]), name, int(scalars[best]), means[:, best], draws[:, :, best])
            has_signs |= bool(gaps[best] > APART) and have_other_signs(means, widths)
    if worst is None:
        return
    _, name, scalar, means, draws = worst
    cut = np.argmax(np.diff(np.sort(means)))
    is_low = means <= np.sort(means)[cut]
    low, high = (chain_list(run, np.flatnonzero(where)) for where in (is_low, ~is_low))
    places = (
        f"{low} stayed near {means[is_low].mean():.4g} and {high.lower()} near {means[~is_low].mean():.4g} of "
        f"{run.label(name, scalar)}"
    )
    is_behind, gap = _left_behind(run)
    if is_behind.any():
        behind = chain_list(run, np.flatnonzero(is_behind))
        yield Notice(
            "error",
            "chains_apart",
            f"{places}: the log density in {behind.lower()} is {gap:,.0f} below that of the best chain. A mode as low "
            "as that has practically no probability.",
            f"Most likely, draws of {behind.lower()} are not from the posterior: do not use them. Start elsewhere, by "
            f"another `seed=`, or near the posterior by `init=`; or {moving_between_modes(run)}.",
            (name,),
        )
        return
    along, _ = matched(run, names)
    if along:
        yield Notice(
            "error",
            "chains_apart",
            f"{places}: the chains found different modes, probably with the components along {along} in different "
            f"orders{', or with opposite signs' if has_signs else ''}.",
            relabelling(along) + (SIGNS if has_signs else ""),
            (name,),
        )
        return
    yield Notice(
        "error",
        "chains_apart",
        f"{places}: the chains found different modes, or some have not reached the posterior yet.",
        _remedy(run, are_same_throughout(draws)),
        (name,),
    )


def _left_behind(run: Evidence) -> tuple[np.ndarray, float]:
    """Return which chains are far below the best one, shape `(chain,)`, and by how many nats the nearest of them is.

    A mode that is lower may weigh more if it is wider, as the bulk of a funnel beside its neck, or less correlated:
    marginal widths tell a part of it, and the rest is allowed for by the number of unknowns. No chain is said to be
    far below where some unknowns are discrete, since the number of their values counts as well.
    """
    nobody = np.zeros(len(run.chains), bool)
    if "lp" not in run.stats or run.temperatures is not None or run.discrete or run.dim is None:
        return nobody, 0.0
    height = np.asarray(run.stats["lp"], np.float64)
    if not np.all(np.isfinite(height)):
        return nobody, 0.0
    with np.errstate(all="ignore"):
        medians = np.median(height, axis=1)
        best = int(np.argmax(medians))
        gaps, limit = medians[best] - medians, max(FAR_BELOW, WIDE * float(height[best].std()))
        is_far = gaps > max(limit, WIDER * run.dim)
        is_behind = is_far & (gaps - np.maximum(_widths(run, best), 0.0) > limit) if is_far.any() else nobody
    return is_behind, float(gaps[is_behind].min()) if is_behind.any() else 0.0


def _widths(run: Evidence, best: int) -> np.ndarray:
    """Return how much wider the draws of each chain are than those of chain `best`: sums of logarithms, `(chain,)`."""
    total, names, count = np.zeros(len(run.chains)), run.latents & set(run.sites), 0
    for name, scalars, draws in run.picked():
        if name in names:
            widths = draws.std(axis=1, dtype=np.float64)
            # Where both are constant, as on a diagonal, there is nothing to compare.
            total += np.nansum(np.log(widths / widths[best]), axis=1)
            count += len(scalars)
    return total * (sum(run.sites.width(name) for name in names) / max(count, 1))


def are_same_throughout(draws: np.ndarray) -> bool:
    """Return whether the halves of each chain agree, so that it stays in one mode; `draws`: shape `(chain, draw)`."""
    half = draws.shape[1] // 2
    halves = draws[:, : 2 * half].reshape(len(draws), 2, half, 1)
    return all(r_hat(chain)[0] < ALIKE for chain in halves)


def _remedy(run: Evidence, are_modes: bool) -> str:
    """Say what to do about chains in different places."""
    share = "The share of draws in a mode depends on the starting points, and is not its probability."
    others = "break a symmetry by an ordering, or exclude an unwanted mode"
    moving = moving_between_modes(run)
    if are_modes:
        return f"{share} {moving[0].upper()}{moving[1:]}. Else start near one by `init=`, {others}."
    return f"{share} Start near the posterior by `init=`, {others}; or {moving}."
