"""Find the states of a model that particles are to hold, and refuse a model that does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import SiteError
from ..language import Site
from ..language.treatment import Computed
from .look import LOOP, Run, Seen, traced


@dataclass(frozen=True)
class Fit:
    """How particles fit a model.

    **Fields**
    - `states`: names of the states in the scan; `initial`: of the unknowns before it that belong to the particle.
    - `varies`: of each leaf of the first carry, whether it differs between particles.
    - `conditions`: given unknowns whose log density is the same for all particles, which a filter does not count.
    - `later`: sites after the scan whose log density depends on it; `apart`, those whose does not.
    - `shown`: the unknowns and, of the scan, the deterministic sites, in the model's order.
    """

    states: tuple[str, ...]
    initial: tuple[str, ...]
    varies: tuple[bool, ...]
    conditions: tuple[str, ...]
    later: tuple[str, ...]
    apart: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All unknowns of a particle, in the model's order."""
        return (*self.initial, *self.states)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Names whose log density is no part of a particle's weight."""
        return (*self.names, *self.conditions)


def fit_of(run: Run, unknowns: Sequence[str], asked: str, *args: Any, has_conditions: bool = True) -> Fit:
    """Find the scan of a model whose states are not given.

    **Arguments**: `run(*args, handlers)`, where `args` are shapes; `unknowns`, names of all that are not given;
    `asked`, with which errors begin; `has_conditions`, False to count the log density of all that is given.

    **Raises** `SiteError` where there is no such scan, or several; for an unknown that is no state and does not lead to
    the first carry; and for what uses a state in a way that does not go on with the particle.
    """
    return _judged(asked, unknowns, has_conditions, *traced(run, unknowns, asked, args, has_parents=True))


def particle_unknowns(run: Run, unknowns: Sequence[str], asked: str, *args: Any) -> tuple[str, ...]:
    """Return which unknowns a particle would hold if none were given, in the model's order.

    They are those in the scan, and those that the first carry is computed from and nothing else after it uses.
    Arguments and errors as of `fit_of`.
    """
    seen, found = traced(run, unknowns, asked, args, has_parents=False)
    if not seen.states:
        raise _no_scan(asked, unknowns)
    leads = set().union(*(on for (kind, _), on in found if kind == "init"))
    elsewhere = set().union(*(on for (kind, _), on in found if kind in ("step", "after")))
    return tuple(name for name in seen.sites if name in seen.states or name in leads - elsewhere)


def _judged(
    asked: str,
    unknowns: Sequence[str],
    has_conditions: bool,
    seen: Seen,
    found: Sequence[tuple[tuple[str, Any], set[str]]],
) -> Fit:
    if not seen.states:
        raise _no_scan(asked, unknowns)
    leads = [on - {LOOP} for (kind, _), on in found if kind == "init"]
    initial = set().union(*leads)
    for name in unknowns:
        if name in seen.states or name in initial:
            continue
        site = seen.asked.get(name)
        raise SiteError(
            f"{asked}: site {name!r}{f' (at {site.where})' if site else ''} is unknown, and neither a state in the "
            f"scan nor where the scan begins. Give it a value."
        )
    for (kind, _), on in found:
        for name in sorted(on & initial) if kind == "step" else ():
            raise SiteError(
                f"{asked}: the steps of the scan use the value of {name!r} (at {seen.asked[name].where}), which "
                f"belongs to the particle, and not by the carry. Put {name!r} into the carry, or give it a value."
            )
    for (kind, what), on in found:
        for name in sorted(on & initial) if kind == "after" else ():
            raise SiteError(
                f"{asked}: site {what!r} (at {seen.sites[what].where}), which comes after the scan, uses the value of "
                f"{name!r}, which belongs to the particle. Put it before the scan, {name!r} into the carry, or give "
                f"{name!r} a value."
            )
    counted = {what for (kind, what), on in found if on & initial or (kind == "after" and LOOP in on)}
    given = [
        name
        for name, site in seen.sites.items()
        if has_conditions
        and site.kind == "sample"
        and not site.is_observed
        and name not in (*seen.states, *initial)
    ]
    conditions = tuple(name for name in given if name not in counted and name not in seen.inside)
    after = {what: LOOP in on for (kind, what), on in found if kind == "after"}
    after = {name: depends for name, depends in after.items() if seen.sites[name].kind != "deterministic"}
    return Fit(
        states=tuple(seen.states),
        initial=tuple(name for name in seen.sites if name in initial),
        varies=tuple(bool(each) for each in leads),
        conditions=conditions,
        later=tuple(name for name, depends in after.items() if depends),
        apart=tuple(name for name, depends in after.items() if not depends and name not in conditions),
        shown=tuple(
            name
            for name, site in seen.sites.items()
            if name in initial or name in seen.states or (name in seen.inside and _is_computed(site))
        ),
    )


def _is_computed(site: Site) -> bool:
    return site.kind == "deterministic" or isinstance(site.treatment, Computed)


def _no_scan(asked: str, unknowns: Sequence[str]) -> SiteError:
    names = ", ".join(map(repr, unknowns)) or "none"
    return SiteError(
        f"{asked}: the model has no `ac.scan` with states that are unknown. Unknowns without values are {names}. Write "
        "the series as `ac.scan(step, init, xs)`, with `ac.sample` of the state in the step."
    )
