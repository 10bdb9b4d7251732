"""Hold the draws of a run as NumPy arrays, with its diagnostics and its record."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.by_site import BySite
from ..core.errors import OptionError
from ..core.kept import Kept
from ..core.names import no_attribute
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.series import AbstractSeries, InMemory
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..runs.stopping.stopping import Stopping
from .columns import WHOLE
from .endings import BadEnd
from .limits import count_of_draws

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.beside import AbstractBeside
    from ..report.figures.picture import Picture
    from ..report.summary import Summary


_LONG = ("layout", "particulars")  # entries of a manifest that are not exported


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Draws(BySite):
    """Draws of a run: a mapping from site name to an array of shape `(chain, draw, *site)`.

    A run on disk of more than 256 MiB is read one site at a time, when you ask for the site. So a run may be larger
    than memory; its folder must stay where it is. Pickling writes all draws, without the model.

    **Fields**
    - `sites`: latent and deterministic sites in the model's order.
    - `stats`: per draw, shape `(chain, draw)`, by ArviZ's names: `lp` (log density in unconstrained space),
      `diverging`, `non_finite`; those of the sampler, `energy`, `n_steps` (gradients), `tree_depth` (of `NUTS`),
      `acceptance_rate`, `step_size`; and for a model `log_prior` and `log_likelihood`, in the model's space: the sum
      over unknowns, and the sum over observed sites and factors. Where discrete sites are summed up to a chosen value,
      `beyond.x` of each is the share of probability that is left out, by estimate. Where sites are integrated out
      approximately, `integral.log_weight` is the log weight of a draw by Laplace's approximation, up to a constant,
      and `integral.error` what the log density would change by with half of the nodes of a quadrature.
    - `notices`: diagnostics of the run, most severe first.
    - `timings`: seconds of `trace`, `compile`, `warmup`, `sampling` (of the slowest chain) and `total`; `looks`, spent
      on checks of a stopping rule.
    - `work`: gradient evaluations by phase, over all chains.
    - `tuning`: what warm-up learnt for each chain: `num_warmup`, draws of warm-up, and `is_settled`, whether they were
      enough; and what the sampler's adaptation shows, here that of accord's: `step_size`, shape `(chain,)`;
      `inverse_mass`, shape `(chain, dim)`, its diagonal in unconstrained space; `metric`, shape `(chain,)`, the last
      form of the metric (`"diagonal"`, `"low_rank"`, `"dense"` or `"marginal"`; `"initial"` if warm-up was too short),
      and `metric_reason`, why; `target_accept` of the step size; with `NUTS`, `trajectories`: how long, and why;
      with `ChEES`, the mean `trajectory_length` in whitened units.
    - `warmup`: unconstrained warm-up positions, shape `(chain, draw, dim)`, with `whole`, their whole numbers, if there
      are any; and their stats, if the run keeps them; cut to the chain with the shortest warm-up.
    - `complete`: whether all requested draws were made.
    - `chains`: the number of each chain.
    - `dims`, `coords`: names of the dimensions of each site, and labels along them.
    - `data`: the model's arguments, while the model is attached; `observed` maps each observed site to the argument
      that it observes, or to an empty string.
    - `manifest`: the record of how the run was made. `location`: its folder, or None. `problems`: damaged or missing
      files there. `lost_chains`: failed chains, which are left out, each with its draw and error. `requested`: draws
      per chain that you asked for.
    - `counts`: how many draws failed, by kind (`divergence`; `log_density` and `gradient` that were not finite)
      and phase (`warmup`, `sample`), before thinning; shape `(chain,)`.
    - `failures`: positions of the first failures, at most three for each kind and chain, without divergences of
      warm-up; with more than 16 lanes, of chains 0 to 15. `infer.explain` explains them.
    - `stopping`: result of the rule `until=`: `held`, whether it ended the run, and `looks`, the draws at which it was
      checked and what it found. None without a rule.
    - `density`: the log density of the posterior, while the model is attached.
    - `kept`: cache of computed summaries.

    **Example**

    >>> draws
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    >>> list(draws), draws["mu"].shape  # (chain, draw, *site)
    (['mu', 'tau', 'z', 'theta'], (2, 200))
    >>> draws.stats["diverging"].shape, draws.complete
    ((2, 200), True)
    >>> parts = draws.stats["log_prior"] + draws.stats["log_likelihood"]
    >>> np.allclose(parts, infer.log_joint(draws))
    True
    >>> draws.summary().to_dataframe().index.tolist()[:3]
    ['mu', 'tau', 'z[0]']
    >>> draws.extend(100)["mu"].shape
    (2, 300)
    >>> "log_likelihood" in draws.to_arviz(infer.log_likelihood(draws)).children
    True
    """

    sites: AbstractSeries
    stats: AbstractSeries
    notices: tuple[Notice, ...]
    timings: dict[str, float]
    work: dict[str, int]
    tuning: dict[str, np.ndarray]
    warmup: AbstractSeries
    complete: bool
    chains: tuple[int, ...]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, np.ndarray]
    data: dict[str, Any]
    observed: dict[str, str]
    manifest: Mapping[str, Any]
    location: str | None
    counts: dict[str, dict[str, np.ndarray]]
    failures: tuple[BadEnd, ...] = ()
    density: LogDensity | None = None
    problems: tuple[str, ...] = ()
    lost_chains: tuple[Mapping[str, Any], ...] = ()
    requested: int = 0
    stopping: Stopping | None = None
    continuation: Callable[[int], "Draws"] | None = None
    kept: Kept = field(default_factory=Kept, init=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("Draws", name)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all arrays, also those on disk, without the model, which pickle may not be able to find by name."""
        series = {name: InMemory(dict(getattr(self, name))) for name in ("sites", "stats", "warmup")}
        return {**vars(self), **series, "density": None, "continuation": None}

    def __copy__(self) -> "Draws":
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Draws":
        frozen = ("density", "continuation")
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        copied = {name: copy.deepcopy(value, memo) for name, value in own.items() if name not in frozen}
        return replace(self, **copied)

    @property
    def num_draws(self) -> int:
        """Number of kept draws per chain."""
        return self.stats.shape("lp")[1]

    @property
    def superchains(self) -> list[int] | None:
        """Superchain of each chain, if several chains share a starting point."""
        count: Any = self.manifest["sampler"].get("superchains")
        size = 0 if count is None else len(self.manifest["chains"]) // count
        return [chain // size for chain in self.chains] if size else None

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(self.sites.shape(name)[2:]) or ''}" for name in self.sites)
        state = "" if self.complete else ", incomplete"
        size = f"{len(self.chains)} chains x {self.num_draws} draws{state}"
        return f"<Draws of {self.manifest['model']}: {size}; {shapes}>"

    def _repr_html_(self) -> str:
        """Show notices and the first rows of the summary in a notebook."""
        from ..report.page import run_as_html

        return self.kept.get(
            "html",
            lambda: run_as_html(
                repr(self)[1:-1],
                self.sites,
                self.notices,
                dims=self.dims,
                coords=self.coords,
                superchains=self.superchains,
            ),
        )

    def extend(self, draws: int) -> "Draws":
        """Sample `draws` more per chain; the result equals that of one longer run.

        If the run has a rule `until=` that has not held yet, it may end the run earlier. Draws that its folder has
        already, by an earlier extension, are read and not made again.

        **Raises** `OptionError` if the model is not attached, as after `infer.load` or unpickling, if the folder has
        been extended further, and for more draws than a chain can make or than fit into memory.
        """
        count = count_of_draws("draws", draws)
        if self.continuation is None and self.location is None:
            raise OptionError(
                "these draws are a copy without their model, of a run in memory, which cannot be extended. Sample "
                "again with more draws, or use `store=infer.RunFolder(path)` and `infer.resume(path, model(...))`."
            )
        if self.continuation is None:
            raise OptionError(
                "these draws were loaded without their model. Attach it first: "
                f"infer.resume({self.location!r}, model(...)).extend({count})."
            )
        return self.continuation(self.requested + count)

    @checks_options
    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        kind: str = "all",
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each parameter: mean, sd, interval, effective sample sizes, R-hat and Monte Carlo errors.

        The result is kept with the draws, so that asking again costs nothing.

        **Arguments**
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `prob`: mass of the interval, in (0, 1).
        - `kind`: `"all"`; `"stats"`, mean, sd and interval; or `"diagnostics"`, the other columns.
        - `interval`: `"quantiles"` leaves out equal mass on both sides; its columns are the quantiles, such as `5%` and
          `95%`. `"hdi"` is the shortest interval, between `hdi90_low` and `hdi90_high`.

        **Raises** `OptionError` for an unknown site, a pattern that matches none, or an invalid option.

        **Example**

        >>> list(draws.summary("t*", kind="stats", prob=0.5, interval="hdi").values)
        ['mean', 'sd', 'hdi50_low', '50%', 'hdi50_high']
        >>> draws.summary(["mu", "tau"]).labels
        ('mu', 'tau')
        >>> draws.summary() is draws.summary()
        True
        """
        from ..report.selecting import columns_of, picked_names
        from ..report.summary import summarise

        columns_of(prob, kind, interval)  # raises for invalid options
        names = tuple(picked_names(sites, self.sites))
        return self.kept.get(
            ("summary", names, float(prob), kind, interval),
            lambda: summarise(
                self.sites,
                dims=self.dims,
                coords=self.coords,
                only=names,
                prob=prob,
                kind=kind,
                interval=interval,
                superchains=self.superchains,
            ),
        )

    @checks_options
    def to_dataframe(self, sites: str | Sequence[str] | None = None, *, stats: bool = False) -> "DataFrame":
        """Return draws as a wide pandas data frame: one row per chain and draw, one column per parameter.

        Rows are indexed by `chain` and `draw`; `.reset_index()` makes columns of them. Columns have the labels of the
        summary's rows, such as `theta[Choate]`. All selected draws are held in memory.

        **Arguments**
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `stats`: whether `draws.stats` are columns too.

        **Raises** `ImportError` without pandas; `OptionError` for an unknown site, or one with the name of a statistic.

        **Example**

        >>> frame = draws.to_dataframe(["mu", "z"])
        >>> frame.shape, list(frame.index.names), list(frame)[:2]
        ((400, 9), ['chain', 'draw'], ['mu', 'z[0]'])
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
            stats=self.stats if stats else None,
        )

    @checks_options
    def plot(
        self, kind: str = "trace", sites: str | Sequence[str] | None = None, *, most: int | None = None
    ) -> "Picture":
        """Draw a figure, for a notebook or a file; needs no other library.

        **Arguments**
        - `kind`: `"trace"`, `"rank"`, `"rank_ecdf"`, `"density"`, `"autocorrelation"`, `"ess"`, `"r_hat"`: one panel
          for each parameter; `"pair"`: pairs that depend most on each other, and on what tells divergent draws from
          others; `"forest"`: intervals; `"energy"`, `"step_size"`, `"tree_depth"`, of the sampler.
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `most`: number of panels, 6 by default; of `"forest"` the number of rows, 40 by default. Of more parameters,
          those with the highest R-hat or the fewest effective draws are shown.

        **Raises** `OptionError` for an unknown kind or site, for a statistic that the sampler does not have, and for
        `sites` or `most` of a figure of the sampler.

        **Example**

        >>> draws.plot("rank", "theta", most=4)
        <Picture 'rank': 4 panels>
        """
        from ..report.plots import plot
        from .reported import plotted

        return plot(plotted(self), kind, sites, most)

    @checks_options
    def report(self, path: str | Path, *beside: "AbstractBeside") -> None:
        """Write a report of the run: one HTML page that fetches nothing, or Markdown.

        The page shows how the run was made, its notices, the unknowns, and figures of the five that draws tell least
        of, of the sampler, and of pairs. It has at most 3 MB whatever the run. The same run gives the same bytes.

        **Arguments**
        - `path`: file to write, in `.html` or `.md`; a file of that name is replaced.
        - `beside`: results computed from these draws or from the prior, which add predictive checks, leave-one-out and
          priors: `draws.report("run.html", infer.predict(draws), infer.log_likelihood(draws))`.

        **Raises** `OptionError` for another name, a folder that does not exist, and results of other draws.

        **Example**

        >>> draws.report("run.html", infer.predict(draws))
        """
        from ..report.document.write import write
        from .reported import document

        write(document(self, beside), path)

    def to_arviz(self, *beside: "AbstractBeside") -> Any:
        """Convert the run to ArviZ's `DataTree` (`InferenceData` with ArviZ 0.x), with named dimensions.

        `draws.stats["log_likelihood"]`, one number per draw, is called `total_log_likelihood` in `sample_stats`,
        because ArviZ expects the log likelihood of each observation under the other name.

        - `beside`: results computed from these draws or from the prior, added as groups:
          `draws.to_arviz(infer.predict(draws), infer.log_likelihood(draws))`.

        **Raises** `OptionError` for a result without groups, for a group that exists already, or for other chains or
        draws.
        """
        from ..report.arviz import to_arviz

        return to_arviz(self._tree(beside))

    def to_netcdf(self, path: str | Path, *beside: "AbstractBeside") -> None:
        """Write the run, and results given as `beside`, to a NetCDF file for ArviZ; needs the `netcdf` extra."""
        from ..storage import to_netcdf

        to_netcdf(self._tree(beside), path)

    def to_zarr(self, path: str | Path, *beside: "AbstractBeside") -> None:
        """Write the run, and results given as `beside`, to a Zarr folder for ArviZ and xarray."""
        from ..storage import to_zarr

        to_zarr(self._tree(beside), path)

    def _tree(self, beside: "tuple[AbstractBeside, ...]") -> Any:
        from ..report.arviz import to_tree
        from ..report.beside import groups_beside

        groups = groups_beside(beside, self.chains, self.num_draws)
        positions = [name for name in ("position", WHOLE) if name in self.warmup]
        has_warmup = any(math.prod(self.warmup.shape(name)) for name in positions)
        warmup = (
            {name: self.warmup[name] for name in self.warmup if name not in positions} if has_warmup else {}
        )
        sources = {source: name for name, source in self.observed.items() if source in self.data}
        observed = {name: self.data[source] for source, name in sources.items()}
        return to_tree(
            self.sites,
            self.stats,
            chains=self.chains,
            warmup=({name: self.warmup[name] for name in positions}, warmup) if has_warmup else None,
            observed_data=observed,
            constant_data={name: value for name, value in self.data.items() if name not in sources},
            dims=self.dims,
            coords=self.coords,
            attrs={name: self.manifest[name] for name in self.manifest if name not in _LONG},
            beside=groups,
        )
