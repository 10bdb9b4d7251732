"""Hold draws from a fitted guide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.by_site import BySite
from ..core.kept import Kept
from ..core.options import checks_options
from ..core.position import Position
from ..core.series import AbstractSeries
from ..core.tracebacks import entry_points
from ..density import LogDensity

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.beside import AbstractBeside
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
