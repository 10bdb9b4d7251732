"""Find by tracing which sites of a model each site is written with: nothing is computed."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import get_opaque_trace_state

from ...core import precision as precision_scope
from ...core.errors import AccordError, SiteError
from ...core.tree import shapes
from ...language import AbstractHandler, Model, Site
from ...language.choice import AbstractChoice, Chosen
from ...language.messages.tracers import needs_value
from ...language.site import Frame
from ...language.treatment import Auxiliary, Computed, Free, Reparameterised
from ...report.model_graph import ModelGraph, Node
from ..checks import changed_site
from ..latent import Choose, bijector_of, concrete, unconstrained_shape
from ..layout import Entry
from ..program import Given
from ..simulate import DrawOrSay
from ..support import is_discrete
from ..traced import TracedModel
from ..tracing import discover
from .provenance import arguments_seen


def graph_of(model: Model) -> ModelGraph:
    """List the sites of a model, each with those that its distribution or value is written with.

    The model is taken as it is written, whatever is sampled by way of other sites; unknowns may be discrete. Where
    Python needs the number behind a value, nothing is told of what is written with values whose numbers are known.

    **Raises** as `describe`.
    """
    found, data, _ = discover(model.inside_of(_AsWritten()), "float64", _somewhere)
    entries = {entry.name: entry for entry in found.layout.sites}
    try:
        sites, parents = _related(found, data, entries, in_all=True)
    except Exception as error:
        # Python needs the number behind one of the values that were put in, or the model takes other sites for it.
        if not (needs_value(error) or isinstance(error, AccordError)):
            raise
        sites, parents = _related(found, data, entries, in_all=False)
    shown = [name for name in entries if not isinstance(sites[name].role, Auxiliary)]
    return ModelGraph(
        model.name,
        tuple(_node(sites[name], entries[name], name in found.layout.to_collapse) for name in shown),
        tuple((parent, child) for child in shown for parent in shown if parent in parents[child]),
    )


def _related(
    found: TracedModel, data: Mapping[str, Any], entries: Mapping[str, Entry], *, in_all: bool
) -> tuple[dict[str, Site], dict[str, set[str]]]:
    """Return the sites, and by each the names of those that it is written with."""
    values = {
        name: jax.ShapeDtypeStruct(entry.shape, entry.dtype)
        for name, entry in entries.items()
        if entry.kind != "factor" and not entry.dtype.startswith("key<")
    }
    sites: dict[str, Site] = {}

    def parts(data: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, jax.Array]:
        sites.update(_sites_with(found, data, values, in_all))
        return {f"{i} {name}": leaf for name in sites for i, leaf in enumerate(_made_with(sites[name]))}

    with precision_scope.scope("float64"):
        seen = arguments_seen(parts, shapes(data), values)
    parents: dict[str, set[str]] = {name: set() for name in sites}
    for part, names in seen.items():
        parents[part.partition(" ")[2]].update(names)
    return sites, parents


class _AsWritten(AbstractHandler):
    """Sample no site by way of another one."""

    waives_checks: ClassVar[bool] = True  # since those other sites may be named

    def process(self, site: Site) -> Site:
        """Forget the reparameterisation of a site, and a value that it has from there."""
        match site.treatment:
            case Computed():
                return replace(site, value=None, treatment=Free())
            case Reparameterised():
                return replace(site, treatment=Free(site.bijector))
        return site


class _Named(AbstractHandler):
    """Replace the values of sites, to see where they are used.

    `in_all` says whether that may be done to values whose numbers are known. `computed` keeps what deterministic sites
    are computed as; `inside`, which of them are in a scan or branch, where that is no value out here. Both are filled
    as the model runs.
    """

    values: Mapping[str, Any]
    here: Any = eqx.field(static=True)
    in_all: bool = eqx.field(static=True)
    computed: dict[str, Any] = eqx.field(static=True)
    inside: set[str] = eqx.field(static=True)

    @staticmethod
    def of(values: Mapping[str, Any], in_all: bool) -> "_Named":
        """Build one for a run that begins here."""
        return _Named(values, get_opaque_trace_state(), in_all, {}, set())

    def process(self, site: Site) -> Site:
        """Put the value in its place."""
        if site.is_latent or site.name not in self.values:
            return site
        if get_opaque_trace_state() != self.here:  # asked from within, before it is shown out here
            self.inside.add(site.name)
        is_inside = site.name in self.inside
        if not (self.in_all or is_inside or isinstance(site.value, Tracer)):
            return site
        value = self.values[site.name]
        if site.obs_mask is not None:  # the other entries are those of the site that is not observed
            if is_inside:
                return site
            is_observed = site.obs_mask.reshape(
                site.obs_mask.shape + (1,) * (value.ndim - site.obs_mask.ndim)
            )
            value = jnp.where(is_observed, value, site.value)
        if site.kind == "deterministic" and not is_inside:
            self.computed[site.name] = site.value
        return replace(site, value=value)


def _somewhere(site: Site, origin: Any) -> AbstractChoice:
    """Choose a value of a latent site for the first trace: on its support, or drawn where no map leads there."""
    del site
    words = jnp.broadcast_to(jnp.asarray(origin), (2,)).astype(jnp.uint32)
    draw = DrawOrSay(jax.random.wrap_key_data(words, impl="threefry2x32"), "Give it a value by `.do`")

    def choose(settled: Site) -> Site:
        if is_discrete(settled):
            return draw(settled)
        try:
            bijector, shape = bijector_of(settled), unconstrained_shape(settled)
        except SiteError:
            return draw(settled)
        return replace(settled, value=bijector.forward(jnp.broadcast_to(origin, shape)))

    return Chosen(choose)


def _sites_with(
    found: TracedModel, data: Mapping[str, Any], values: Mapping[str, Any], in_all: bool
) -> dict[str, Site]:
    """Return the sites, written with these values of each other; a deterministic one with its computed value."""
    with concrete(found.constants):
        model = found.model(data)

        def choice_of(site: Site) -> AbstractChoice:
            if site.name not in values:
                raise changed_site(site.name, f"is latent now (at {site.where}) and was not")
            return Given(values[site.name])

        choose = Choose(choice_of)
        named = _Named.of(values, in_all)
        _, sites = model.run(choose, named)
        for name in named.inside:  # what it is computed as is known out here where it has that value
            if sites[name].kind == "deterministic":
                _, free = model.run(choose, _Named.of({n: v for n, v in values.items() if n != name}, in_all))
                named.computed[name] = free[name].value
    return {
        name: replace(site, value=named.computed.get(name, site.value))
        for name, site in sites.items()
        if not site.is_hidden
    }


def _made_with(site: Site) -> list[jax.Array]:
    """List the numbers in the distribution of a site and in its weights; without a distribution, its value."""
    if site.is_intervened:
        return []
    distribution = site.distribution
    made_with = [site.value if distribution is None else distribution, site.mask, site.scale]
    if (
        distribution is not None
        and not site.steps
        and any(map(inspect.isfunction, vars(distribution).values()))
    ):
        # What its functions are written with is seen where they are called, at whatever value.
        made_with.append(distribution.log_prob(jnp.zeros(jnp.shape(site.value), jnp.result_type(site.value))))
    return [leaf for leaf in jax.tree.leaves(made_with) if isinstance(leaf, jax.Array)]


def _node(site: Site, entry: Entry, is_collapsed: bool) -> Node:
    kind = "collapsed" if is_collapsed else entry.kind
    frames = tuple((frame.name, frame.size) for frame in _frames(site))
    return Node(site.name, kind, entry.distribution, frames)


def _frames(site: Site) -> Iterator[Frame]:
    """List the plates and scans around a site, outermost first."""
    num_left = len(site.plates)  # of the plates, which are given from the innermost
    for scan in site.steps:
        yield from reversed(site.plates[scan.within : num_left])
        num_left = min(num_left, scan.within)
        yield scan
    yield from reversed(site.plates[:num_left])
