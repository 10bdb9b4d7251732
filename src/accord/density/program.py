"""Evaluate a model at a position: the part of a log density that is fixed when it is compiled."""

import abc
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import AbstractBijector, Identity, Independent
from ..core.errors import ModelError
from ..core.notice import Notice
from ..core.precision import Precision
from ..language import Model, Site
from ..language.choice import AbstractChoice, AbstractSeries, Chosen, Wanted
from ..language.treatment import Whole
from .checks import changed_site, check_data_finite, check_same_sites
from .indices import check_indices
from .latent import bijector_of, concrete, sites_of
from .layout import Layout
from .reduction import log_jacobian_of, log_prob_of, num_non_finite, parts_of, term
from .rows.row_files import in_memory
from .support import first_value
from .traced import TracedModel
from .tracing import discover
from .unknowns import Unknowns, free_of, pieces_at
from .weights import Parts, Weights


class Recorded(NamedTuple):
    """Values of sites and other numbers that are kept with a draw.

    **Fields**: `values`, by site; `known`, log prior and what the log density has beside prior and likelihood: the log
    Jacobian; None where there are no sites. `quality`, by name, what tells how good an approximate integral is.
    """

    values: dict[str, jax.Array]
    known: tuple[jax.Array, jax.Array] | None
    quality: Mapping[str, jax.Array] = MappingProxyType({})


View = Callable[[Mapping[str, Site]], Iterable[tuple[str, Site]]]
"""Which sites of a model to count, and what of them: from all sites that it has to some, changed, with their names."""

P = TypeVar("P", bound="AbstractProgram")


def every_site(sites: Mapping[str, Site]) -> Iterable[tuple[str, Site]]:
    """View all sites as they are."""
    return sites.items()


class AbstractProgram(abc.ABC):
    """The target of a `LogDensity`. Frozen; equal only to itself.

    `position` has shape `(dim,)`, or is a `Position`; `data` maps the names of traced arrays to them.
    """

    name: str
    layout: Layout
    precision: Precision
    constants: Mapping[str, np.ndarray]

    def terms(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate what each site adds to the log density, shape `()`."""
        return self.terms_at(pieces_at(position, self.layout), data)

    @abc.abstractmethod
    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate the terms of sites in a view, with the unknowns at these unconstrained values."""

    def summed_terms(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate the terms as `log_density` adds them up, which may be row by row; without derivatives then."""
        return self.terms(position, data)

    def log_density(self, position: Unknowns, data: Mapping[str, Any]) -> jax.Array:
        """Sum all terms, shape `()`; zero where masks leave none."""
        terms = [*self.terms(position, data).values()]
        return sum(terms[1:], start=terms[0]) if terms else jnp.zeros((), free_of(position).dtype)

    def parts(self, position: Unknowns, data: Mapping[str, Any]) -> Parts:
        """Evaluate the parts of the log density; where `check_separate` raises, only their sums are right."""
        return self.parts_at(pieces_at(position, self.layout), data)

    def weighted(self, position: Unknowns, data: Mapping[str, Any], weights: Weights) -> jax.Array:
        """Sum the weighted parts, shape `()`."""
        return weights.sum(self.parts(position, data))

    @abc.abstractmethod
    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts of sites in a view.

        **Arguments**: `beside`, unknowns of which the prior counts as likelihood.
        """

    def said(self, position: Unknowns) -> str:
        """Return why a function refuses a position, in its own words; empty where it has none."""
        del position
        return ""

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise `ModelError` where prior and likelihood cannot be told apart."""
        del data

    def stage(self, kind: type[P]) -> P | None:
        """Find the stage of this kind among this program and those that it was made of."""
        return self if isinstance(self, kind) else None

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> "AbstractProgram":
        """Return the program of a part of the sites, whose `terms_at` takes a view of these.

        **Arguments**
        - `hidden`: shapes, in that part, of the sites that are integrated out of it. `rows`: their axis of rows.
        - `words`: what cuts the rows.

        **Raises** `SiteError` where entries of different rows depend on each other, so that there is no such part.
        """
        del hidden, rows, words
        return self

    def arranged(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a pure function of trees of arrays, which evaluates this program, as the program would have it."""
        return function

    @property
    def told(self) -> tuple[Notice, ...]:
        """What a user should know of how it is evaluated."""
        return ()

    @property
    def whole(self) -> "ModelProgram | None":
        """The model with all its rows at once and all its latent sites, or None where there is no such thing."""
        return None

    @property
    @abc.abstractmethod
    def written(self) -> Callable[..., Any]:
        """The user's function that is evaluated."""

    def whole_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of `whole`, in memory."""
        return in_memory(data)

    def pieces(self, position: Unknowns) -> dict[str, jax.Array]:
        """Cut a position into the unconstrained arrays of the whole model; what has no place is zero."""
        return pieces_at(position, self.layout)

    @property
    def cut_data(self) -> tuple[str, ...]:
        """Names of data that are cut into blocks along their first axis."""
        return ()

    @abc.abstractmethod
    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute the values of latent and deterministic sites."""

    def means(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute these values, with what `values` draws at its mean."""
        return self.values(position, data)

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Compute these values, and more from the same evaluation."""
        return Recorded(self.values(position, data), None)

    def beyond(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Estimate how much a sum over discrete sites that is cut off leaves out, a share by site, shape `()`."""
        del position, data
        return {}

    @abc.abstractmethod
    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute unconstrained pieces of the latent sites, from their values or from sites that follow."""

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count the observed values that are NaN or infinite, by site, where `check` cannot see them."""
        del position, data
        return {}

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Raise `SiteError` for a bad observation (not finite, not in the support), `DataError` for a bad index.

        Returns notices of indices that could not be judged.
        """
        del data
        return ()

    @property
    def can_check(self) -> bool:
        """Return whether `check` knows all that it needs: a program that was pickled must be built again first."""
        return True

    @abc.abstractmethod
    def rebuilt(
        self, data: Mapping[str, Any], precision: Precision | None = None
    ) -> "tuple[AbstractProgram, dict[str, Any], tuple[Notice, ...]]":
        """Build the program for other data or in another precision, without stages; with its data and notices."""


@dataclass(frozen=True, eq=False)
class ModelProgram(TracedModel, AbstractProgram):
    """A model as a function of unconstrained numbers."""

    @staticmethod
    def from_model(
        model: Model, precision: Precision
    ) -> "tuple[ModelProgram, dict[str, Any], tuple[Notice, ...]]":
        """Trace a model; return its program, its data, and its notices."""
        traced, data, notices = discover(model, precision)
        if not traced.layout.unknowns and traced.layout.collapsed:
            raise ModelError(
                f"all unknowns of the model {model.name!r} are discrete "
                f"({', '.join(map(repr, traced.layout.collapsed))}) and summed out, so that there is nothing left to "
                "sample. Sample them, `infer.sample(model, infer.DiscreteGibbs())`; or let a parameter be unknown too."
            )
        if not traced.layout.unknowns:
            raise ModelError(
                f"the model {model.name!r} has no latent site, so there is nothing to infer: every `ac.sample` is "
                "observed. Leave out `obs=` or the condition of what you want to know."
            )
        program = ModelProgram(**vars(traced))
        return program, data, (*notices, *program.check(data))

    @property
    def whole(self) -> "ModelProgram":
        """This program itself."""
        return self

    @property
    def written(self) -> Callable[..., Any]:
        """The function of the model."""
        return self.template.model.function

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate one number for each site that adds any, in the order of the view."""
        terms = {}
        with concrete(self.constants):
            for name, site in view(self.sites(pieces, data)):
                number = term(site)
                if number is not None:
                    terms[name] = number
        return terms

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts; factors are likelihood."""
        latents = {entry.name for entry in self.layout.drawn if entry.name not in beside}
        dtype = _float_of(pieces)
        with concrete(self.constants):
            return parts_of(view(self.sites(pieces, data)), latents, dtype)

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute values as arrays, in the model's order."""
        return self.values_at(self.pieces(position), data)

    def values_at(self, pieces: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute these values from pieces."""
        with concrete(self.constants):
            sites = self.sites(pieces, data)
            return {entry.name: jnp.asarray(sites[entry.name].value) for entry in self.layout.drawn}

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Compute what a draw holds; XLA leaves out what only observed sites and factors need."""
        return self.recorded_at(self.pieces(position), data)

    def recorded_at(self, pieces: Mapping[str, Any], data: Mapping[str, Any]) -> Recorded:
        """Compute these values and numbers from pieces."""
        dtype = _float_of(pieces)
        with concrete(self.constants):
            sites = self.sites(pieces, data)
            drawn = {entry.name: sites[entry.name] for entry in self.layout.drawn}
            log_prior = log_prob_of(drawn.values(), dtype)
            log_jacobian = log_jacobian_of(sites.values(), dtype)
            values = {name: jnp.asarray(site.value) for name, site in drawn.items()}
            return Recorded(values, (log_prior, log_jacobian))

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Invert each site's map; a support may depend on the sites before it.

        Values of whole numbers are floats, NaN outside of their support.
        """
        dtype = jnp.result_type(float)

        def choice_of(site: Site) -> AbstractChoice:
            if isinstance(site.treatment, Whole):
                return Given(jnp.asarray(values[site.name]).astype(jnp.result_type(int)))
            if site.name in self.layout.collapsed:
                # Supports of others may depend on it.
                is_known = site.name in values
                return Given(jnp.asarray(values[site.name], jnp.int32)) if is_known else Chosen(first_value)
            return Given(jnp.asarray(values[site.name], dtype)) if site.name in values else Wanted()

        with concrete(self.constants):
            wanted = {name: jnp.asarray(value, dtype) for name, value in values.items()}
            sites = sites_of(self.model(data, dtype), choice_of, wanted)
            return {
                entry.name: _whole_or_nan(sites[entry.name], wanted[entry.name])
                if entry.kind == "whole"
                else bijector_of(sites[entry.name]).inverse(sites[entry.name].value)
                for entry in self.layout.unknowns
            }

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count for sites whose observed floats the model computes or masks."""
        names = [
            entry.name
            for entry in self.layout.observed
            if not entry.source and np.dtype(entry.dtype).kind == "f"
        ]
        if not names:
            return {}
        with concrete(self.constants):
            sites = self.sites(self.pieces(position), data)
            return {name: num_non_finite(sites[name]) for name in names}

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Check indices and observed arrays on the host; arrays that JAX traces are left to the program."""
        known = {**data, **self.constants}
        notices = check_indices(self.uses, known, self.precision)
        check_data_finite(self.layout, known)
        self.claims.check(data)
        return notices

    @property
    def can_check(self) -> bool:
        """Return whether what its trace told of indices and observations is here."""
        return self.claims.is_known and self.uses.is_known

    def rebuilt(
        self, data: Mapping[str, Any], precision: Precision | None = None
    ) -> "tuple[ModelProgram, dict[str, Any], tuple[Notice, ...]]":
        """Trace the model again with this data."""
        return ModelProgram.from_model(self.template.marked(data), precision or self.precision)

    def sites(self, pieces: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Site]:
        """Run the model for its sites that are not hidden, with the latent ones at these unconstrained values.

        A discrete site has a choice of its value in the place of unconstrained numbers, or its smallest value.
        """

        def choice_of(site: Site) -> AbstractChoice:
            if site.name not in pieces:
                if site.name in self.layout.collapsed:
                    return Chosen(first_value)
                raise changed_site(site.name, f"is latent now (at {site.where}) and was not")
            return chosen_at(site, pieces[site.name])

        dtype = _float_of(pieces)
        sites = sites_of(self.model(data, dtype), choice_of)
        check_same_sites(self.layout, sites)
        return sites


class Given(AbstractSeries):
    """A value, in the model's space."""

    value: Any

    def __call__(self, site: Site) -> Site:
        return replace(site, value=self.value)


def chosen_at(site: Site, piece: Any) -> AbstractChoice:
    """Choose the value of a site by its piece of a position; that of a discrete one is a choice already."""
    if isinstance(piece, AbstractChoice):
        return piece
    return FromWhole(piece) if isinstance(site.treatment, Whole) else FromPosition(piece)


class FromWhole(AbstractSeries):
    """Whole numbers; outside of the support, some inside and a log density of -inf.

    So what depends on them, such as an index, is defined everywhere.
    """

    piece: Any

    def __call__(self, site: Site) -> Site:
        value = jnp.asarray(self.piece).astype(jnp.result_type(int))
        if site.distribution is None:
            return replace(site, value=value)
        support, shape = site.distribution.support, site.batch_shape
        is_inside = jnp.broadcast_to(support(value), shape)
        over_event = is_inside.reshape(*shape, *[1] * len(site.distribution.event_shape))
        log_det = jnp.where(is_inside, 0.0, -jnp.inf).astype(site.distribution.dtype)
        return replace(
            site, value=jnp.where(over_event, value, support.feasible_like(value)), log_det=log_det
        )


class FromPosition(AbstractSeries):
    """A value made of the unconstrained numbers of a site, with the log determinant of the map."""

    piece: Any

    def __call__(self, site: Site) -> Site:
        bijector = bijector_of(site)
        if _keeps_volume(bijector):
            return replace(site, value=self.piece)
        value, log_det = bijector.forward_and_log_det(self.piece)
        return replace(site, value=value, log_det=log_det)


def _float_of(pieces: Mapping[str, jax.Array]) -> Any:
    """Return the dtype of the first floats, or the default one where all unknowns are whole numbers."""
    arrays = (each for each in pieces.values() if not isinstance(each, AbstractChoice))
    floats = (each.dtype for each in arrays if jnp.issubdtype(each.dtype, jnp.floating))
    return next(floats, jnp.result_type(float))


def _whole_or_nan(site: Site, value: jax.Array) -> jax.Array:
    """Return the value that was asked for, which need not be whole; NaN outside of the support of the site."""
    if site.distribution is None:
        return value
    return jnp.where(jnp.all(site.distribution.support(value)), value, jnp.nan)


def _keeps_volume(bijector: AbstractBijector) -> bool:
    base = bijector.base if isinstance(bijector, Independent) else bijector
    return isinstance(base, Identity)
