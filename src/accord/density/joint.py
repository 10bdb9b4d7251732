"""Evaluate a model at given values of its unknowns, in the model's own space, or draw them.

This is what is asked of a model after sampling: what it predicts, and how likely each observation was. Unlike a
`LogDensity` it needs no unknown, takes discrete ones, and knows no unconstrained space.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DataError, ModelError, SiteError, suggest
from ..core.notice import Notice
from ..core.position import Position
from ..core.precision import Precision
from ..language import AbstractHandler, Model, Site
from ..language.choice import AbstractChoice
from ..language.handlers.values import Replay
from .checks import check_data_finite
from .indices import check_indices
from .latent import concrete
from .logdensity import LogDensity
from .matching import DrawNew, Held, Taking, mark_of, match_draws
from .reduction import counts_of, log_prob_of, pointwise
from .rows.row_files import in_memory
from .simulate import DrawOrSay
from .traced import TracedModel
from .tracing import discover
from .unknowns import Unknowns, free_of, pieces_of

_ELSEWHERE = "Take draws that hold values of it, give it one by `.do`"


@dataclass(frozen=True, eq=False)
class Predictive(TracedModel):
    """A model with names in the place of its arrays, and the shapes of the values that it is given.

    All methods can be used under `jit`, in the scope of its precision.

    **Fields**, beside those of a traced model
    - `data`: the traced arrays among its arguments, by name, and `marks`, by which new entries are drawn.
    - `given`: those unknowns whose values come from outside; `kept`: those of which some entries do, and the others are
      drawn; `takings`: by name, which entries of the draws these are.
    - `notices`: as of a `LogDensity`.
    """

    data: dict[str, Any]
    given: tuple[str, ...]
    kept: tuple[str, ...]
    takings: Mapping[str, Taking]
    marks: tuple[str, ...]
    notices: tuple[Notice, ...]

    @staticmethod
    def of(
        model: Model,
        held: Mapping[str, Held],
        dtypes: Mapping[str, np.dtype],
        precision: Precision,
        *,
        draws_others: bool,
        redraw: Mapping[str, str] | None = None,
    ) -> "Predictive":
        """Trace a model with values of some unknowns; it may draw the others from their priors, given the rest.

        **Arguments**
        - `held`: what draws have of sites, `dtypes`: of those that the model may take from them.
        - `redraw`: by unknown to draw though there are draws, `"new"`, the entries of new labels where there are any
          labels, or `"all"`.

        **Raises** `SiteError` for draws that do not have their site's shape or lack its labels, for an unknown that has
        none and is not to be drawn or cannot be; `OptionError` for names in `redraw` that are no unknowns; `ModelError`
        and `DataError` as `LogDensity.from_model`.
        """
        found_sites: dict[str, Site] = {}

        def stand_in(site: Site, origin: Any) -> AbstractChoice:
            if site.name in dtypes:
                name = site.name  # as it is known outside of all prefixes
                return _LikeDraws(origin, dtypes[name], lambda each: found_sites.update({name: each}))
            if not draws_others:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the draws hold no values of it, which its log density "
                    f"needs.{suggest(site.name, dtypes)} If it is data, call the model with it."
                )
            words = jnp.broadcast_to(jnp.asarray(origin), (2,)).astype(jnp.uint32)
            return _drawing(jax.random.wrap_key_data(words, impl="threefry2x32"))

        traced, data, found = discover(model, precision, stand_in)
        notices = check_indices(traced.uses, {**data, **traced.constants}, precision)
        match = match_draws(traced.layout, found_sites, held, redraw or {}, draws_others=draws_others)
        return Predictive(
            **vars(traced),
            data={**data, **match.marks},
            given=match.given,
            kept=match.kept,
            takings=match.takings,
            marks=tuple(match.marks),
            notices=(*found, *match.notices, *notices),
        )

    def check_observed(self) -> None:
        """Raise `SiteError` for what is observed outside of a site's support; drawing needs no such values."""
        self.claims.check({**self.data, **self.constants})

    def check_data(self) -> None:
        """Raise `SiteError` for what is observed outside of a site's support, or is NaN or infinite."""
        self.check_observed()
        check_data_finite(self.layout, {**self.data, **self.constants})

    @property
    def read(self) -> tuple[str, ...]:
        """The sites that are read from the draws."""
        return (*self.given, *self.kept)

    def with_data(self, data: Mapping[str, Any]) -> "Predictive":
        """Return the same model with other arrays of the same shapes."""
        return replace(self, data=dict(data))

    def draw(self, values: Mapping[str, Any], key: jax.Array) -> dict[str, jax.Array]:
        """Draw what is observed, and the unknowns that are not given; return them with the deterministic sites."""
        _, sites = self._run(values, _Draw(key, {name: self._new(name, values, key) for name in self.kept}))
        names = [entry.name for entry in self.layout.sites if entry.kind != "factor"]
        return {name: jnp.asarray(sites[name].value) for name in names if name not in self.given}

    def log_likelihood(self, values: Mapping[str, Any]) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
        """Evaluate the log density of each batch entry, by observed site: mask * scale * log_prob.

        Also returns, by site of which some entries may be left out, which entries count.
        """
        _, sites = self._run(values)
        observed = {entry.name: sites[entry.name] for entry in self.layout.observed}
        counts = {
            name: is_counted for name, site in observed.items() if (is_counted := counts_of(site)) is not None
        }
        return {name: _entries(site) for name, site in observed.items()}, counts

    def log_prior(self, values: Mapping[str, Any]) -> jax.Array:
        """Evaluate the log density of the unknowns in the model's own space, without Jacobians; shape `()`."""
        _, sites = self._run(values)
        return log_prob_of((sites[entry.name] for entry in self.layout.drawn), float)

    def log_joint(self, values: Mapping[str, Any]) -> jax.Array:
        """Evaluate `log_prior` plus the log likelihood and all factors; shape `()`."""
        _, sites = self._run(values)
        kinds = ("latent", "deterministic", "observed", "factor")
        return log_prob_of((sites[entry.name] for entry in self.layout.sites if entry.kind in kinds), float)

    def returned(self, values: Mapping[str, Any]) -> Any:
        """Compute what the function of the model returns.

        **Raises** `DataError` for what holds anything but numbers.
        """
        value, _ = self._run(values)
        for leaf in jax.tree.leaves(value):
            if not isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex):
                raise DataError(
                    f"the model returns a {type(leaf).__name__} ({leaf!r}), which is not a number, so there is no "
                    "array of its draws. Let it return numbers, arrays, and lists, tuples and dicts of them."
                )
        return jax.tree.map(jnp.asarray, value)

    def sites_within(self, values: Mapping[str, Any], *outside: AbstractHandler) -> dict[str, Site]:
        """Run the model with these values inside of handlers, innermost first; return its sites, hidden ones left out.

        The handlers choose the values of all unknowns that are not given.
        """
        return self._run(values, *outside)[1]

    def _new(self, name: str, values: Mapping[str, Any], key: jax.Array) -> DrawNew:
        """Choose how to draw the entries of a site that have new labels."""
        axes = range(-len(self.layout[name].shape), 0)
        words = {
            axis: jnp.asarray(self.data[mark]) for axis in axes if (mark := mark_of(name, axis)) in self.marks
        }
        known = jnp.asarray(self.data[mark_of(name, "known")])
        return DrawNew(key, values[name], known, words, _ELSEWHERE)

    def _run(self, values: Mapping[str, Any], *outside: AbstractHandler) -> tuple[Any, dict[str, Site]]:
        with concrete(self.constants):
            model = self.model(in_memory(self.data))
            value, sites = model.run(Replay({name: values[name] for name in self.given}), *outside)
        return value, {name: site for name, site in sites.items() if not site.is_hidden}


def at_whole(density: LogDensity, position: Unknowns) -> tuple[LogDensity, jax.Array] | None:
    """Return the density of the free unknowns, given the whole numbers of a position; and its free numbers.

    None where there are no free ones.
    """
    layout = density.layout
    if not isinstance(position, Position) or position.whole is None:
        return density, free_of(position)
    if not layout.dim:
        return None
    values = pieces_of(position.whole, layout.whole)
    model = model_of(density).condition({name: np.asarray(value) for name, value in values.items()})
    return LogDensity.from_model(model, density.program.precision), position.free


def model_of(density: LogDensity) -> Model:
    """Return the model that a log density was made from, with its data.

    **Raises** `ModelError` for the density of a function.
    """
    program = density.program.whole
    if program is None:
        raise ModelError(
            f"{density.program.name!r} is the log density of a function, which has no sites to predict or to judge. "
            "What it computes, such as generated quantities of a Stan program, is in the draws, `draws[name]`; a log "
            "likelihood among that is taken by `infer.log_likelihood(draws, computed={...})`. For the rest, give the "
            "model that it stands for, written with `ac.model`."
        )
    return program.template.marked({**density.data, **program.constants})


class _Draw(AbstractHandler):
    """Draw what has no value, and what is observed, whatever seeds there are inside."""

    key: Any
    new: dict[str, DrawNew]

    def process(self, site: Site) -> Site:
        """Say how to draw the site."""
        if not (site.is_latent or site.is_observed):
            return site
        return replace(site, value=None, choose=self.new.get(site.name) or _drawing(self.key))


def _drawing(key: jax.Array) -> DrawOrSay:
    """Choose a value from the site's distribution, which depends on the key and its name alone."""
    return DrawOrSay(key, _ELSEWHERE)


class _LikeDraws(AbstractChoice):
    """A value of the shape that the site needs and the dtype that the draws have; `seen` is told of the site."""

    origin: Any
    dtype: np.dtype = eqx.field(static=True)
    seen: Callable[[Site], Any] = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        self.seen(site)
        event = () if site.distribution is None else tuple(site.distribution.event_shape)
        value = jnp.broadcast_to(self.origin, (*site.batch_shape, *event)).astype(self.dtype)
        return replace(site, value=value)

    def for_steps(self, length: int) -> "_LikeDraws":
        return _LikeDraws(jnp.broadcast_to(self.origin, (length,)), self.dtype, self.seen)


def _entries(site: Site) -> jax.Array:
    entries = pointwise(site)
    return jnp.zeros(site.batch_shape) if entries is None else entries
