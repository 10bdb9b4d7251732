"""Read the draws of a stored run, and judge them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.notice import Notice, by_severity
from ...core.series import AbstractSeries, InMemory
from ...kernels.stored import BY_BLOCKS, BY_ESTIMATES, REST, WITHOUT_REFUSALS
from ...report import examine
from ...report.evidence import Blamed, Block, Forms
from ...report.labels import read_written
from ...runs.stopping.sights import drawn_sites, first_draws
from ...runs.stopping.stopping import at_cap
from ...runs.stored.ending import is_ruled, lost_chains, num_kept, stopping_of, stored_losses
from ...runs.stored.notices import notice_of
from ...storage import KEPT_BYTES, AbstractRun, Joined, Phase, Segment
from ..columns import WHOLE
from ..draws import Draws
from ..endings import KINDS, PHASES, Tally
from ..statistics import parts_among
from ..stretch import WORK
from ..tuning import stored_columns, tuning_of
from .checked import check_end, check_layout, check_work
from .damage import OF_PARTS, damaged


def assemble(
    run: AbstractRun,
    data: Mapping[str, Any] | None = None,
    spilled: Sequence[Segment] = (),
    lost: Sequence[Mapping[str, Any]] | None = None,
) -> Draws:
    """Read every valid segment of `run`; after an interruption, chains are cut to the shortest.

    `data`: the arguments of the model, if it is attached. `spilled`: segments that the store could not write. `lost`:
    records of failed chains, which the run holds itself if it could write them. Failed chains are left out, unless
    there are no others.
    """
    manifest = run.manifest
    check_layout(manifest)
    records: dict[str, Any] = dict(run.records)
    lost = tuple(stored_losses(run) if lost is None else lost)
    failed = lost_chains(lost)
    chains = tuple(chain for chain in manifest["chains"] if chain not in failed) or tuple(manifest["chains"])
    num_draws = num_kept(run)
    segments = {
        chain: [*run.segments(chain), *(each for each in spilled if each.chain == chain)] for chain in chains
    }
    # Chains may have gone on beyond the draw at which a stopping rule held.
    segments = {chain: first_draws(each, num_draws) for chain, each in segments.items()}
    layout: dict[str, Any] = manifest["layout"]
    columns = stored_columns(manifest)
    position = ("position", (layout["dim"],), manifest["precision"])
    count = sum(math.prod(site["shape"]) for site in layout["sites"] if site["kind"] == "whole")
    whole = {WHOLE: (WHOLE, (count,), "int32")} if count else {}
    parts = list(segments.values())
    for chain in parts:
        for each in chain:
            check_work(each)
        for each in chain[-1:]:
            check_end(each, layout["dim"], columns)
    counts = [sum(len(each) for each in chain if each.phase == "sample") for chain in parts]
    complete = all(count >= num_draws for count in counts) and not run.problems and not failed
    return Draws(
        sites=_joined(run, parts, "sample", drawn_sites(manifest)),
        stats=_joined(run, parts, "sample", _stats(manifest, parts, "sample")),
        notices=tuple(notice_of(each) for each in records.get("notices") or ()),
        timings=dict(records.get("timings", {})),
        work={phase: _work(parts, phase) for phase in ("warmup", "sample")},
        tuning=tuning_of(parts, columns, manifest["warmup"]),
        warmup=_joined(
            run, parts, "warmup", {"position": position, **whole, **_stats(manifest, parts, "warmup")}
        ),
        complete=complete and not is_ruled(run),
        chains=chains,
        dims={site["name"]: tuple(site["dims"]) for site in layout["sites"]},
        coords={name: read_written(labels) for name, labels in layout["coords"].items()},
        data=dict(data or {}),
        observed={site["name"]: site["source"] for site in layout["sites"] if site["kind"] == "observed"},
        manifest=manifest,
        location=run.location,
        problems=tuple(run.problems),
        counts=_counts(parts),
        failures=tuple(bad_end for tally in map(_tally, chains, parts) if tally for bad_end in tally.kept),
        lost_chains=lost,
        requested=num_draws,
        stopping=stopping_of(run),
    )


def read(run: AbstractRun, data: Mapping[str, Any] | None = None) -> Draws:
    """Read the draws of a run that has ended, and judge it unless its stored notices are of what is there now."""
    draws = assemble(run, data)
    is_whole_again = draws.complete and any(each.code in OF_PARTS for each in draws.notices)
    if run.records.get("notices") is None or draws.problems or is_whole_again:
        return replace(draws, notices=tuple(judge(draws)))
    return draws


def judge(
    draws: Draws,
    blamed: Mapping[str, Blamed] | None = None,
    scaled_by: Mapping[str, Forms] | None = None,
) -> list[Notice]:
    """Return the notices of `report.examine` on a run, with options from its manifest; other arguments as there."""
    manifest = draws.manifest
    sampler: dict[str, Any] = manifest["sampler"]
    num_made = len(draws.chains) * max((draws.num_draws - 1) * manifest["thinning"] + 1, 0)
    found = examine(
        draws.sites,
        draws.stats,
        chains=draws.chains,
        dims=draws.dims,
        coords=draws.coords,
        max_tree_depth=sampler.get("inner", sampler).get("max_tree_depth"),
        target_accept=_target_accept(draws.tuning, "target_accept"),
        complete=draws.complete or bool(draws.problems),  # of which `damaged` tells
        requested=draws.requested,
        counts=draws.counts,
        num_made=num_made,
        num_warmup=manifest["warmup"] if manifest["tuning"] else None,
        step_size=_step_size(draws.tuning),
        warmups=draws.tuning["num_warmup"],
        is_settled=draws.tuning["is_settled"],
        latents=[site["name"] for site in manifest["layout"]["sites"] if site["kind"] in ("latent", "whole")],
        blamed=blamed,
        is_unbounded=any(each.log_density == np.inf for each in draws.failures),
        superchains=draws.superchains,
        scaled_by=scaled_by,
        temperatures=_temperatures(draws),
        limits={
            site["name"]: site["upto"] for site in manifest["layout"]["sites"] if site.get("upto") is not None
        },
        blocks=_blocks(manifest, draws.tuning),
        discrete=[site["name"] for site in manifest["layout"]["sites"] if site["kind"] == "whole"],
        flat=[site["name"] for site in manifest["layout"]["sites"] if site.get("is_flat")],
        bias=_bias(sampler),
        approximated=[
            site["name"]
            for site in manifest["layout"]["sites"]
            if site["kind"] == "collapsed" and "collapsed_by" in manifest["settings"]
        ],
        estimate=_estimate(sampler),
        dim=manifest["layout"]["dim"],
    )
    return by_severity([*damaged(draws), *found, *(at_cap(draws.stopping) if draws.complete else ())])


def _blocks(manifest: Mapping[str, Any], tuning: Mapping[str, np.ndarray]) -> list[Block]:
    """Return the blocks of a run by `Gibbs`, with the latent sites that are named or left over."""
    sampler: Mapping[str, Any] = manifest["sampler"]
    blocks = sampler["blocks"] if sampler["name"] == BY_BLOCKS else []
    named = {name for names, _ in blocks for name in names or ()}
    latent = [site["name"] for site in manifest["layout"]["sites"] if site["kind"] in ("latent", "whole")]
    rest = tuple(name for name in latent if name not in named)
    return [
        Block(
            label, rest if names is None else tuple(names), _target_accept(tuning, f"{label}.target_accept")
        )
        for names, _ in blocks
        for label in [REST if names is None else ",".join(names)]
    ]


def _target_accept(tuning: Mapping[str, np.ndarray], name: str) -> float | None:
    """Return the largest acceptance that a chain aims at; None without one."""
    found = tuning.get(name, np.empty(()))
    is_one_each = found.ndim == 1 and found.dtype == np.float64
    return float(np.nanmax(found, initial=0)) or None if is_one_each else None


def _step_size(tuning: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return step sizes by chain in units in which 1 is usual; None for those in others, without a metric."""
    found = tuning.get("step_size", np.empty(()))
    return found if found.ndim == 1 and "inverse_mass" in tuning else None


def _bias(sampler: Mapping[str, Any]) -> float | None:
    """Return by what share a sampler that refuses no step makes variances too large; None of another one."""
    return sampler["step_size"] / 4 if sampler["name"] in WITHOUT_REFUSALS else None


def _estimate(sampler: Mapping[str, Any]) -> tuple[int, float] | None:
    """Return the particles of a sampler that estimates its log density by them, and how noisy that is."""
    if sampler["name"] != BY_ESTIMATES:
        return None
    sd = sampler["estimate_sd"]
    return sampler["particles"], math.inf if sd is None else float(sd)


def _temperatures(draws: Draws) -> np.ndarray | None:
    """Return the powers of a ladder by chain, if the log likelihoods on its rungs are there too."""
    found = draws.tuning.get("temperatures")
    is_whole = found is not None and all(
        f"log_likelihood.{rung}" in draws.stats for rung in range(found.shape[1])
    )
    return found if is_whole else None


def _stats(
    manifest: Mapping[str, Any], chains: Sequence[Sequence[Segment]], phase: Phase
) -> dict[str, tuple[str, tuple[int, ...], str]]:
    """Return statistics of a phase as `Joined` takes them; parts of log densities only if every draw has them.

    Targets without sites have no such parts.
    """
    held = [each for chain in chains for each in chain if each.arrays]
    of_phase = [each for each in held if each.phase == phase]
    found = {each["name"]: each["dtype"] for each in manifest["statistics"]}
    found |= {
        part.name: part.dtype
        for part in parts_among({name for each in held for name in each.arrays})
        if all(f"stat/{part.name}" in each.arrays for each in of_phase or held)
    }
    return {name: (f"stat/{name}", (), dtype) for name, dtype in found.items()}


def _joined(
    run: AbstractRun,
    chains: Sequence[Sequence[Segment]],
    phase: Phase,
    names: Mapping[str, tuple[str, tuple[int, ...], str]],
) -> AbstractSeries:
    """Join the draws of a phase: in memory if they are few or their segments are there too, else read on demand."""
    joined = Joined(chains, phase, names)
    if run.location is not None and joined.nbytes > KEPT_BYTES:
        return joined
    return InMemory({name: joined.whole(name) for name in joined})


def _work(chains: Sequence[Sequence[Segment]], phase: Phase) -> int:
    return sum(int(each.end_state[WORK]) for chain in chains for each in chain if each.phase == phase)


def _tally(chain: int, segments: Sequence[Segment]) -> Tally | None:
    """Return the tally of a chain; None without a segment."""
    return Tally.stored(chain, segments[-1].end_state) if segments else None


def _counts(chains: Sequence[Sequence[Segment]]) -> dict[str, dict[str, np.ndarray]]:
    """Return how many draws failed, by kind and phase, shape `(chain,)`."""
    tallies = [_tally(0, segments) for segments in chains]
    none = np.zeros((len(PHASES), len(KINDS)), np.int64)
    counts = np.stack([none if tally is None else tally.counts for tally in tallies])
    return {
        kind: {phase: counts[:, row, column] for row, phase in enumerate(PHASES)}
        for column, kind in enumerate(KINDS)
    }
