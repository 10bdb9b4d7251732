"""Hold results computed from draws, by site, with their dims."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..core.by_site import BySite
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.precision import Precision
from ..core.series import as_series
from ..core.tracebacks import entry_points
from ..report.arviz import Group, groups_to_tree, to_arviz
from ..report.beside import AbstractBeside

if TYPE_CHECKING:
    from ..report.summary import Summary


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class AbstractOfDraws(AbstractBeside, BySite):
    """Arrays by site, each of shape `(chain, draw, ...)`.

    **Fields**
    - `sites`: the arrays, in the model's order. `chains`: the number of each chain.
    - `dims`, `coords`: names of the dimensions of each site, and labels along them; `labelled`: dims whose labels the
      model gave, rather than 0, 1, ....
    - `model`: its name. `precision`: precision of the computation. `notices`: warnings about the result.
    - `observed`: observations by site, if the site observes an argument unchanged; `constants`: the other arguments
      that are arrays.
    """

    where: ClassVar[str] = "here"

    sites: dict[str, np.ndarray]
    chains: tuple[int, ...]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, np.ndarray]
    labelled: tuple[str, ...]
    model: str
    precision: Precision
    notices: tuple[Notice, ...]
    observed: dict[str, np.ndarray]
    constants: dict[str, np.ndarray]

    @property
    @abc.abstractmethod
    def contents(self) -> str:
        """List the sites in one line."""

    @property
    def num_draws(self) -> int:
        """Number of draws of each chain."""
        return next((array.shape[1] for array in self.sites.values()), 0)

    @checks_options
    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        kind: str = "all",
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each value: mean, sd, interval, and diagnostics.

        Arguments and errors are those of `Draws.summary`.
        """
        from ..report.summary import summarise

        return summarise(
            self.sites,
            dims=self.dims,
            coords=self.coords,
            only=sites,
            prob=prob,
            kind=kind,
            interval=interval,
        )

    def to_arviz(self) -> Any:
        """Convert only these to ArviZ's `DataTree`; `draws.to_arviz(these)` adds them to the posterior."""
        return to_arviz(groups_to_tree(self.groups, {"model": self.model}))

    def _repr_html_(self) -> str:
        """Show notices and the first rows of the summary in a notebook."""
        from ..report.page import run_as_html

        head = repr(self).splitlines()[0][1:-1]
        return run_as_html(head, as_series(self.sites), self.notices, dims=self.dims, coords=self.coords)

    def __repr__(self) -> str:
        size = f"{len(self.chains)} chain{'s' * (len(self.chains) != 1)} x {self.num_draws} draws"
        head = f"<{type(self).__name__} of {self.model}: {size}; {self.contents}>"
        return "\n".join([head, *map(str, self.notices)])

    def _listed(self, names: Iterable[str]) -> str:
        return ", ".join(f"{name}{list(self.sites[name].shape[2:]) or ''}" for name in names)

    def _group(self, name: str, values: Mapping[str, np.ndarray], *, is_drawn: bool = True) -> Group:
        return Group(name, values, self.dims, self.coords, is_drawn, self.chains)


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class LogLikelihood(AbstractOfDraws):
    """Log likelihood of each observation for each draw: by observed site, shape `(chain, draw, *batch)`.

    Masked entries are zero.

    **Fields**, besides those of `AbstractOfDraws`:
    - `counted`: by site with a mask or a scale, bool of its batch shape: which entries count, for any of the draws. The
      others are no observations for ArviZ and for the criteria.

    **Example**

    >>> infer.log_likelihood(draws)
    <LogLikelihood of eight_schools: 2 chains x 200 draws; y[8]>
    """

    counted: dict[str, np.ndarray]

    @property
    def groups(self) -> tuple[Group, ...]:
        """Return the group `log_likelihood`, without masked entries, which ArviZ would take for observations.

        The entries of a site of which some are left out have one dim, `<site>_entry`, with the labels that they had, or
        with their numbers in row-major order where they had several dims.
        """
        values, dims, coords = dict(self.sites), dict(self.dims), dict(self.coords)
        for name, is_seen in self.counted.items():
            if is_seen.all():
                continue
            array = self.sites[name]
            values[name] = array[:, :, is_seen]
            labels = coords.get(dims[name][0]) if is_seen.ndim == 1 else None
            labels = np.arange(is_seen.size) if labels is None else np.asarray(labels)
            dims[name] = (f"{name}_entry",)
            coords[f"{name}_entry"] = labels[is_seen.ravel()]
            if not is_seen.any():
                del values[name]
        return (Group("log_likelihood", values, dims, coords, chains=self.chains),) if values else ()

    @property
    def contents(self) -> str:
        """The observed sites."""
        return self._listed(self.sites)


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Predictions(AbstractOfDraws):
    """Predictions of a model: a mapping from site to array of shape `(chain, draw, *site)`.

    **Fields**, besides those of `AbstractOfDraws`:
    - `kind`: `"posterior_predictive"`, at the data of the run; `"predictions"`, elsewhere; `"prior_predictive"`.
    - `predicted`: observed sites, as far as known; `anew`: unknowns that were drawn from their priors given the rest.
      The model computed the others.

    **Example**

    >>> ahead = infer.predict(draws, eight_schools(sigma))
    >>> ahead
    <Predictions of eight_schools: 2 chains x 200 draws; predicted: y[8]; computed: theta[8]>
    >>> ahead["y"].shape, ahead.predicted
    ((2, 200, 8), ('y',))
    >>> ahead.summary().to_dataframe().shape[0]
    16
    """

    kind: str
    predicted: tuple[str, ...]
    anew: tuple[str, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """Return a group named by the kind, with its constant data; for the prior, `prior` and `prior_predictive`."""
        if self.kind == "prior_predictive":
            unknown = {name: array for name, array in self.items() if name not in self.predicted}
            seen = {name: self.sites[name] for name in self.sites if name in self.predicted}
            both = (self._group("prior", unknown), self._group(self.kind, seen))
            return tuple(group for group in both if group.values)
        found = (self._group(self.kind, self.sites),)
        if self.kind == "predictions" and self.constants:
            found += (self._group("predictions_constant_data", self.constants, is_drawn=False),)
        return found

    @property
    def is_of_draws(self) -> bool:
        """Return whether they are not predictions of the prior."""
        return self.kind != "prior_predictive"

    @property
    def contents(self) -> str:
        """List the sites by their source."""
        computed = [name for name in self.sites if name not in (*self.predicted, *self.anew)]
        parts = {"predicted": self.predicted, "from the prior": self.anew, "computed": computed}
        found = {word: [name for name in self.sites if name in names] for word, names in parts.items()}
        return "; ".join(f"{word}: {self._listed(names)}" for word, names in found.items() if names)

    def plot(self, *, observed: Mapping[str, Any] | None = None) -> Any:
        """Plot each site's observed distribution function over 50% and 90% bands of predicted ones.

        Where the line leaves the bands, the model does not reproduce the data.

        - `observed`: observations by site, NaN for missing ones. Needed only for sites that do not observe an argument
          unchanged. A site without observations shows only its bands.

        Returns a matplotlib figure, with a method `savefig`. The bands are pointwise.

        **Raises** `OptionError` for names that are not predicted; `DataError` for other shapes; `ImportError`
        without matplotlib.
        """
        from .plot import plot

        return plot(self, self.predicted, observed)
