"""Find the draws, the model and the precision that something is to be computed with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..core.errors import DataError, ModelError, OptionError, SiteError, suggest
from ..core.masked import unmasked
from ..core.precision import Precision
from ..core.series import AbstractSeries, InMemory
from ..density import LogDensity
from ..density.joint import Predictive, model_of
from ..density.matching import Held
from ..language import Model
from ..mcmc.draws import Draws
from ..nested.result import NestedDraws
from ..runs.stored.describe import labelled_in
from ..smc.result import SMCDraws
from ..vi.draws import GuideDraws
from ..vi.pathfinder.result import Paths
from ..vi.result import Fit
from .results import LogLikelihood, Predictions

RESULTS = (Draws, GuideDraws, Fit, Paths, SMCDraws, NestedDraws)
"""Results that hold draws of a model's unknowns, from any method."""


@dataclass(frozen=True)
class Source:
    """Draws by site and the model to use them in.

    **Fields**
    - `series`: by site, shape `(chain, draw, *site)`. `chains`: the number of each chain.
    - `model`, `precision`; `is_own`: the model is the one of the run.
    - `held`: by site, shape, dims and labels of what the draws have of it.
    - `unknowns`: the latent and collapsed sites of the run, and `observed`, those that it observed; None where that is
      not known. `computed`: its deterministic sites, which a model that samples them reads.
    """

    series: AbstractSeries
    chains: tuple[int, ...]
    model: Model
    precision: Precision
    held: Mapping[str, Held] = field(default_factory=dict)
    is_own: bool = False
    unknowns: tuple[str, ...] | None = None
    observed: tuple[str, ...] | None = None
    computed: tuple[str, ...] = ()

    @staticmethod
    def of(function: str, draws: Any, model: Any) -> "Source":
        """Sort out what a function of `infer` was given.

        **Raises** `OptionError` for what are no draws, or no model called with its data, and where there is none;
        `ModelError` for draws from a user's log density; `DataError` for arrays that do not fit together.
        """
        if model is not None:
            check_model(function, model)
        if isinstance(draws, Fit):
            draws = draws.draw()
        if isinstance(draws, Paths | SMCDraws | NestedDraws):
            draws = draws.drawn
        if isinstance(draws, Draws | GuideDraws):
            return _of_run(function, draws, model)
        if not isinstance(draws, Mapping) or isinstance(draws, LogLikelihood):
            raise OptionError(
                f"infer.{function} takes draws, as infer.sample and infer.load return them, or a mapping from site to "
                f"array of shape (chain, draw, *site); got {type(draws).__name__}."
            )
        if model is None:
            raise OptionError(
                f"infer.{function}: these draws have no model. Give one: {function}(draws, model(...))."
            )
        chains, precision, dims, labels = None, "float64", {}, {}
        arrays = {
            str(name): np.asarray(unmasked(value, f"infer.{function}: draws of site {name!r}"))
            for name, value in draws.items()
        }
        if isinstance(draws, Predictions):  # what it predicted or computed are no unknowns
            chains, precision, dims = draws.chains, draws.precision, draws.dims
            labels = {dim: draws.coords[dim] for dim in draws.labelled}
            arrays = {name: arrays[name] for name in arrays if name in draws.anew}
        num_chains = _check_arrays(function, arrays)[0]
        of_sites = draws.sites if isinstance(draws, Predictions) else arrays
        held = {
            name: Held.of(array.shape[2:], dims.get(name, ()), labels) for name, array in of_sites.items()
        }
        return Source(InMemory(arrays), chains or tuple(range(num_chains)), model, precision, held)

    @property
    def num_draws(self) -> int:
        """Draws of each chain."""
        return next((self.series.shape(name)[1] for name in self.series), 0)

    def trace(
        self, function: str, redraw: Mapping[str, str] | None = None, *, draws_others: bool
    ) -> Predictive:
        """Trace the model with those of its unknowns given that are among the draws.

        **Raises** `OptionError` for draws that have nothing to do with the model; `SiteError` for a site that the model
        computes from an auxiliary of which there are no draws; as `Predictive.of`.
        """
        names = [*(self.unknowns or self.series)]
        # The draws of a run in a non-centred form hold the site itself too, as a computed one. What is to be predicted
        # is not read, though the run computed something of that name.
        arguments = self.model.arguments
        computed = [name for name in self.computed if arguments.get(name, name) is not None]
        found = Predictive.of(
            self.model,
            self.held,
            {name: _dtype_of(self.series, name, self.precision) for name in (*names, *computed)},
            self.precision,
            draws_others=draws_others,
            redraw=redraw,
        )
        sites = {entry.name: entry for entry in found.layout.sites}
        for name in names:
            if name in sites and sites[name].kind == "observed":
                raise ModelError(
                    f"site {name!r} is observed in the model given, and the draws hold values of it. Leave its data "
                    "out; to set it to one value for all draws, use `.do`."
                )
            if name not in sites and self.unknowns is None:
                raise OptionError(
                    f"infer.{function}: the model has no site {name!r}.{suggest(name, sites)} "
                    f"It has: {', '.join(sites)}."
                )
        self._check_form(function, found, names, redraw or {})
        if names and not any(name in sites for name in (*names, *found.read)):
            raise OptionError(
                f"infer.{function}: the model {self.model.name!r} has none of the unknowns of these draws "
                f"({', '.join(names)}). Is it another model?"
            )
        return found

    def _check_form(
        self, function: str, found: Predictive, names: Sequence[str], redraw: Mapping[str, str]
    ) -> None:
        """Refuse to draw an auxiliary anew whose site is among the draws: the values drawn would be others."""
        for name, latent in found.layout.settable.items():
            if name == latent or name not in names or latent in (*found.read, *names):
                continue
            if name in redraw or latent in redraw:
                continue
            raise SiteError(
                f"site {name!r}: the draws hold its values, and the model given computes it from {latent!r}, of which "
                f"they hold none. Give infer.{function} the model without `handlers.reparam` of {name!r}, or draws of "
                "the model with it."
            )


def left_out(source: Source, target: Predictive) -> tuple[str, ...]:
    """Unknowns with the name of an argument that is None: data that the model was called without."""
    arguments = source.model.arguments
    return tuple(
        entry.name
        for entry in target.layout.entries
        if entry.name in arguments and arguments[entry.name] is None and entry.name not in target.read
    )


def check_model(function: str, model: Any) -> Model:
    """The model, or `OptionError` for what is none."""
    if not isinstance(model, Model):
        hint = " Call it with its data." if callable(model) else ""
        if isinstance(model, LogDensity):
            hint = (
                " A log density has no statements that could be run again: give the model that it was made from, or "
                "write it with `ac.model`."
            )
        raise OptionError(
            f"infer.{function}: model must be a model called with its data, got {type(model).__name__}.{hint}"
        )
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(model)):
        raise OptionError(
            f"infer.{function} was called inside of jax.jit, jax.vmap or jax.grad, which trace the data of the model. "
            "It compiles what it runs by itself; call it outside."
        )
    return model


def float_values(array: np.ndarray, precision: Precision) -> np.ndarray:
    """Draws in the dtypes of a precision."""
    return array.astype(_dtype(array.dtype, precision), copy=False)


def _dtype_of(series: AbstractSeries, name: str, precision: Precision) -> np.dtype:
    return _dtype(next((piece.dtype for piece in series.pieces(name)), np.dtype(float)), precision)


def _dtype(dtype: np.dtype, precision: Precision) -> np.dtype:
    width = 64 if precision == "float64" else 32
    return {"f": np.dtype(f"float{width}"), "i": np.dtype(f"int{width}")}.get(dtype.kind, dtype)


def _of_run(function: str, draws: Draws | GuideDraws, model: Model | None) -> Source:
    if draws.num_draws == 0:
        raise OptionError(f"infer.{function}: there are no draws. See `draws.notices`.")
    own = model_of(draws.density) if model is None and draws.density is not None else model
    if own is None:
        raise OptionError(
            f"infer.{function}: these draws were loaded without their model. Give it, called with its data: "
            f"infer.{function}(draws, model(...))."
        )
    layout: Any = draws.manifest["layout"]
    unknowns, observed, computed = (
        tuple(site["name"] for site in layout["sites"] if site["kind"] in kinds)
        for kinds in (("latent", "whole", "collapsed"), ("observed",), ("deterministic",))
    )
    computed = tuple(name for name in computed if name in draws.sites)
    precision: Any = draws.manifest["precision"]
    labels = {dim: layout["coords"][dim] for dim in labelled_in(layout)}
    held = {
        site["name"]: Held.of(site["shape"], site["dims"], labels)
        for site in layout["sites"]
        if site["name"] in draws.sites
    }
    return Source(
        draws.sites, draws.chains, own, precision, held, model is None, unknowns, observed, computed
    )


def _check_arrays(function: str, arrays: Mapping[str, np.ndarray]) -> tuple[int, int]:
    """The common numbers of chains and draws."""
    shapes = {name: array.shape[:2] for name, array in arrays.items()}
    first = next(iter(shapes.items()), None)
    if first is None or first[1][1:2] == (0,):
        raise OptionError(f"infer.{function}: there are no draws of unknowns.")
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise DataError(f"infer.{function}: site {name!r} holds {array.dtype}, not numbers.")
        if array.ndim < 2 or shapes[name] != first[1]:
            raise DataError(
                f"infer.{function}: site {name!r} has shape {array.shape}; draws have shape (chain, draw, *site), with "
                f"the same chains and draws for all sites, and {first[0]!r} has {arrays[first[0]].shape}. For one "
                "chain, write `value[None]`."
            )
    return first[1][0], first[1][1]
