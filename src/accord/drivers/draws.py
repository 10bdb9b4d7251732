"""Hold the draws of a run as NumPy arrays, with what is needed to judge and to use them."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import OptionError, suggest
from ..core.kept import Kept
from ..core.names import no_attribute
from ..core.notice import Notice
from ..core.options import checks_options, positive_count
from ..core.series import AbstractSeries, InMemory
from ..core.tracebacks import entry_points
from ..density import LogDensity
from .stopping.stopping import Stopping
from .tally import BadEnd

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..report.summary import Summary
    from .predictive.results import AbstractOfDraws


_LONG = ("layout", "particulars")  # of a manifest, what is no attribute of an exported run


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Draws(Mapping[str, np.ndarray]):
    """The draws of a run: a mapping from site to array of shape `(chain, draw, *site)`.

    Those of a run on disk that take more than 256 MiB are read when they are asked for, one site at a time, so that a
    run may be larger than memory; its folder must stay where it is. Pickled, all are written, without the model.

    **Fields**
    - `sites`: latent and deterministic sites in the model's order.
    - `stats`: per draw, shape `(chain, draw)`, by ArviZ's names: `lp` (log density in unconstrained space), `energy`,
      `diverging`, `non_finite`, `n_steps` (gradients), `tree_depth`, `acceptance_rate`, `step_size`; and of a model
      `log_prior` and `log_likelihood`, in its own space: what the unknowns add, and what observed sites and factors add
      together. Both are missing in a run that was stored before they were kept.
    - `notices`: what to know before using the draws, the most severe first.
    - `timings`: seconds of `trace`, `compile`, `warmup`, `sampling` (the longest chain's) and `total`; of `looks`
      at a stopping rule, beside the others.
    - `work`: gradient evaluations by phase, of all chains.
    - `tuning`: what warm-up learnt, by chain: `step_size`, shape `(chain,)`; `inverse_mass`, shape `(chain, dim)`, its
      diagonal in unconstrained space; `metric`, shape `(chain,)`, the form that was learnt last (`"diagonal"`,
      `"low_rank"`, `"dense"` or `"marginal"`; `"initial"` where warm-up was too short), and `metric_reason`, why;
      `num_warmup`, draws of warm-up, and `is_settled`, whether they were enough; under `ChEES`, `trajectory_length`,
      its mean in whitened units.
    - `warmup`: unconstrained warm-up positions, shape `(chain, draw, dim)`, and their stats, where they are kept; the
      first ones of each chain, as many as the chain with the shortest warm-up has.
    - `complete`: whether every draw that was asked for is there.
    - `chains`: the number of each chain.
    - `dims`, `coords`: names of the dimensions of each site, and labels along them.
    - `data`: the model's arguments, while the model is at hand; `observed` maps each observed site to the one of
      them that it is, or to an empty string.
    - `manifest`: how the run was made. `location`: the folder it is stored in, or None. `problems`: what was found
      damaged or missing there. `lost_chains`: chains that could not go on, with the draw and the error of each; they
      are left out. `requested`: draws per chain that were asked for.
    - `counts`: how many draws ended badly, by kind (`divergence`; `log_density` and `gradient` that were not finite)
      and phase (`warmup`, `sample`), before thinning; shape `(chain,)`.
    - `failures`: the first places where they did, at most three of a kind and chain, divergences of warm-up left out;
      with more than 16 lanes, those of chains 0 to 15. `infer.explain` says why.
    - `stopping`: how the rule of `until=` ended the run, or did not: `held`, and `looks`, where it was looked at and
      what was found; None where there was no rule.
    - `density`: the log density that was drawn from, while the model is at hand.
    - `kept`: summaries that were asked for, so that each is worked out once.

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

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.sites[name]
        except KeyError:
            raise OptionError(
                f"there is no site {name!r} in these draws.{suggest(name, self.sites)} "
                f"There are: {', '.join(self.sites)}."
            ) from None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("Draws", name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __contains__(self, name: object) -> bool:
        return name in self.sites

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all arrays, also those on disk, and no model, which may be a function of no module."""
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
        """Kept draws per chain."""
        return self.stats.shape("lp")[1]

    @property
    def superchains(self) -> list[int] | None:
        """The superchain of each chain, where several began at one place."""
        count: Any = self.manifest["sampler"].get("superchains")
        size = 0 if count is None else len(self.manifest["chains"]) // count
        return [chain // size for chain in self.chains] if size else None

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(self.sites.shape(name)[2:]) or ''}" for name in self.sites)
        state = "" if self.complete else ", incomplete"
        size = f"{len(self.chains)} chains x {self.num_draws} draws{state}"
        return f"<Draws of {self.manifest['model']}: {size}; {shapes}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: notices and the first rows of the summary."""
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
        """Go on for `draws` more per chain; what was drawn stays, and all are as one longer run would have made them.

        Where the rule of `until=` has not held, these are the most that are drawn, and it may end the run before.

        **Raises** `OptionError` where the model is not attached, as after `infer.load` and in draws that were pickled.
        """
        count = positive_count("draws", draws)
        if self.continuation is None and self.location is None:
            raise OptionError(
                "these draws are a copy without their model, of a run in memory, which cannot go on. Sample again with "
                "more draws or with `store=infer.RunFolder(path)`, from where `infer.resume(path, model(...))` goes on."
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
        """A table with a row for each number: mean, sd, interval, effective sample sizes, R-hat, Monte Carlo errors.

        It is worked out once for the same arguments and kept with the draws.

        **Arguments**
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `prob`: mass of the interval, in (0, 1).
        - `kind`: `"all"`; `"stats"`, mean, sd and interval; or `"diagnostics"`, the other columns.
        - `interval`: `"quantiles"` leaves out equal mass on both sides; its columns are the quantiles, such as `5%` and
          `95%`. `"hdi"` is the shortest interval, between `hdi90_low` and `hdi90_high`.

        **Raises** `OptionError` for a site that is none, a pattern that fits none, and other values of the options.

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

        columns_of(prob, kind, interval)  # raises for what cannot be part of a question
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
        """The draws as a wide pandas data frame: a row for each chain and draw, a column for each number.

        Rows are indexed by `chain` and `draw`, which `.reset_index()` makes columns. Columns are labelled as rows of
        the summary are, such as `theta[Choate]`. All that is asked for is held in memory.

        **Arguments**
        - `sites`: names of sites, or patterns such as `"theta*"`; None is all.
        - `stats`: whether `draws.stats` are columns too.

        **Raises** `ImportError` without pandas; `OptionError` for a site that is none, and for one that has the name of
        a statistic.

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

    def to_arviz(self, *beside: "AbstractOfDraws") -> Any:
        """The run as ArviZ's `DataTree` (`InferenceData` where only ArviZ 0.x is there), with named dimensions.

        `draws.stats["log_likelihood"]`, one number for a draw, is `total_log_likelihood` in `sample_stats`, lest ArviZ
        take it for the log likelihood of each observation.

        - `beside`: what was computed from these draws or from the prior, in groups of their own:
          `draws.to_arviz(infer.predict(draws), infer.log_likelihood(draws))`.

        **Raises** `OptionError` for what has no groups, for a group that is there already, and for one that has other
        chains or draws.
        """
        from ..report.arviz import to_arviz

        return to_arviz(self._tree(beside))

    def to_netcdf(self, path: str | Path, *beside: "AbstractOfDraws") -> None:
        """Write the run, with what stands beside it, to a NetCDF file that ArviZ reads; needs the `netcdf` extra."""
        from ..storage import to_netcdf

        to_netcdf(self._tree(beside), path)

    def to_zarr(self, path: str | Path, *beside: "AbstractOfDraws") -> None:
        """Write the run, with what stands beside it, to a Zarr folder that ArviZ and xarray read."""
        from ..storage import to_zarr

        to_zarr(self._tree(beside), path)

    def _tree(self, beside: "tuple[AbstractOfDraws, ...]") -> Any:
        from ..report.arviz import to_tree
        from .predictive.beside import groups_beside

        groups = groups_beside(beside, self.chains, self.num_draws)
        has_warmup = math.prod(self.warmup.shape("position")) > 0
        warmup = {name: self.warmup[name] for name in self.warmup if name != "position"} if has_warmup else {}
        sources = {source: name for name, source in self.observed.items() if source in self.data}
        observed = {name: self.data[source] for source, name in sources.items()}
        return to_tree(
            self.sites,
            self.stats,
            chains=self.chains,
            warmup=({"position": self.warmup["position"]}, warmup) if has_warmup else None,
            observed_data=observed,
            constant_data={name: value for name, value in self.data.items() if name not in sources},
            dims=self.dims,
            coords=self.coords,
            attrs={name: self.manifest[name] for name in self.manifest if name not in _LONG},
            beside=groups,
        )
