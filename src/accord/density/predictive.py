"""Evaluate a model at values of its unknowns that come from outside, in the model's own space, or are drawn.

This is what is asked of a model after sampling: what it predicts, and how likely each observation was. Unlike a
`LogDensity` it needs no unknown, takes discrete ones, and knows no unconstrained space.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DataError, ModelError, SiteError, suggest
from ..core.notice import Notice
from ..core.precision import Precision
from ..language import AbstractHandler, Model, Site
from ..language.choice import AbstractChoice, AbstractSeries
from ..language.values import Replay
from .data import Template
from .indices import check_indices, notices_of_indices
from .latent import concrete
from .layout import Layout
from .logdensity import LogDensity
from .observed import Claims
from .reduction import log_prob_of, pointwise
from .row_files import in_memory
from .simulate import DrawOrSay
from .tracing import discover

Shapes = Mapping[str, jax.ShapeDtypeStruct]


@dataclass(frozen=True, eq=False)
class Predictive:
    """A model with names in the place of its arrays, and the shapes of the values that it is given.

    All methods can be used under `jit`, in the scope of its precision.

    **Fields**
    - `data`: the traced arrays among its arguments, by name. `constants`: those whose values shaped the trace.
    - `layout`: its sites. `given`: those unknowns whose values come from outside.
    - `precision`, `template`, `notices`: as of a `LogDensity`. `claims`: which values its sites may observe.
    """

    template: Template
    data: dict[str, Any]
    constants: dict[str, Any]
    layout: Layout
    given: tuple[str, ...]
    precision: Precision
    notices: tuple[Notice, ...] = ()
    claims: Claims = field(default_factory=Claims)

    @staticmethod
    def of(model: Model, values: Shapes, precision: Precision, *, draws_others: bool) -> "Predictive":
        """Trace a model with values of some unknowns; it may draw the others from their priors, given the rest.

        **Raises** `SiteError` for a value that does not have its site's shape, for an unknown that has none and is not
        to be drawn or cannot be; `ModelError` and `DataError` as `LogDensity.from_model`.
        """

        def stand_in(site: Site, origin: Any) -> AbstractChoice:
            if site.name in values:
                found = values[site.name]
                return _OfDraws(jnp.broadcast_to(origin, found.shape).astype(found.dtype))
            if not draws_others:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): the draws hold no values of it, which its log density "
                    f"needs.{suggest(site.name, values)} If it is data, call the model with it."
                )
            words = jnp.broadcast_to(jnp.asarray(origin), (2,)).astype(jnp.uint32)
            return _drawing(jax.random.wrap_key_data(words, impl="threefry2x32"))

        found = discover(model, precision, stand_in)
        data = {**found.data, **found.constants}
        check_indices(found.uses, data, precision)
        latents = [entry.name for entry in found.layout.entries]
        return Predictive(
            found.template,
            found.data,
            found.constants,
            found.layout,
            tuple(name for name in latents if name in values),
            precision,
            (*found.notices, *notices_of_indices(found.uses, data, precision)),
            found.claims,
        )

    def check_observed(self) -> None:
        """Raise `SiteError` for what is observed outside of a site's support; drawing anew needs no such values."""
        self.claims.check({**self.data, **self.constants})

    def with_data(self, data: Mapping[str, Any]) -> "Predictive":
        """The same with other arrays of the same shapes."""
        return replace(self, data=dict(data))

    def draw(self, values: Mapping[str, Any], key: jax.Array) -> dict[str, jax.Array]:
        """Draw what is observed, and the unknowns that are not given; with them the deterministic sites."""
        _, sites = self._run(values, _Draw(key))
        names = [entry.name for entry in self.layout.sites if entry.kind != "factor"]
        return {name: jnp.asarray(sites[name].value) for name in names if name not in self.given}

    def log_likelihood(self, values: Mapping[str, Any]) -> dict[str, jax.Array]:
        """By observed site, the log density of each entry of its batch: mask * scale * log_prob."""
        _, sites = self._run(values)
        return {entry.name: _entries(sites[entry.name]) for entry in self.layout.observed}

    def log_prior(self, values: Mapping[str, Any]) -> jax.Array:
        """The log density of the unknowns in the model's own space, without Jacobians; shape `()`."""
        _, sites = self._run(values)
        return log_prob_of((sites[entry.name] for entry in self.layout.drawn), float)

    def log_joint(self, values: Mapping[str, Any]) -> jax.Array:
        """`log_prior` with the log likelihood and all factors; shape `()`."""
        _, sites = self._run(values)
        kinds = ("latent", "deterministic", "observed", "factor")
        return log_prob_of((sites[entry.name] for entry in self.layout.sites if entry.kind in kinds), float)

    def returned(self, values: Mapping[str, Any]) -> Any:
        """What the function of the model returns.

        **Raises** `DataError` for what holds anything but numbers.
        """
        value, _ = self._run(values)
        for leaf in jax.tree.leaves(value):
            if not isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex):
                raise DataError(
                    f"the model returns a {type(leaf).__name__} ({leaf!r}), which is no number, and so has no array of "
                    "draws. Let it return numbers, arrays, and lists, tuples and dicts of them."
                )
        return jax.tree.map(jnp.asarray, value)

    def _run(self, values: Mapping[str, Any], *outside: AbstractHandler) -> tuple[Any, dict[str, Site]]:
        arrays = {**in_memory(self.data), **self.constants}
        with concrete(self.constants):
            model = self.template.fill({name: jnp.asarray(value) for name, value in arrays.items()})
            value, sites = model.run(Replay({name: values[name] for name in self.given}), *outside)
        return value, {name: site for name, site in sites.items() if not site.is_hidden}


def model_of(density: LogDensity) -> Model:
    """The model that a log density was made from, with its data.

    **Raises** `ModelError` for the density of a function.
    """
    program = density.program.whole
    if program is None:
        raise ModelError(
            f"{density.program.name!r} is the log density of a function, which has no sites to predict or to judge. "
            "Give the model that it stands for."
        )
    return program.template.marked({**density.data, **program.constants})


class _Draw(AbstractHandler):
    """Draw what nobody gave, and what is observed, whatever seeds there are inside."""

    key: Any

    def process(self, site: Site) -> Site:
        """Say how to draw the site."""
        if not (site.is_latent or site.is_observed):
            return site
        return replace(site, value=None, choose=_drawing(self.key))


def _drawing(key: jax.Array) -> DrawOrSay:
    """Choose a value from the site's distribution, which depends on the key and its name alone."""
    return DrawOrSay(key, "Take draws that hold values of it, give it one by `.do`")


class _OfDraws(AbstractSeries):
    """A value of the shape that the draws have, which must be the site's."""

    value: Any

    def __call__(self, site: Site) -> Site:
        _check_shape(site, tuple(self.value.shape))
        return replace(site, value=self.value)


def _check_shape(site: Site, found: tuple[int, ...]) -> None:
    event = () if site.distribution is None else tuple(site.distribution.event_shape)
    needed = (*site.batch_shape, *event)
    if found == needed:
        return
    plates = "".join(f" The plate {each.name!r} has size {each.size} here." for each in site.plates)
    raise SiteError(
        f"site {site.name!r} (at {site.where}): the draws have shape {tuple(found)}, and the model as it is called now "
        f"needs {needed}.{plates} Call it with as many entries as it was sampled with, or, to draw the site anew from "
        f"its prior given the rest, as for groups that were not among the data, add redraw=[{site.name!r}]."
    )


def _entries(site: Site) -> jax.Array:
    entries = pointwise(site)
    return jnp.zeros(site.batch_shape) if entries is None else entries
