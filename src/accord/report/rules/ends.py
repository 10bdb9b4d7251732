"""Judge how trajectories ended: in divergences, or at values that are not finite."""

import math
from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice, Severity
from ..evidence import Evidence
from ..separation import Groups, best_extreme, best_scalar
from .words import by_chain, non_centred, percent

RARE = 0.001  # of the draws: what happens in no more of them is information
NOT_TO_BE_USED = 0.25  # of the draws: what happens more often leaves out too much of the posterior
FEW_SITES = 3
_FEWEST = 3  # draws that diverged, and others, below which nothing says where
_APART = 0.2  # of a score, from which on it says where draws diverge
OFTEN_IN_WARMUP = 0.04  # of the draws; sound models: up to 0.006 by default, 0.025 in a warm-up of 100
LEAST_WARMUP = 100  # draws of a chain; of fewer, the way to the posterior is too large a part

_NAMES = {"log_density": "the log density", "gradient": "the gradient"}


def divergences(run: Evidence) -> Iterator[Notice]:
    """Find divergences, and the region in which they gather."""
    diverging = run.stats.get("diverging")
    if diverging is None or not diverging.any():
        return
    count, total = int(np.count_nonzero(diverging)), diverging.size
    where = _where_divergent(run, diverging.astype(bool))
    most = f", most with {where[1]}" if where else ""
    blamed, why = run.blamed.get("divergence", ((), ""))
    # Of a few unknowns, every one may be to blame.
    few = tuple(sorted(run.latents)) if len(run.latents) <= FEW_SITES else ()
    sites = (where[2],) if where else blamed or few
    named = where[0] if where else ", ".join(map(repr, sites))
    on = f"what depends on {named}" if named else "the sites whose scale varies"
    yield Notice(
        _severity(count / total),
        "divergences",
        f"{count} of {total} draws diverged ({percent(count / total)}){most}.{why}",
        _against_divergences(run, () if blamed and not where else sites, on, is_at=where is not None),
        sites,
    )


def gradients(run: Evidence) -> Iterator[Notice]:
    """Find gradients that were not finite at a finite log density: the draws leave that region out."""
    counts = run.counts_of("gradient", "sample")
    if not counts.any():
        return
    share = counts.sum() / max(run.num_made, 1)
    sites, why = run.blamed.get("gradient", ((), ""))
    yield Notice(
        "warning" if share <= RARE else "error",
        "non_finite_gradient",
        f"The gradient was not finite in {counts.sum()} of {run.num_made} draws ({percent(share)}; "
        f"{by_chain(run, counts)}) at a finite log density: no trajectory goes there, and the draws leave that part "
        f"of the posterior out.{why}",
        "`infer.explain(draws)` shows where; `on_nonfinite='raise'` stops at the first.",
        sites,
    )


def log_densities(run: Evidence) -> Iterator[Notice]:
    """Find log densities of NaN and of plus infinity."""
    counts = run.counts_of("log_density", "sample")
    if not counts.any():
        return
    share = counts.sum() / max(run.num_made, 1)
    sites, why = run.blamed.get("log_density", ((), ""))
    severity, also = _severity(share), ""
    if severity == "info" and run.warmups is not None and _is_often_in_warmup(run, "log_density"):
        bad, total = run.counts_of("log_density", "warmup").sum(), int(np.sum(run.warmups))
        severity = "warning"
        share_then = percent(bad / total)
        also = (
            f" It was so in {bad} of {total} draws of warm-up ({share_then}), too often to be overflow alone."
        )
    yield Notice(
        # An infinite density attracts every chain, and no trajectory leaves it.
        "error" if run.is_unbounded else severity,
        "non_finite",
        f"The log density was NaN or infinite in {counts.sum()} of {run.num_made} draws ({percent(share)}; "
        f"{by_chain(run, counts)}), and the chains turned back.{also}{why}",
        "Look for exp, log, sqrt and division in the model; `infer.explain(draws)` shows where.",
        sites,
    )


def in_warmup(run: Evidence) -> Iterator[Notice]:
    """Find values that were not finite only during warm-up."""
    found = {kind: run.counts_of(kind, "warmup") for kind in _NAMES}
    later = [kind for kind in _NAMES if run.counts_of(kind, "sample").any()]
    often = [kind for kind in _NAMES if kind not in later and _is_often_in_warmup(run, kind)]
    if often and run.warmups is not None:
        total = int(np.sum(run.warmups))
        counted = " and ".join(
            f"{_NAMES[kind]} was not finite in {found[kind].sum()} of {total} draws of warm-up "
            f"({percent(found[kind].sum() / total)})"
            for kind in often
        )
        blamed = [run.blamed.get(kind, ((), "")) for kind in often]
        yield Notice(
            "warning",
            "non_finite_warmup",
            f"{counted[:1].upper()}{counted[1:]}, and never after it: too often for a formula that overflows "
            f"far from the posterior. A part of the posterior may be missing.{''.join(why for _, why in blamed)}",
            "Keep parameters in their range, and look for exp, log, sqrt and division in the model; "
            "`infer.explain(draws)` shows where.",
            tuple(dict.fromkeys(site for sites, _ in blamed for site in sites)),
        )
    elif not later and any(each.any() for each in found.values()):
        times = {_NAMES[kind]: int(counts.sum()) for kind, counts in found.items()}
        counted = " and ".join(
            f"{name} was not finite {'once' if count == 1 else f'{count} times'}"
            for name, count in times.items()
            if count
        )
        yield Notice(
            "info",
            "non_finite_warmup",
            f"{counted[:1].upper()}{counted[1:]} during warm-up, and never after it: far from the posterior, formulas "
            "overflow.",
            "`infer.explain(draws)` shows where.",
        )


def is_often_in_warmup(counts: np.ndarray, warmups: np.ndarray) -> bool:
    """Return whether values were not finite too often during warm-up for a sound model.

    A sound one overflows on its way to the posterior, once or twice a chain. Where the density is undefined beside the
    posterior, every search for a step size leads there; whether a trajectory does so after warm-up too is luck.

    **Arguments**: both of shape `(chain,)`: draws of warm-up with such a value, and draws of warm-up.
    """
    total = np.sum(warmups)
    return total >= LEAST_WARMUP * len(warmups) and bool(counts.sum() >= OFTEN_IN_WARMUP * max(total, 1))


def draws_not_finite(run: Evidence) -> Iterator[Notice]:
    """Find draws that are NaN or infinite."""
    for name in run.sites:
        bad = sum(int((~np.isfinite(piece)).sum()) for piece in run.sites.pieces(name))
        if bad:
            yield Notice(
                "error",
                "non_finite_draws",
                f"{bad} of {math.prod(run.sites.shape(name))} values of {name!r} are not finite.",
                f"Find where {name!r} overflows, divides by zero or takes the logarithm of zero.",
                (name,),
            )


def _against_divergences(run: Evidence, suspects: tuple[str, ...], on: str, *, is_at: bool) -> str:
    """Write the remedy: a non-centred form first if divergences gather at a scale, else smaller steps."""
    raising = (
        f"raise target_accept above {run.target_accept:g}" if run.target_accept else "take smaller steps"
    )
    funnel = next(filter(None, (non_centred(run, name) for name in suspects)), "")
    first = f"{raising[0].upper()}{raising[1:]}"
    if funnel:
        return f"{funnel}. Else {raising}." if is_at else f"{first}. Or: {funnel}."
    return f"{first}, or reparameterise {on} (a non-centred form, or a prior away from the edge)."


def _is_often_in_warmup(run: Evidence, kind: str) -> bool:
    return run.warmups is not None and is_often_in_warmup(run.counts_of(kind, "warmup"), run.warmups)


def _severity(share: float) -> Severity:
    if share <= RARE:
        return "info"
    return "warning" if share < NOT_TO_BE_USED else "error"


def _where_divergent(run: Evidence, diverging: np.ndarray) -> tuple[str, str, str] | None:
    """Return what best sets diverging draws apart: its label, a phrase for it, and its site; None if nothing does."""
    # A chain that is held in one place diverges there again and again: that says once where the place is.
    first = diverging.copy()
    first[:, 1:] &= ~diverging[:, :-1]
    # Divergences are expected at a scale, which also holds chains: there, every draw and weaker evidence count.
    for flagged, among, sigmas in ((first, None, 4), (diverging, run.scaled_by, 2)):
        groups = Groups(flagged, ~diverging)
        if groups.smallest >= _FEWEST:
            score, name, scalar = best_scalar(run, groups, among)
            if abs(score) >= max(_APART, sigmas * groups.chance):
                label = run.label(name, scalar)
                return label, f"{'small' if score < 0 else 'large'} {label}", name
    groups = Groups(first, ~diverging)
    if groups.smallest >= _FEWEST:
        score, name = best_extreme(run, groups)
        if abs(score) >= max(_APART, 4 * groups.chance):
            return repr(name), f"a {'small' if score < 0 else 'large'} element of {name!r}", name
    return None
