"""Read the draws for a rule from a store, and judge them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import StorageError
from ...report.evidence import quotas
from ...report.labels import read_written, scalar_labels
from ...storage import AbstractRun, Joined, Segment
from .base import AbstractLeaf, AbstractRule, Finding, Sight
from .failed import RuleFailedError
from .stopping import Look

GIVEN_UP = "is_given_up"
"""Name, in the state at the end of a segment, of whether its chain makes no more draws."""


def first_draws(segments: Sequence[Segment], num_draws: int) -> list[Segment]:
    """Return the segments of a chain that start before its kept draw `num_draws`, warm-up included."""
    return [each for each in segments if each.phase == "warmup" or each.start < num_draws]


def drawn_sites(manifest: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...], str]]:
    """Return latent, collapsed and deterministic sites, as `storage.Joined` takes them."""
    sites = manifest["layout"]["sites"]
    return {
        site["name"]: (f"site/{site['name']}", tuple(site["shape"]), site["dtype"])
        for site in sites
        if site["kind"] in ("latent", "whole", "collapsed", "deterministic")
    }


def superchains_of(manifest: Mapping[str, Any], chains: Sequence[int]) -> list[int] | None:
    """Return the superchain of each of `chains`; None if each chain has its own starting point."""
    count = manifest.get("settings", {}).get("superchains")
    size = 0 if count is None else len(manifest["chains"]) // count
    return [chain // size for chain in chains] if size else None


def judge(
    rule: AbstractRule,
    run: AbstractRun,
    num_draws: int,
    seconds: float,
    earlier: Sequence[Look],
    is_last: bool,
    num_numbers: int,
) -> tuple[bool, tuple[int, ...], Look]:
    """Judge the first `num_draws` of all chains with that many: return whether the rule holds, the chains and findings.

    Most looks find that more is needed, so they are made short: some scalars of each site, about `num_numbers` numbers,
    and the worst of `earlier` looks are judged first, and the others where those do not decide; at the last look all,
    so as to say how far the run came. What is found depends on the draws alone.

    **Raises** `RuleFailedError` for what a rule raises.
    """
    made = {chain: first_draws(run.segments(chain), num_draws) for chain in run.manifest.chains}
    kept = {chain: segments for chain, segments in made.items() if _counts(segments, num_draws)}
    whole = _sight(run, kept, seconds)
    some = _some(whole, earlier, num_numbers)
    is_small = sum(map(len, some.values())) == sum(whole.draws.width(name) for name in whole.draws)
    found: dict[AbstractLeaf, Finding] = {}
    if not (is_last or is_small):
        # One that does not hold for some scalars does not for all.
        found = {leaf: _finding(leaf, replace(whole, some=some)) for leaf in rule.leaves}
    holds = dict.fromkeys((leaf for leaf in found if not found[leaf].holds), False)
    sight = whole if is_last or is_small else replace(whole, is_brief=True)
    for leaf in rule.leaves:
        if leaf not in holds and (is_last or is_small or _is_open(rule, holds)):
            found[leaf] = _finding(leaf, sight)
            holds[leaf] = bool(found[leaf].holds)
    # What was left out could not have changed it.
    is_met = is_met_by(rule, {leaf: holds.get(leaf, False) for leaf in rule.leaves})
    findings = tuple(replace(found[leaf], holds=holds.get(leaf)) for leaf in rule.leaves)
    return is_met, tuple(kept), Look(num_draws, findings)


def _finding(leaf: AbstractLeaf, sight: Sight) -> Finding:
    """Return the finding of an elementary rule, which may be a user's own."""
    try:
        found = leaf.judge(sight)
        if not isinstance(found, Finding):
            raise TypeError(f"`judge` returned {type(found).__name__}, and must return a Finding")
        found = _plain(found)
    except StorageError:  # of draws that cannot be read
        raise
    except Exception as error:
        raise RuleFailedError(leaf, error) from error
    return found


def is_met_by(rule: AbstractRule, holds: Mapping[AbstractLeaf, bool]) -> bool:
    """Return whether a rule, which may be a user's own, is met where these elementary ones hold.

    **Raises** `RuleFailedError` for what it raises.
    """
    try:
        return bool(rule.is_met(holds))
    except Exception as error:
        raise RuleFailedError(rule, error) from error


def _plain(found: Finding) -> Finding:
    """Return a finding of Python's own numbers, which a store can keep. Raises for what is no number."""

    def as_number(kind: Callable[[Any], Any], value: Any) -> Any:
        return None if value is None else kind(value)

    return replace(
        found,
        holds=as_number(bool, found.holds),
        text=str(found.text),
        value=as_number(float, found.value),
        scalar=as_number(int, found.scalar),
        times=as_number(float, found.times),
    )


def _counts(segments: Sequence[Segment], num_draws: int) -> bool:
    """Return whether a chain has made this many draws, and was not given up at the last one."""
    if not segments or segments[-1].phase == "warmup" or segments[-1].stop < num_draws:
        return False
    end_state = segments[-1].end_state
    if GIVEN_UP not in end_state:
        raise StorageError(
            f"chain {segments[-1].chain}: the state after {segments[-1].stop} draws has no {GIVEN_UP!r}. It was not "
            "written by a run of accord."
        )
    return not end_state[GIVEN_UP]


def _is_open(rule: AbstractRule, holds: Mapping[AbstractLeaf, bool]) -> bool:
    """Return whether rules that are not judged yet decide."""
    least, most = ({leaf: holds.get(leaf, unknown) for leaf in rule.leaves} for unknown in (False, True))
    return is_met_by(rule, least) != is_met_by(rule, most)


def _sight(run: AbstractRun, chains: Mapping[int, Sequence[Segment]], seconds: float) -> Sight:
    layout = run.manifest["layout"]
    draws = Joined(list(chains.values()), "sample", drawn_sites(run.manifest))
    dims = {site["name"]: tuple(site["dims"]) for site in layout["sites"]}
    coords = {name: read_written(labels) for name, labels in layout["coords"].items()}

    def label(name: str, scalar: int) -> str:
        return scalar_labels(name, draws.shape(name)[2:], dims[name], coords)[scalar]

    return Sight(draws, seconds, None, False, label, superchains_of(run.manifest, list(chains)))


def _some(sight: Sight, earlier: Sequence[Look], num_numbers: int) -> dict[str, np.ndarray]:
    """Select representative scalars: evenly spaced ones of each site, and the worst of earlier checks."""
    draws = sight.draws
    widths = {name: draws.width(name) for name in draws}
    num_draws = max((int(np.prod(draws.shape(name)[:2])) for name in draws), default=1)
    total = min(sum(widths.values()), max(len(widths), num_numbers // max(num_draws, 1)))
    some = {
        name: np.linspace(0, widths[name] - 1, quota).round().astype(int)
        for name, quota in quotas(widths, total).items()
    }
    for finding in (finding for look in earlier for finding in look.findings):
        if finding.site is not None and finding.scalar is not None:
            some[finding.site] = np.union1d(some.get(finding.site, np.zeros(0, int)), [finding.scalar])
    return some
