"""Write the simulations of a calibration into a store, and read them back.

A simulation is a unit of the run, with one row: the ranks. What else is known of it, in words, is JSON in the state at
the end of its segment, so that the digest of the segment covers it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.errors import AccordError, StorageError, WorkerError
from ..density import LogDensity
from ..guides.base import AbstractGuide
from ..mcmc.prepare import DEFAULT_WARMUP, MAX_WARMUP
from ..runs.fingerprint import NUM_POINTS, STORED
from ..runs.stored import describe as runs
from ..runs.stored.checked import built_from
from ..runs.stored.ending import LOST
from ..runs.stored.notices import notice_of, notice_records
from ..storage import AbstractRun, Manifest, Segment, to_json
from ..storage.forms import check_record
from .calibration import Calibration, Trial
from .findings import findings
from .kinds import described
from .ranked import LP, latents
from .simulations import Simulating, simulation_seed

KIND = "calibration"
"""Name of this method in a manifest."""

_PHASE = "simulation"
_RANK, _EFFECTIVE = "rank/", "effective/"  # of a site
_WORDS, _DIVERGENT = "words", "num_divergent"  # in the state after a simulation


def describe(density: LogDensity, method: Simulating, shard: Mapping[str, int], count: int) -> Manifest:
    """Build the manifest of a calibration by `count` simulations.

    `density`: given data that are zero; `shard`, the arguments whose rows are split, with the axis of the rows.
    """
    warmup = method.options["warmup"]
    return runs.describe(
        density,
        KIND,
        method.precision,
        shard,
        {"max_warmup": MAX_WARMUP} if warmup is None else {},
        {
            "phases": [_PHASE],
            "sampler": described(method.sampler)
            if isinstance(method.sampler, AbstractGuide)
            else method.sampler.described(),
            "seed": method.seed,
            "lanes": 1,
            "chains": list(range(count)),
            "draws": method.options["draws"],
            "warmup": DEFAULT_WARMUP if warmup is None else warmup,
            "thinning": method.options["thinning"],
        },
    )


def options_of(manifest: Manifest) -> dict[str, Any]:
    """Return the options of the chain of each simulation, as `Simulating` has them."""
    is_default = "max_warmup" in manifest.get("settings", {})
    return {
        "draws": manifest["draws"],
        "warmup": None if is_default else manifest["warmup"],
        "thinning": manifest["thinning"],
    }


def segment_of(trial: Trial, fingerprint: np.ndarray) -> Segment:
    """Return a simulation as a store keeps it, with the fingerprint of the model."""
    words = {
        "notices": notice_records(trial.notices),
        "error": None if trial.error is None else [type(trial.error).__name__, str(trial.error)],
    }
    ranks = {f"{_RANK}{name}": np.asarray(value)[None] for name, value in trial.ranks.items()}
    effective = {f"{_EFFECTIVE}{name}": np.asarray(value)[None] for name, value in trial.effective.items()}
    state = {
        _WORDS: np.frombuffer(to_json(words).encode(), np.uint8),
        _DIVERGENT: np.asarray(trial.num_divergent),
        STORED: fingerprint,
    }
    return Segment(trial.number, _PHASE, 0, 1, ranks | effective, state)


def stored_trials(run: AbstractRun) -> list[Trial]:
    """Return the simulations of a run that are stored and whole, in order.

    **Raises** `StorageError` for what no calibration wrote.
    """
    manifest = run.manifest
    lacking = {"layout", "particulars", "settings"} - set(manifest)
    if lacking or manifest.phases != [_PHASE] or "shard" not in manifest["settings"]:
        raise StorageError("manifest.json is not of a calibration that this version of accord wrote.")
    sites = {name: shape for name, shape, _ in latents(manifest)} | {LP: ()}
    most, seed = manifest["draws"], manifest["seed"]
    lasts = ((number, run.last(number)) for number in manifest.chains)
    return [_trial(last, simulation_seed(seed, number), sites, most) for number, last in lasts if last]


def lost_trials(run: AbstractRun) -> list[Trial]:
    """Return the simulations whose workers were lost when the run last ended: `infer.resume` runs them again."""
    records: Any = run.records.get(LOST) or []
    seed = run.manifest["seed"]
    there = set(run.manifest.chains)
    found = {number: record["error"] for record in records for number in record["chains"] if number in there}
    return [Trial(n, simulation_seed(seed, n), (), {}, {}, WorkerError(text)) for n, text in found.items()]


def record_lost(run: AbstractRun, trials: Sequence[Trial]) -> None:
    """Record the simulations whose workers were lost, in place of earlier ones."""
    lost = [{"chains": [each.number], "draw": 0, "error": str(each.error)} for each in trials]
    if lost or run.records.get(LOST):
        run.record(LOST, lost)


def read(run: AbstractRun) -> Calibration:
    """Read the calibration of a stored run, finished or not."""
    stored = stored_trials(run)
    known = {each.number for each in stored}
    lost = [each for each in lost_trials(run) if each.number not in known]
    return result(run, [*stored, *lost])


def result(run: AbstractRun, trials: Sequence[Trial]) -> Calibration:
    """Put simulations together, in any order, and judge them."""
    trials = sorted(trials, key=lambda trial: trial.number)
    found = Calibration.of(run.manifest, trials, run.location, run.problems)
    return found.with_notices(findings(found, trials))


def _trial(segment: Segment, seed: int, sites: Mapping[str, tuple[int, ...]], most: int) -> Trial:
    """Return the simulation of a segment."""
    where = f"simulation {segment.chain}"
    with built_from(f"{where} of the run"):
        arrays = dict(segment.arrays)
        ranks = {name: _row(arrays, f"{_RANK}{name}", "iu", shape) for name, shape in sites.items() if arrays}
        sizes = {name: (int(np.prod(shape, dtype=int)),) for name, shape in sites.items() if arrays}
        effective = {name: _row(arrays, f"{_EFFECTIVE}{name}", "f", size) for name, size in sizes.items()}
        if any(np.any((value < 0) | (value > most)) for value in ranks.values()):
            raise StorageError(f"{where} has ranks outside of 0 to {most}: accord did not write this.")
        fingerprint = segment.end_state[STORED]
        if fingerprint.dtype.kind != "f" or fingerprint.shape != (NUM_POINTS, 2):
            raise ValueError(f"{STORED!r} has shape {fingerprint.shape} and dtype {fingerprint.dtype}")
        words = json.loads(bytes(np.asarray(segment.end_state[_WORDS], np.uint8)))
        check_record("notices", words["notices"], f"{where}, notices")
        return Trial(
            segment.chain,
            seed,
            tuple(map(notice_of, words["notices"])),
            ranks,
            effective,
            None if words["error"] is None else _error(*words["error"]),
            int(segment.end_state[_DIVERGENT]),
        )


def _row(arrays: Mapping[str, np.ndarray], name: str, kinds: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the only row of an array. **Raises** `ValueError` for one of another kind or shape."""
    found = arrays[name]
    if found.dtype.kind not in kinds or found.shape != (1, *shape):
        raise ValueError(f"{name!r} has shape {found.shape} and dtype {found.dtype}")
    return found[0]


def _error(kind: str, text: str) -> AccordError:
    """Build an error of accord again; nothing else is ever built from a file."""
    known = getattr(errors, kind, AccordError)
    if isinstance(known, type) and issubclass(known, AccordError):
        return known(text)
    return AccordError(text)
