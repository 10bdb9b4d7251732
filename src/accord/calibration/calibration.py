"""Hold the ranks of true values among draws, and their tests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import AccordError
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..report.document.base import DOUBT
from ..report.labels import read_written, scalar_labels
from ..report.sketch import BLOCKS, terminal_ramp
from ..report.table import lay_out, to_dataframe
from ..runs.units import News
from ..storage import Manifest
from .ranked import LP, bars, columns_of, latents
from .uniformity import Uniformity, holm, shape_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.figures.picture import Picture

_ROWS = 60  # printed


@dataclass(frozen=True)
class Trial(News):
    """One simulation and its run.

    **Fields**: `number`; `seed`, which makes it again; `notices` of the run; `ranks` and `effective` draws, by site;
    empty where there were not all draws. `error`, what the run raised. `num_divergent`, trajectories.
    """

    number: int
    seed: int
    notices: tuple[Notice, ...]
    ranks: dict[str, np.ndarray]
    effective: dict[str, np.ndarray]
    error: AccordError | None = None
    num_divergent: int = 0


@entry_points
@dataclass(frozen=True, eq=False)
class Calibration:
    """Result of `infer.calibrate`. Prints a table with one row per parameter.

    **Fields**
    - `model`: its name.
    - `ranks`: by latent site, and of the log density under `"lp"`: number of draws below the truth, shape
      `(simulation, *site)`, in 0 to `num_ranks - 1`.
    - `num_ranks`: number of possible ranks: one more than the draws.
    - `simulations`: the number of each ranked simulation; `requested`: how many you asked for.
    - `seeds`: seed of each simulation, also of unranked ones: `infer.simulate_and_recover(model, seed=seed)` makes it
      again, given the same sampler, `warmup` and `precision`.
    - `thinning`: draws per kept draw.
    - `labels`: label of each parameter, such as `theta[2]`; length k.
    - `values`: column name to array of shape `(k,)`: `mean_rank`, in (0, 1) and 0.5 if uniform; `p`, of the test that
      ranks are uniform; `p_adjusted`, by Holm's method for the number of scalars.
    - `shapes`: for each parameter, `"uniform"`, or the fault of its draws: `"too wide"`, `"too narrow"`, `"too high"`,
      `"too low"`.
    - `notices`: warnings about the result, most severe first.
    - `manifest`: description of the run. `location`: its folder, or None in memory. `problems`: sentences about damaged
      files, whose simulations are missing here.

    **Example**

    >>> report = infer.calibrate(coin(4, heads), simulations=20, draws=20, warmup=100, thinning=5, quiet=True)
    >>> report.ok, list(report.to_dataframe().index)
    (True, ['p', 'lp'])
    """

    model: str
    ranks: dict[str, np.ndarray]
    num_ranks: int
    simulations: tuple[int, ...]
    requested: int
    seeds: dict[int, int]
    thinning: int
    labels: tuple[str, ...]
    values: dict[str, np.ndarray]
    shapes: tuple[str, ...]
    manifest: Manifest
    location: str | None = None
    problems: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @staticmethod
    def of(
        manifest: Manifest, trials: Sequence[Trial], location: str | None = None, problems: Sequence[str] = ()
    ) -> "Calibration":
        """Put the simulations of a run together and test each scalar. `location` and `problems`, of its store."""
        done = [trial for trial in trials if trial.ranks]
        known = latents(manifest)
        dims = {name: axes for name, _, axes in known}
        sites = {name: shape for name, shape, _ in known} | {LP: ()}
        coords = {name: read_written(labels) for name, labels in manifest["layout"]["coords"].items()}
        num_ranks = manifest["draws"] + 1
        ranks = {
            name: np.array([trial.ranks[name] for trial in done], int).reshape(len(done), *shape)
            for name, shape in sites.items()
        }
        labels = [
            label
            for name, shape in sites.items()
            for label in scalar_labels(name, shape, dims.get(name, ()), coords)
        ]
        rows = columns_of(ranks).T
        if done:
            p = np.array([Uniformity(len(done), num_ranks).p_value(row) for row in rows])
        else:
            p = np.ones(len(rows))
        values = {
            "mean_rank": (rows + 0.5).mean(axis=1) / num_ranks if done else np.full(len(rows), np.nan),
            "p": p,
            "p_adjusted": holm(p),
        }
        shapes = tuple(
            shape_of(row, num_ranks) if adjusted < DOUBT else "uniform"
            for row, adjusted in zip(rows, values["p_adjusted"], strict=True)
        )
        return Calibration(
            manifest["model"],
            ranks,
            num_ranks,
            tuple(trial.number for trial in done),
            len(manifest.chains),
            {trial.number: trial.seed for trial in trials},
            manifest["thinning"],
            tuple(labels),
            values,
            shapes,
            manifest=manifest,
            location=location,
            problems=tuple(problems),
        )

    def with_notices(self, notices: Sequence[Notice]) -> "Calibration":
        """Return the calibration with its notices."""
        return replace(self, notices=tuple(notices))

    @property
    def ok(self) -> bool:
        """Return whether every simulation succeeded, and the ranks of every parameter are uniform."""
        return all(notice.severity == "info" for notice in self.notices)

    @property
    def complete(self) -> bool:
        """Return whether all simulations have run; those that failed too."""
        return len(self.seeds) == self.requested

    def __len__(self) -> int:
        return len(self.labels)

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.labels, {**self.values, "shape": np.array(self.shapes)})

    @checks_options
    def plot(
        self, kind: str = "rank_ecdf", sites: str | Sequence[str] | None = None, *, most: int | None = None
    ) -> "Picture":
        """Draw the ranks, for a notebook or a file; needs no other library.

        **Arguments**
        - `kind`: `"rank_ecdf"`, for each parameter the distribution function of its ranks less that of uniform ones,
          with the band that holds uniform ranks with a chance of 95%; `"rank"`, their histogram, with a band for all
          bars together; `"overview"`, the lines of all parameters in one panel.
        - `sites`: names of sites, or patterns such as `"theta*"`; `"lp"` is the log density; None is all.
        - `most`: number of panels, 6 by default. Of more parameters, those with the smallest p are shown.

        **Raises** `OptionError` for an unknown kind or site, for `sites` or `most` of an overview, and where no
        simulation has ranks.

        **Example**

        >>> report = infer.calibrate(coin(4, heads), simulations=20, draws=20, warmup=100, thinning=5, quiet=True)
        >>> report.plot("rank", "p")
        <Picture 'rank': 1 panel>
        """
        from .reported import plot

        return plot(self, kind, sites, most)

    @checks_options
    def report(self, path: str | Path) -> None:
        """Write a report of the calibration: one HTML page that fetches nothing, or Markdown.

        The page shows how it was made, its verdict and notices, a table of the tests, and the ranks of the parameters
        that are farthest from uniform. The same calibration gives the same bytes.

        **Arguments**: `path`, a name in `.html` or `.md`; a file of that name is replaced.

        **Raises** `OptionError` for another name, and a folder that does not exist.

        **Example**

        >>> report = infer.calibrate(coin(4, heads), simulations=20, draws=20, warmup=100, thinning=5, quiet=True)
        >>> report.report("calibration.html")
        """
        from ..report.document.write import write
        from .reported import document

        write(document(self), path)

    def text(self, ramp: str = BLOCKS) -> str:
        """The table as plain text; `ramp` draws the sketches, a histogram of the ranks from lowest to highest."""
        head = ["", "mean rank", "p", "p adjusted", "ranks", "verdict"]
        rows = [
            [
                label,
                f"{self.values['mean_rank'][i]:.3f}",
                f"{self.values['p'][i]:.2g}",
                f"{self.values['p_adjusted'][i]:.2g}",
                bars(column, self.num_ranks, ramp),
                "uniform" if self.shapes[i] == "uniform" else f"draws {self.shapes[i]}",
            ]
            for i, (label, column) in enumerate(zip(self.labels, columns_of(self.ranks).T, strict=True))
        ]
        title = (
            f"{self.model}: ranks of the truth among {self.num_ranks - 1} draws in {len(self.simulations)} of "
            f"{self.requested} simulations"
        )
        return "\n".join([title, lay_out(head, rows, _ROWS), *map(str, self.notices)])

    def __str__(self) -> str:
        return self.text(terminal_ramp())

    __repr__ = __str__
