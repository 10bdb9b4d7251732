"""Translate between a run on disk and a run in hand: manifests, segments and records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ..core.notice import Notice
from ..core.series import AbstractSeries, InMemory
from ..report import examine
from ..report.evidence import Blamed
from ..storage import KEPT_BYTES, AbstractRun, Joined, Phase, Segment
from .draws import Draws
from .plan import Piece
from .program import STAT_DTYPES
from .restore import end_state
from .scheduler import Failure
from .tally import KINDS, PHASES, Tally

STEP_SIZE, SCALE, FACTOR, STRETCH, IS_DIAGONAL = (
    "state.step_size.step_size",
    "metric.scale",
    "metric.factor",
    "metric.stretch",
    "metric.is_diagonal",
)

WORK = "piece_gradients"

LOST = "lost_chains"
"""Name of the record of chains that could not go on."""


def to_segment(piece: Piece, thinning: int) -> Segment:
    """The segment of a piece: every `thinning`-th draw of the sample phase, the first included; all of warm-up."""
    step = thinning if piece.phase == "sample" else 1
    first = -piece.start % step
    arrays = {name: np.ascontiguousarray(array[first::step]) for name, array in piece.arrays.items()}
    state = end_state(piece.end_state, piece.metric, piece.total_gradients, piece.tally)
    state[WORK] = np.asarray(piece.num_gradients)
    start, stop = -(-piece.start // step), -(-piece.stop // step)
    return Segment(piece.chain, piece.phase, start, stop, arrays, state)


def assemble(
    run: AbstractRun,
    data: Mapping[str, Any] | None = None,
    spilled: Sequence[Segment] = (),
    lost: Sequence[Mapping[str, Any]] | None = None,
) -> Draws:
    """Read every valid segment of `run`; after an interruption, chains are cut to the shortest.

    `data` are the arguments of the model, where it is at hand; `spilled`, segments that the store could not take;
    `lost`, records of the chains that could not go on, which the run holds itself where it could write them.
    Those chains are left out, unless there are no others.
    """
    manifest = run.manifest
    records: dict[str, Any] = dict(run.records)
    lost = tuple(records.get(LOST, ()) if lost is None else lost)
    failed = lost_chains(lost)
    chains = tuple(chain for chain in manifest["chains"] if chain not in failed) or tuple(manifest["chains"])
    segments = {
        chain: [*run.segments(chain), *(each for each in spilled if each.chain == chain)] for chain in chains
    }
    layout: dict[str, Any] = manifest["layout"]
    drawn = [site for site in layout["sites"] if site["kind"] in ("latent", "deterministic")]
    stats = {name: (f"stat/{name}", (), np.dtype(dtype).name) for name, dtype in STAT_DTYPES.items()}
    of_sites = {site["name"]: (f"site/{site['name']}", tuple(site["shape"]), site["dtype"]) for site in drawn}
    position = ("position", (layout["dim"],), manifest["precision"])
    parts = list(segments.values())
    num_draws = num_kept(run)
    counts = [sum(len(each) for each in chain if each.phase == "sample") for chain in parts]
    complete = all(count == num_draws for count in counts) and not run.problems and not failed
    return Draws(
        sites=_joined(run, parts, "sample", of_sites),
        stats=_joined(run, parts, "sample", stats),
        notices=tuple(_notice(each) for each in records.get("notices") or ()),
        timings=dict(records.get("timings", {})),
        work={phase: _work(parts, phase) for phase in ("warmup", "sample")},
        tuning=_tuning(parts, layout["dim"]),
        warmup=_joined(run, parts, "warmup", {"position": position, **stats}),
        complete=complete,
        chains=chains,
        dims={site["name"]: tuple(site["dims"]) for site in layout["sites"]},
        coords={name: np.asarray(values) for name, values in layout["coords"].items()},
        data=dict(data or {}),
        observed={site["name"]: site["source"] for site in layout["sites"] if site["kind"] == "observed"},
        manifest=manifest,
        location=run.location,
        problems=tuple(run.problems),
        counts=_counts(parts),
        failures=tuple(bad_end for tally in map(_tally, chains, parts) if tally for bad_end in tally.kept),
        lost_chains=lost,
        requested=num_draws,
    )


def read(run: AbstractRun, data: Mapping[str, Any] | None = None) -> Draws:
    """The draws of a run that is not going on, judged now where it ended before it could be."""
    draws = assemble(run, data)
    return draws if run.records.get("notices") is not None else replace(draws, notices=tuple(judge(draws)))


def num_kept(run: AbstractRun) -> int:
    """Draws per chain that were asked for, first or last."""
    extended: Any = run.records.get("extended")
    return int(run.manifest["draws"] if extended is None else extended)


def judge(draws: Draws, blamed: Mapping[str, Blamed] | None = None) -> list[Notice]:
    """What `report.examine` finds in a run, by the options that its manifest names; `blamed` as there."""
    manifest = draws.manifest
    sampler: dict[str, Any] = manifest["sampler"]
    num_made = len(draws.chains) * max((draws.num_draws - 1) * manifest["thinning"] + 1, 0)
    return examine(
        draws.sites,
        draws.stats,
        chains=draws.chains,
        dims=draws.dims,
        coords=draws.coords,
        max_tree_depth=sampler.get("max_tree_depth"),
        target_accept=sampler.get("target_accept"),
        complete=draws.complete,
        requested=draws.requested,
        counts=draws.counts,
        num_made=num_made,
        num_warmup=manifest["warmup"],
        step_size=draws.tuning["step_size"],
        latents=[site["name"] for site in manifest["layout"]["sites"] if site["kind"] == "latent"],
        blamed=blamed,
        is_unbounded=any(each.log_density == np.inf for each in draws.failures),
    )


def lost_records(run: AbstractRun, failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """Records of chains that could not go on: those of the run, and of what was found since, as JSON."""
    earlier: Any = run.records.get(LOST, [])
    found = [dict(chains=list(each.chains), draw=each.draw, error=each.text) for each in failures]
    return [*earlier, *(each for each in found if each not in earlier)]


def lost_chains(records: Sequence[Mapping[str, Any]]) -> set[int]:
    """Their numbers."""
    return {chain for record in records for chain in record["chains"]}


def notice_records(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """Notices as JSON."""
    return [asdict(notice) | {"sites": list(notice.sites)} for notice in notices]


def _notice(record: Mapping[str, Any]) -> Notice:
    severity, code, message, remedy = (record[name] for name in ("severity", "code", "message", "remedy"))
    return Notice(severity, code, message, remedy, tuple(record["sites"]))


def _joined(
    run: AbstractRun,
    chains: Sequence[Sequence[Segment]],
    phase: Phase,
    names: Mapping[str, tuple[str, tuple[int, ...], str]],
) -> AbstractSeries:
    """The draws of a phase: in memory where they are few or their segments are there too, read when asked for else."""
    joined = Joined(chains, phase, names)
    if run.location is not None and joined.nbytes > KEPT_BYTES:
        return joined
    arrays = {name: joined.columns(name, np.arange(joined.width(name))) for name in joined}
    return InMemory({name: array.reshape(joined.shape(name)) for name, array in arrays.items()})


def _work(chains: Sequence[Sequence[Segment]], phase: Phase) -> int:
    return sum(int(each.end_state[WORK]) for chain in chains for each in chain if each.phase == phase)


def _tally(chain: int, segments: Sequence[Segment]) -> Tally | None:
    """What a chain has met; None for one that has made no segment."""
    return Tally.stored(chain, segments[-1].end_state) if segments else None


def _counts(chains: Sequence[Sequence[Segment]]) -> dict[str, dict[str, np.ndarray]]:
    """How many draws ended badly, by kind and phase, shape `(chain,)`."""
    tallies = [_tally(0, segments) for segments in chains]
    none = np.zeros((len(PHASES), len(KINDS)), np.int64)
    counts = np.stack([none if tally is None else tally.counts for tally in tallies])
    return {
        kind: {phase: counts[:, row, column] for row, phase in enumerate(PHASES)}
        for column, kind in enumerate(KINDS)
    }


def _tuning(segments: Sequence[Sequence[Segment]], dim: int) -> dict[str, np.ndarray]:
    """Step size and diagonal of the inverse mass matrix, by chain; NaN for a chain that has made no segment."""
    step_size, inverse_mass = np.full(len(segments), np.nan), np.full((len(segments), dim), np.nan)
    is_dense = np.zeros(len(segments), bool)
    for row, each in enumerate(segments):
        if not each:
            continue
        state = each[-1].end_state
        step_size[row] = state[STEP_SIZE]
        factor, stretch, scale = state[FACTOR], state[STRETCH], state[SCALE]
        inverse_mass[row] = scale**2 * (1 + (factor**2) @ ((1 + stretch) ** 2 - 1))
        is_dense[row] = not state[IS_DIAGONAL]
    return {"step_size": step_size, "inverse_mass": inverse_mass, "is_dense": is_dense}
