"""Trace a guide that is a model, and evaluate it: draws of its sites, and their log density.

Values are in the model's own space. The guide and the model have the same measure there, so that no Jacobian enters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, UInt32

from ...bijectors import AbstractBijector
from ...core.errors import SiteError
from ...core.precision import Precision, float_dtype, scope
from ...core.tree import shapes, to_numpy
from ...density.latent import bijector_of, concrete, sites_of, unconstrained_shape
from ...density.program import Given
from ...density.reduction import log_prob_of, pointwise
from ...density.support import is_discrete
from ...density.traced import TracedModel
from ...density.tracing import discover
from ...language import Model, Site
from ...language.choice import AbstractChoice, AbstractSeries, Chosen
from ...language.handlers.seed import Draw
from ...language.treatment import Parameter

Values = Mapping[str, Any]
"""Arrays by the name of a site or parameter, in the model's own space."""


@dataclass(frozen=True)
class Param:
    """A parameter of `ac.param` that is fitted. **Fields**: `shape` of its value; `bijector`, onto its constraint."""

    shape: tuple[int, ...]
    bijector: AbstractBijector


@dataclass(frozen=True, eq=False)
class GuideProgram:
    """A guide as a function of the values of its parameters.

    **Fields**
    - `traced`, the guide; `names` of the sites that it draws.
    - `words`, the name among its data of the numbers that say which part of the entries its plates take, or empty.
    - `scored`: those of the sites whose draws do not move smoothly with the parameters.
    """

    traced: TracedModel
    names: tuple[str, ...]
    words: str = ""
    scored: tuple[str, ...] = ()

    def draw(
        self, params: Values, words: UInt32[Array, " 2"], data: Mapping[str, Any]
    ) -> tuple[dict[str, Array], Float[Array, ""]]:
        """Draw all sites by two words of a key; return their values and the log density of these; traced."""
        sites = self.drawn(params, words, data)
        return {name: jnp.asarray(sites[name].value) for name in self.names}, self._log_prob(sites)

    def drawn(
        self,
        params: Values,
        words: UInt32[Array, " 2"],
        data: Mapping[str, Any],
        moves: Mapping[str, Array] = MappingProxyType({}),
    ) -> dict[str, Site]:
        """Draw all sites; traced. `moves`, by site, zeros that are added to what is drawn there."""
        key = jax.random.wrap_key_data(words, impl="threefry2x32")

        def choice(site: Site) -> AbstractChoice:
            own = Unmoved(Draw(key)) if site.name in self.scored else Draw(key)
            return Moved(own, moves[site.name]) if site.name in moves else own

        return self._run(params, choice, data)

    def log_prob(self, params: Values, values: Values, data: Mapping[str, Any]) -> Float[Array, ""]:
        """Evaluate the log density of values of all sites; traced."""
        return self._log_prob(self.sites(params, values, data))

    def sites(self, params: Values, values: Values, data: Mapping[str, Any]) -> dict[str, Site]:
        """Run the guide for its sites, with these values; traced."""
        return self._run(params, lambda site: Given(values[site.name]), data)

    def log_scores(self, params: Values, values: Values, data: Mapping[str, Any]) -> dict[str, Array]:
        """Evaluate the log density of the draws of `scored` sites, entry by entry; traced.

        With masks, and without the scale of a plate that takes a part of its entries: each of these is drawn once.
        """
        sites = self.sites(params, values, data)
        found = {name: pointwise(replace(sites[name], scale=None)) for name in self.scored}
        return {name: each for name, each in found.items() if each is not None}

    def _run(
        self, params: Values, choice_of: Callable[[Site], AbstractChoice], data: Mapping[str, Any]
    ) -> dict[str, Site]:
        def choice(site: Site) -> AbstractChoice:
            return Given(params[site.name]) if site.name in params else choice_of(site)

        with concrete(self.traced.constants):
            return sites_of(self.traced.model(data), choice)

    def _log_prob(self, sites: Mapping[str, Site]) -> Array:
        return log_prob_of((sites[name] for name in self.names), jnp.result_type(float))


class Unmoved(AbstractChoice):
    """A choice whose value does not move with anything by which is differentiated."""

    choice: AbstractChoice

    def __call__(self, site: Site) -> Site:
        chosen = self.choice(site)
        return replace(chosen, value=jax.lax.stop_gradient(chosen.value))

    def for_steps(self, length: int) -> "Unmoved":
        return Unmoved(self.choice.for_steps(length))


class Moved(AbstractSeries):
    """A choice to whose value something is added; for no steps of a scan."""

    choice: AbstractChoice
    move: Array

    def __call__(self, site: Site) -> Site:
        chosen = self.choice(site)
        return replace(chosen, value=chosen.value + self.move)


def trace_guide(model: Model, precision: Precision) -> tuple[TracedModel, dict[str, Any], dict[str, Site]]:
    """Trace a guide; return it with its data by name, and its sites, whose values are of their shapes alone.

    **Raises** `DataError` for arguments that are not numbers; what `ac.sample` raises for a site that does not fit.
    """
    traced, data, _ = discover(model, precision, _at)
    return traced, data, sites_in(traced, data)


def sites_in(traced: TracedModel, data: Mapping[str, Any]) -> dict[str, Site]:
    """Run a traced model without computing anything, for its sites by name."""
    found: dict[str, Site] = {}

    def run(data: Any) -> Any:
        with concrete(traced.constants):
            found.update(sites_of(traced.model(data), lambda site: _at(site, jnp.zeros(()))))
        return jnp.zeros(())

    with scope(traced.precision):
        jax.eval_shape(run, shapes(dict(data)))
    return found


def params_of(sites: Mapping[str, Site]) -> dict[str, Param]:
    """Return the parameters among the sites of a model.

    **Raises** `SiteError` for a parameter within the steps of a scan, and for a constraint that depends on data.
    """
    return {name: _param(site) for name, site in sites.items() if isinstance(site.role, Parameter)}


def starts_of(
    traced: TracedModel, data: Mapping[str, Any], params: Mapping[str, Param]
) -> dict[str, np.ndarray]:
    """Return the unconstrained values at which parameters begin, by the `init` of `ac.param`; NumPy.

    **Raises** `SiteError` for an `init` outside of its constraint.
    """
    if not params:
        return {}
    dtype = float_dtype(traced.precision)
    where: dict[str, str] = {}

    def run(data: Any) -> dict[str, Any]:
        with concrete(traced.constants):
            sites = sites_of(traced.model(data), lambda site: _at(site, jnp.zeros((), dtype)))
        found = {}
        for name, param in params.items():
            where[name], role = sites[name].where, sites[name].role
            assert isinstance(role, Parameter)
            value = jnp.broadcast_to(jnp.asarray(role.init, dtype), param.shape)
            found[name] = param.bijector.inverse(value)
        return found

    with scope(traced.precision):
        found = to_numpy(jax.jit(run)(dict(data)))
    for name, value in found.items():
        if not np.isfinite(value).all():
            raise SiteError(
                f"param {name!r} (at {where[name]}): init is not inside of its constraint, or at its edge, where no "
                "step leads away from it. Give an init well inside."
            )
    return found


def constrained(params: Mapping[str, Any], of: Mapping[str, Param]) -> dict[str, Array]:
    """Map unconstrained values of parameters to their constraints."""
    return {name: param.bijector.forward(params[name]) for name, param in of.items()}


def _param(site: Site) -> Param:
    if site.steps:
        raise SiteError(
            f"param {site.name!r} (at {site.where}) is inside of a scan. Put it before, with an axis for the steps if "
            "each has its own, and pass it in."
        )
    bijector = bijector_of(site)
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(bijector)):
        raise SiteError(
            f"param {site.name!r} (at {site.where}): its constraint depends on data, and is to be the same for all. "
            "Give bounds that are numbers, or scale the parameter in the model."
        )
    assert site.distribution is not None
    return Param((*site.batch_shape, *site.distribution.event_shape), bijector)


def _at(site: Site, origin: Any) -> AbstractChoice:
    """Choose a value of a site that depends on one number."""
    del site

    def at_origin(settled: Site) -> Site:
        if is_discrete(settled):
            assert settled.distribution is not None
            shape = (*settled.batch_shape, *settled.distribution.event_shape)
            value = settled.distribution.support.feasible_like(jnp.zeros(shape, jnp.result_type(int)))
            return replace(settled, value=value + jnp.asarray(origin, value.dtype))
        place = jnp.broadcast_to(jnp.asarray(origin), unconstrained_shape(settled))
        return replace(settled, value=bijector_of(settled).forward(place))

    return Chosen(at_origin)
