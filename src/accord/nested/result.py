"""Hold the points of nested sampling, their weights, and the evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import keys
from ..core.notice import Notice
from ..core.series import InMemory
from ..core.tracebacks import entry_points
from ..core.tree import kept
from ..report.labels import read_written
from ..report.log_evidence import LogEvidence
from ..report.weights import effective_size
from ..resampling import Systematic
from ..smc.weighted import AbstractWeightedDraws
from ..storage import AbstractRun
from ..vi.draws import GuideDraws
from .estimate import estimated
from .stored import Ended

_FIRST = 0  # of the key: the random numbers of the pool are those of no batch


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class NestedDraws(AbstractWeightedDraws):
    """Draws of `infer.NestedSampling`: a mapping from site name to draws, shape `(1, draw, *site)`, and the evidence.

    All points of all runs have a weight, by their likelihood and the volume of the prior that they stand for. The
    draws, `drawn`, are points resampled by weight, as many as the weights are worth, so that they have equal weights:
    all that takes draws of a run by site takes them too, such as `infer.predict` and ArviZ. Chains may begin at them:
    `infer.sample(model, init=draws)`.

    **Fields**
    - `drawn`: draws of equal weight; few of them are equal.
    - `points`: by site, points of all runs by rising likelihood, shape `(point, *site)`; of these, shape `(point,)`:
      `log_likelihood`, `log_weights`, which sum to 1, and `run`, the number of each one's run.
    - `log_evidence`: an `infer.LogEvidence`: its value with a standard error, and the information.
    - `by_run`: the evidence of each run alone, by its number.
    - `rounds`: by number of the run, arrays by name, with a row for each round, the first for draws from the prior:
      `log_volume` of the prior that is left, as expected; `log_evidence` of the points that were replaced; `left`, by
      how much the live points would raise it; `evaluations` of the density; `stayed`, moves that found no place;
      `non_finite` likelihoods.
    - `complete`: whether all runs came to their end; others are left out.
    - `notices`: what to know before using the draws. `timings`: seconds of `compile`, the phases, and `total`.
    - `location`: the folder, or None. `problems`: damaged or missing files there.

    **Example**

    >>> found = infer.evidence(eight_schools(sigma, y), infer.NestedSampling(quiet=True))
    >>> found.draws["theta"].shape[2:]
    (8,)
    >>> len(found.draws.by_run)
    2
    """

    drawn: GuideDraws
    points: Mapping[str, np.ndarray]
    log_likelihood: np.ndarray
    log_weights: np.ndarray
    run: np.ndarray
    log_evidence: LogEvidence
    by_run: Mapping[int, LogEvidence]
    rounds: Mapping[int, Mapping[str, np.ndarray]]
    complete: bool
    location: str | None
    problems: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(run: AbstractRun, ended: Sequence[Ended]) -> "NestedDraws":
        """Put together what is stored."""
        manifest = run.manifest
        layout: Any = manifest["layout"]
        done = [each for each in ended if each.is_complete]
        found = estimated(done, manifest["draws"], manifest["settings"]["batch"])
        # From points run after run to points by likelihood.
        starts = np.cumsum([0, *(len(each.tie) for each in done if each.tie is not None)])
        order = starts[found.threads.run] + found.threads.place
        names = list(done[0].sites or ()) if done else []
        points = {
            name: kept(np.concatenate([each.sites[name] for each in done if each.sites is not None])[order])
            for name in names
        }
        positions = [each.positions for each in done if each.positions is not None]
        flat = np.concatenate(positions)[order] if positions else np.zeros((0, layout["dim"]))
        chosen = _chosen(found.log_weights, manifest["seed"])
        drawn = GuideDraws(
            InMemory({name: rows[chosen][None] for name, rows in points.items()}),
            kept(flat[chosen]),
            {site["name"]: tuple(site["dims"]) for site in layout["sites"]},
            {dim: read_written(labels) for dim, labels in layout["coords"].items()},
            manifest,
        )
        numbers = np.array([each.number for each in done], np.int64)
        return NestedDraws(
            drawn,
            points,
            kept(found.threads.log_likelihood),
            kept(found.log_weights),
            kept(numbers[found.threads.run]),
            found.log_evidence,
            dict(zip(numbers.tolist(), found.by_run, strict=True)),
            {each.number: each.rounds for each in ended},
            bool(ended) and len(done) == len(manifest["chains"]),
            run.location,
            tuple(run.problems),
        )

    def __repr__(self) -> str:
        count, found = len(self.by_run), self.log_evidence
        told = f"; log evidence {found.value:.1f} ± {found.standard_error:.1f}" if count else ""
        what = (
            f"{count} run{'' if count == 1 else 's'}, {len(self.log_weights)} points, {self.num_draws} draws"
        )
        return f"<NestedDraws of {self.model}: {what}{told}{'' if self.complete else ', incomplete'}>"

    def __str__(self) -> str:
        return "\n".join([repr(self)[1:-1], *map(str, self.notices)])


def _chosen(log_weights: np.ndarray, seed: int) -> np.ndarray:
    """Return places of points, resampled by weight; as many as the weights are worth."""
    count = int(effective_size(log_weights))
    if not count:
        return np.zeros(0, np.int64)
    generator = keys.generator(keys.chain_key(seed, _FIRST), keys.USE_RESAMPLE, 2**31)  # beyond all batches
    return Systematic().ancestors(np.exp(log_weights), count, generator)
