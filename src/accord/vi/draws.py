"""Hold draws from a fitted guide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.by_site import BySite
from ..core.kept import Kept
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.position import Position
from ..core.series import AbstractSeries
from ..core.tracebacks import entry_points
from ..density import LogDensity

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.beside import AbstractBeside
    from ..report.figures.picture import Picture
    from ..report.summary import Summary


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class GuideDraws(BySite):
    """Independent draws from a fitted guide: a mapping from site name to an array of shape `(1, draw, *site)`.

    They are draws from the guide, not from the posterior: `fit.pareto_k` says how far these are apart. All that takes
    draws of a run by site takes them too: `infer.predict`, `infer.log_likelihood`, ArviZ.

    **Fields**
    - `sites`: latent and deterministic sites in the model's order.
    - `positions`: shape `(draw, dim)`, unconstrained; a `Position` of rows where the guide draws discrete sites.
    - `dims`, `coords`: names of the dimensions of each site, and labels along them.
    - `manifest`: the record of the fit. `chains`: one, with the number 0.
    - `density`: the log density of the posterior; None in draws that were pickled.
    - `notices`, `pareto_k`: those of the fit, which say how near the guide is to the posterior of the data of the fit.
    - `seed`: that of the draws, None if it is not known. `is_of_fit`: whether they are for the data of the fit, and not
      for new ones.

    **Example**

    >>> drawn = infer.fit(coin(4, heads), quiet=True).draw(500)
    >>> drawn["p"].shape
    (1, 500)
    """

    sites: AbstractSeries
    positions: np.ndarray | Position
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, np.ndarray]
    manifest: Mapping[str, Any]
    density: LogDensity | None = None
    chains: tuple[int, ...] = (0,)
    notices: tuple[Notice, ...] = ()
    pareto_k: float = float("nan")
    seed: int | None = None
    is_of_fit: bool = True
    kept: Kept = field(default_factory=Kept, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "density": None}

    def __copy__(self) -> "GuideDraws":
        return replace(self)

    @property
    def num_draws(self) -> int:
        """Number of draws."""
        return len(self.positions.free if isinstance(self.positions, Position) else self.positions)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(self.sites.shape(name)[2:]) or ''}" for name in self.sites)
        described = self.manifest["sampler"]["guide"]
        guide = described.get("function", described["name"])
        return f"<Draws from a {guide} of {self.manifest['model']}: {self.num_draws} draws; {shapes}>"

    @checks_options
    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each parameter under the guide: mean, sd and interval. Arguments as of `Draws.summary`.

        **Raises** `OptionError` for an unknown site, a pattern that matches none, or an invalid option.
        """
        from ..report.selecting import columns_of, picked_names
        from ..report.summary import summarise

        columns_of(prob, "stats", interval)  # raises for invalid options
        names = tuple(picked_names(sites, self.sites))
        return self.kept.get(
            ("summary", names, float(prob), interval),
            lambda: summarise(
                self.sites,
                dims=self.dims,
                coords=self.coords,
                only=names,
                prob=prob,
                kind="stats",
                interval=interval,
            ),
        )

    @checks_options
    def plot(
        self, kind: str = "density", sites: str | Sequence[str] | None = None, *, most: int | None = None
    ) -> "Picture":
        """Draw a figure, for a notebook or a file; needs no other library.

        **Arguments**
        - `kind`: `"density"`, the distribution of each parameter; `"forest"`, intervals; `"pair"`, pairs that depend
          most on each other.
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `most`: number of panels, 6 by default; of `"forest"` the number of rows, 40 by default. Of more parameters,
          the first are shown.

        **Raises** `OptionError` for an unknown kind or site.

        **Example**

        >>> infer.fit(coin(4, heads), quiet=True).draw(500).plot("forest")
        <Picture 'forest': 1 panel>
        """
        from ..report.plots_of_draws import Independent, plot

        return plot(Independent(self.sites, self.dims, self.coords, "drawn"), {}, kind, sites, most)

    @checks_options
    def report(self, path: str | Path, *beside: "AbstractBeside") -> None:
        """Write a report of the draws: one HTML page that fetches nothing, or Markdown.

        The page shows how they were made, the notices of the fit, a table of the unknowns, intervals, distributions and
        pairs. The same draws give the same bytes.

        **Arguments**
        - `path`: file to write, in `.html` or `.md`; a file of that name is replaced.
        - `beside`: results computed from these draws or from the prior, as for `Draws.report`.

        **Raises** `OptionError` for another name, a folder that does not exist, and results of other draws.

        **Example**

        >>> drawn = infer.fit(coin(4, heads), quiet=True).draw(500)
        >>> drawn.report("drawn.html", infer.predict(drawn, quiet=True))
        """
        from ..report.document.write import write
        from .reported import document_of_draws

        write(document_of_draws(self, beside), path)

    @checks_options
    def to_dataframe(self, sites: str | Sequence[str] | None = None) -> "DataFrame":
        """Return draws as a wide pandas data frame: one row per draw, one column per parameter.

        **Arguments**: `sites`, names of sites, or patterns such as `"theta*"`; None is all.

        **Raises** `ImportError` without pandas; `OptionError` for an unknown site.
        """
        from ..report.frame import wide_frame
        from ..report.selecting import picked_names

        return wide_frame(
            self.sites,
            picked_names(sites, self.sites),
            chains=self.chains,
            num_draws=self.num_draws,
            dims=self.dims,
            coords=self.coords,
        )

    def to_arviz(self, *beside: "AbstractBeside") -> Any:
        """Convert to ArviZ's `DataTree`, with named dimensions and what was computed from these draws, `beside`.

        **Raises** `OptionError` for a result without groups, for a group that exists already, or for other draws.
        """
        from ..report.arviz import to_arviz, to_tree
        from ..report.beside import groups_beside

        tree = to_tree(
            self.sites,
            {},
            chains=self.chains,
            dims=self.dims,
            coords=self.coords,
            attrs={
                name: self.manifest[name] for name in ("model", "sampler", "seed", "precision", "versions")
            },
            beside=groups_beside(beside, self.chains, self.num_draws),
        )
        return to_arviz(tree)
