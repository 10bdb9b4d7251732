"""Hold the draws that paths have led to, and how good they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import keys
from ...core.by_site import BySite
from ...core.errors import OptionError
from ...core.notice import Notice
from ...core.options import checks_options
from ...core.series import AbstractSeries, InMemory
from ...core.tracebacks import entry_points
from ...core.tree import kept
from ...density import LogDensity
from ...executors.pools import one_blas_thread
from ...mcmc.start.earlier import check_shown
from ...optimise.approximation import AbstractApproximation
from ...report.labels import read_written
from ...storage import AbstractRun
from ..draws import GuideDraws
from ..tail import DOUBTFUL
from .normal import Normal
from .pooled import Pool
from .stored import Ended

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...report.beside import AbstractBeside
    from ...report.figures.picture import Picture
    from ...report.summary import Summary


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Paths(AbstractApproximation, BySite):
    """Result of `infer.pathfinder`: a mapping from site name to draws, shape `(1, draw, *site)`, and how good they are.

    All that takes draws of a run by site takes them too: `infer.predict`, `infer.log_likelihood`, ArviZ. Chains may
    begin at them: `infer.sample(model, init=paths)`.

    **Fields**
    - `drawn`: the draws, resampled among `candidates` by their smoothed weights. Some may be equal.
    - `candidates`: by site, draws from the normals of all paths, shape `(candidate, *site)`, path after path.
    - `log_weights`: shape `(candidate,)`: log joint density, Jacobian included, less that of the mixture of the
      normals. The mean of their exponentials estimates the evidence.
    - `pareto_k`: tail of these weights: below 0.5 good; above 0.7 do not trust the draws.
    - `effective_draws`: how many draws of the posterior the candidates are worth, weighted.
    - `bounds`: by number of the path, the evidence lower bound of its normal, by its candidates; `errors`, their
      standard errors. Paths that failed are not among them.
    - `normals`: by number of the path, the normal that it drew from, in unconstrained space: `normal.mean`.
    - `num_points`: by number of the path, how many points it has. `complete`: whether all paths came to their end.
    - `notices`: what to know before using the draws. `timings`: seconds of `compile`, the phases, and `total`.
    - `location`: the folder, or None. `problems`: damaged or missing files there.
    - `starting`: by number of the path, the candidates that a chain could begin at, by their place among all.

    **Example**

    >>> paths = infer.pathfinder(eight_schools(sigma, y), quiet=True)
    >>> paths["theta"].shape, len(paths.bounds)
    ((1, 1000, 8), 8)
    """

    drawn: GuideDraws
    candidates: Mapping[str, np.ndarray]
    log_weights: np.ndarray
    pareto_k: float
    effective_draws: float
    bounds: Mapping[int, float]
    errors: Mapping[int, float]
    normals: Mapping[int, Normal]
    num_points: Mapping[int, int]
    complete: bool
    location: str | None
    problems: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    starting: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @staticmethod
    def of(run: AbstractRun, ended: Sequence[Ended]) -> "tuple[Paths, Pool]":
        """Put together the paths of a run; return their pool too."""
        manifest = run.manifest
        layout: Any = manifest["layout"]
        num_draws: int = manifest["draws"]
        with one_blas_thread():
            pool = Pool.of(ended, manifest["seed"], num_draws)
        candidates = _joined([path.sites for path in pool.paths])
        positions = [path.positions for path in pool.paths] or [np.zeros((0, layout["dim"]))]
        drawn = GuideDraws(
            InMemory({name: values[pool.chosen][None] for name, values in candidates.items()}),
            kept(np.concatenate(positions)[pool.chosen]),
            {site["name"]: tuple(site["dims"]) for site in layout["sites"]},
            {dim: read_written(labels) for dim, labels in layout["coords"].items()},
            manifest,
        )
        numbers = [path.number for path in pool.paths]
        paths = Paths(
            drawn,
            candidates,
            kept(pool.log_weights),
            pool.pareto_k,
            pool.effective,
            pool.bounds,
            pool.errors,
            dict(zip(numbers, pool.normals, strict=True)),
            {each.number: each.trail.count for each in ended},
            bool(ended) and all(len(each.log_density) == num_draws for each in ended),
            run.location,
            tuple(run.problems),
            starting=_finite_rows(pool),
        )
        return paths, pool

    def judged(self, notices: Sequence[Notice], timings: Mapping[str, float]) -> "Paths":
        """Return it with its notices, which its draws have too, and the time that it took."""
        drawn = replace(self.drawn, notices=tuple(notices), pareto_k=self.pareto_k)
        return replace(self, drawn=drawn, notices=tuple(notices), timings=dict(timings))

    def attached(self, density: LogDensity) -> "Paths":
        """Return it with its model."""
        return replace(self, drawn=replace(self.drawn, density=density))

    @property
    def sites(self) -> AbstractSeries:
        """Draws by site, in the model's order."""
        return self.drawn.sites

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.drawn.manifest["model"]

    @property
    def num_draws(self) -> int:
        """Number of draws."""
        return self.drawn.num_draws

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The record of how the paths were made."""
        return self.drawn.manifest

    def __repr__(self) -> str:
        count = len(self.bounds)
        what = f"{count} path{'' if count == 1 else 's'}, {self.num_draws} draws"
        k = f"; Pareto k {self.pareto_k:.2g}" if self.bounds else ""
        return f"<Paths of {self.model}: {what}{k}{'' if self.complete else ', incomplete'}>"

    def __str__(self) -> str:
        return "\n".join([repr(self)[1:-1], *map(str, self.notices)])

    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each parameter: mean, sd and interval of the draws. Arguments and errors as of `Draws.summary`."""
        return self.drawn.summary(sites, prob=prob, interval=interval)

    @checks_options
    def plot(
        self, kind: str = "density", sites: str | Sequence[str] | None = None, *, most: int | None = None
    ) -> "Picture":
        """Draw a figure, for a notebook or a file; needs no other library.

        **Arguments**
        - `kind`: `"density"`, `"forest"` and `"pair"`, of the draws, as of `GuideDraws.plot`; `"weights"`, which share
          of the weight the heaviest candidates have; `"bounds"`, the evidence lower bound of each path.
        - `sites`, `most`: as of `GuideDraws.plot`.

        **Raises** `OptionError` for an unknown kind or site, for `sites` or `most` of weights and bounds, and where
        there are no draws.

        **Example**

        >>> infer.pathfinder(coin(4, heads), quiet=True).plot("weights")
        <Picture 'weights': 1 panel>
        """
        from .reported import plot

        return plot(self, kind, sites, most)

    @checks_options
    def report(self, path: str | Path, *beside: "AbstractBeside") -> None:
        """Write a report of the paths: one HTML page that fetches nothing, or Markdown.

        The page shows how they were made, their notices, how good the draws are, a table of the unknowns, weights,
        bounds by path, intervals, distributions and pairs. The same paths give the same bytes.

        **Arguments**
        - `path`: file to write, in `.html` or `.md`; a file of that name is replaced.
        - `beside`: results computed from these draws or from the prior, as for `Draws.report`.

        **Raises** `OptionError` for another name, a folder that does not exist, and results of other draws.

        **Example**

        >>> infer.pathfinder(coin(4, heads), quiet=True).report("paths.html")
        """
        from ...report.document.write import write
        from .reported import document

        write(document(self, beside), path)

    def to_dataframe(self, sites: str | Sequence[str] | None = None) -> "DataFrame":
        """Return draws as a wide pandas data frame; arguments and errors as of `Draws.to_dataframe`."""
        return self.drawn.to_dataframe(sites)

    def to_arviz(self, *beside: "AbstractBeside") -> Any:
        """Convert the draws to ArviZ's `DataTree`; arguments and errors as of `Draws.to_arviz`."""
        return self.drawn.to_arviz(*beside)

    def starts(self, chains: Sequence[int], seed: int) -> list[dict[str, np.ndarray]]:
        """See `AbstractApproximation.starts`: one draw for each chain.

        With a high Pareto k, few candidates have all the weight. So chains begin at candidates of the paths in turn,
        whatever these weigh.

        **Raises** `OptionError` where there are no draws.
        """
        numbers = [number for number, rows in self.starting.items() if rows]
        if not self.num_draws or not numbers:
            raise OptionError("init: these paths have no draws to begin at. See `paths.notices`.")
        latents = self._latents()
        starts = []
        for chain in chains:
            share = keys.generator(keys.chain_key(seed, chain), keys.USE_RESAMPLE, 1).random()
            if self.pareto_k < DOUBTFUL:
                row = int(share * self.num_draws)
                starts.append({name: self.drawn[name][0, row] for name in latents})
            else:
                rows = self.starting[numbers[chain % len(numbers)]]
                row = rows[int(share * len(rows))]
                starts.append({name: self.candidates[name][row] for name in latents})
        return starts

    def _latents(self) -> list[str]:
        sites: Any = self.manifest["layout"]["sites"]
        check_shown(sites)
        return [site["name"] for site in sites if site["kind"] == "latent"]


def _joined(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    if not parts:
        return {}
    return {name: kept(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def _finite_rows(pool: Pool) -> dict[int, tuple[int, ...]]:
    """Return by path which candidates a chain could begin at."""
    rows, first = {}, 0
    for path in pool.paths:
        rows[path.number] = tuple((first + np.flatnonzero(np.isfinite(path.log_density))).tolist())
        first += len(path.log_density)
    return rows
