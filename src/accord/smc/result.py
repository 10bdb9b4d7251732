"""Hold the draws of populations, their weights, and the evidence."""

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
from ..report.words import count_of
from ..resampling import Systematic
from ..storage import AbstractRun
from ..vi.draws import GuideDraws
from .estimate import log_evidence_of
from .stored import Ended
from .weighted import AbstractWeightedDraws

_FIRST = 0  # of the chain's key: the random numbers of the pool are those of no stage


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class SMCDraws(AbstractWeightedDraws):
    """Result of `infer.smc`: a mapping from site name to draws, shape `(1, draw, *site)`, and the evidence.

    Populations count by their estimates of the evidence. The draws, `drawn`, are particles of all populations,
    resampled by these weights, so that they have equal weights: all that takes draws of a run by site takes them too,
    such as `infer.predict`, `infer.loo` and ArviZ. Chains may begin at them: `infer.sample(model, init=draws)`.

    **Fields**
    - `drawn`: as many draws as there are particles. Some are equal where populations differ in weight.
    - `particles`: by site, particles of each population, shape `(population, particle, *site)`, and `log_weights` of
      these, shape `(population, particle)`, which sum to 1: they are equal within a population.
    - `log_evidence`: an `infer.LogEvidence`, its value with a standard error.
    - `effective_populations`: how many populations of equal weight these are worth.
    - `stages`: by number of the population, arrays by name, with a row for each stage, the first for draws from the
      prior: `power` of the likelihood; `ess`, how many particles of equal weight those of the stage before were worth
      at this power; `log_ratio`, what the stage adds to the log evidence, and its `variance`; `acceptance` and
      `step_size` of the moves; `ancestors`, different ones of the particles; `non_finite` likelihoods; `correlation`,
      by coordinate, of where chains began with where they ended.
    - `complete`: whether all populations came to the posterior; others are left out.
    - `notices`: what to know before using the draws. `timings`: seconds of `compile`, the phases, and `total`.
    - `location`: the folder, or None. `problems`: damaged or missing files there.

    **Example**

    >>> draws = infer.smc(eight_schools(sigma, y), quiet=True)
    >>> draws
    <SMCDraws of eight_schools: 4 populations x 1000 particles; log evidence -31.3 ± 0.0>
    >>> draws["theta"].shape, draws.particles["theta"].shape
    ((1, 4000, 8), (4, 1000, 8))
    """

    drawn: GuideDraws
    particles: Mapping[str, np.ndarray]
    log_weights: np.ndarray
    log_evidence: LogEvidence
    effective_populations: float
    stages: Mapping[int, Mapping[str, np.ndarray]]
    complete: bool
    location: str | None
    problems: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(run: AbstractRun, ended: Sequence[Ended]) -> "SMCDraws":
        """Put together the populations of a run."""
        manifest = run.manifest
        layout: Any = manifest["layout"]
        done = [each for each in ended if each.positions is not None]
        shares, chosen = _pooled(done, manifest["seed"], manifest["draws"])
        particles = {
            name: kept(np.stack([each.sites[name] for each in done]))
            for name in (done[0].sites if done else ())
        }
        positions = [each.positions for each in done if each.positions is not None]
        flat = np.concatenate(positions) if positions else np.zeros((0, layout["dim"]))
        with np.errstate(divide="ignore"):
            log_weights = np.log(shares / manifest["draws"])[:, None] + np.zeros(manifest["draws"])
        drawn = GuideDraws(
            InMemory(
                {name: rows.reshape(-1, *rows.shape[2:])[chosen][None] for name, rows in particles.items()}
            ),
            kept(flat[chosen]),
            {site["name"]: tuple(site["dims"]) for site in layout["sites"]},
            {dim: read_written(labels) for dim, labels in layout["coords"].items()},
            manifest,
        )
        return SMCDraws(
            drawn,
            particles,
            kept(log_weights),
            log_evidence_of(done),
            float(1 / np.sum(shares**2)) if done else 0.0,
            {each.number: each.stages for each in ended},
            bool(ended) and len(done) == len(manifest["chains"]),
            run.location,
            tuple(run.problems),
        )

    def __repr__(self) -> str:
        count, size = self.log_weights.shape
        found = self.log_evidence
        told = f"; log evidence {found.value:.1f} ± {found.standard_error:.1f}" if count else ""
        what = f"{count_of(count, 'population')} x {size} particles"
        return f"<SMCDraws of {self.model}: {what}{told}{'' if self.complete else ', incomplete'}>"

    def __str__(self) -> str:
        return "\n".join([repr(self)[1:-1], *map(str, self.notices)])


def _pooled(done: Sequence[Ended], seed: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each population in the weight, and the particles that are chosen by it among all."""
    if not done:
        return np.zeros(0), np.zeros(0, int)
    logs = np.array([each.log_evidence for each in done])
    shares = np.exp(logs - logs.max())
    shares = shares / shares.sum()
    count = len(done) * size
    generator = keys.generator(keys.chain_key(seed, _FIRST), keys.USE_RESAMPLE, 0)
    return shares, Systematic().ancestors(np.repeat(shares, size), count, generator)
