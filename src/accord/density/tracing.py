"""Find, without computing anything, which sites a model has and which of its arguments can be traced.

The model runs once on abstract values. Where it needs the number behind an argument (`y[~jnp.isnan(y)]`,
`int(g.max()) + 1`), that argument becomes a constant of the program, with a notice.
"""

import contextlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr

from ..core import precision as precision_scope
from ..core import tree
from ..core.errors import ModelError
from ..core.notice import Notice
from ..core.precision import Precision
from ..language import Model, Site
from ..language.choice import AbstractChoice, Chosen
from ..language.messages.places import user_line
from ..language.messages.tracers import needs_value, way_out
from ..language.missing import OF_STEPS
from ..language.treatment import Whole
from .arrange import layout_of
from .checks import check_maps, check_proper
from .data import Template, split
from .flat import Flat, flatten
from .indices import Asked, Axes, Uses, closed_over, find
from .latent import Read, bijector_of, sites_of, unconstrained_shape
from .layout import Layout, SiteTable
from .observed import Claim, Claims, claims_of
from .support import is_discrete, value_at
from .traced import TracedModel

StandIn = Callable[[Site, Any], AbstractChoice]


@dataclass(frozen=True)
class _Traced:
    """A model that was traced, as a function of one number, which stands for all unknowns, and of the data.

    **Fields**
    - `layout`: its sites. `axes`: of those sites whose values are the first results of `closed`.
    - `claims`: the sites whose observations can be judged; the arrays of their parts are the last results.
    - `names`: the data that were traced, in their order. `constants`: the data that were not; `is_read`, see `_trace`.
    """

    layout: Layout
    claims: tuple[Claim, ...]
    axes: tuple[Axes, ...]
    closed: ClosedJaxpr
    names: tuple[str, ...]
    constants: tuple[str, ...]
    is_read: bool


def discover(
    model: Model, precision: Precision, stand_in: StandIn | None = None
) -> tuple[TracedModel, dict[str, Any], tuple[Notice, ...]]:
    """Trace a model in the scope of `precision`; return it with its data by name, and notices.

    `stand_in(site, origin)` chooses the value of a latent site in the trace, which must depend on `origin`, a number;
    None is the image of an unconstrained position, as of a log density: the model must then have a proper posterior.

    **Raises** `DataError` for arguments that are not numbers; `SiteError` and `ModelError` for what is wrong with the
    model itself, among it a Python branch on a latent value. The model's own exceptions pass through.
    """
    template, data, notices = split(model, precision)
    with precision_scope.scope(precision):
        traced = _with_fewest_constants(template, data, precision, stand_in)
        flat = flatten(traced.closed, is_bounded=False)
        claims = Claims.of(traced.claims, traced.names, flat)
        uses = _uses(template, data, traced, flat)
    notices += tuple(_constant_notice(name) for name in traced.constants if name not in template.fixed)
    arrays = {name: value for name, value in data.items() if name not in traced.constants}
    constants = (Read if traced.is_read else dict)({name: data[name] for name in traced.constants})
    found = TracedModel(model.name, template, traced.layout, precision, constants, claims, uses)
    return found, arrays, notices


def describe(model: Model) -> SiteTable:
    """Make a table of a model's sites, by tracing it once."""
    found, _, _ = discover(model, "float64")
    return SiteTable(found.layout.marginal.sites)


def _with_fewest_constants(
    template: Template, data: Mapping[str, Any], precision: Precision, stand_in: StandIn | None
) -> _Traced:
    """Trace the model with as few constants among its arguments as it needs to be traced at all."""
    fixed = template.fixed
    try:
        return _trace(template, data, fixed, precision, {}, stand_in=stand_in)
    except Exception as error:
        if not needs_value(error):
            raise
    # What is computed of constants ahead compiles a program for each operation, so it is done only where it is needed.
    for each in (_read, attempt):
        for name in data:
            found = each(template, data, (*fixed, name), precision, stand_in=stand_in)
            if found is not None:
                return found
    constants = tuple(data)
    found = _read(template, data, constants, precision, stand_in=stand_in)
    try:
        found = found or _trace(template, data, constants, precision, {}, stand_in=stand_in)
    except Exception as error:
        if not needs_value(error):
            raise
        raise _branch_on_latent(template, data, precision, error, stand_in) from error
    for name in (name for name in data if name not in fixed):
        fewer = tuple(other for other in constants if other != name)
        again = _read if found.is_read else attempt
        smaller = again(template, data, fewer, precision, stand_in=stand_in)
        if smaller is not None:
            found, constants = smaller, fewer
    return found


def _read(
    template: Template,
    data: Mapping[str, Any],
    constants: tuple[str, ...],
    precision: Precision,
    stand_in: StandIn | None = None,
) -> _Traced | None:
    """Trace the model with constants that Python reads; return `None` where it needs what is computed of them too.

    Discrete sites may need that later, for the ends of their supports. What else is wrong is told by another trace.
    """
    seen: dict[str, bool] = {}
    try:
        found = _trace(template, data, constants, precision, seen, stand_in=stand_in, is_read=True)
    except Exception:
        return None
    return None if any(seen.values()) else found


def attempt(
    template: Template,
    data: Mapping[str, Any],
    constants: tuple[str, ...],
    precision: Precision,
    seen: dict[str, bool] | None = None,
    known: Collection[str] = (),
    stand_in: StandIn | None = None,
) -> _Traced | None:
    """Trace the model; return `None` where Python still needs the number behind a traced value.

    **Arguments**: `constants`, data whose values are known; `seen` is told the latent sites as they are visited, by
    name, and whether they are discrete; `known`, latent sites whose values are known too; `stand_in`, see `discover`.
    """
    try:
        return _trace(template, data, constants, precision, {} if seen is None else seen, known, stand_in)
    except Exception as error:
        if not needs_value(error):
            raise
        return None


def _trace(
    template: Template,
    data: Mapping[str, Any],
    constants: tuple[str, ...],
    precision: Precision,
    seen: dict[str, bool],
    known: Collection[str] = (),
    stand_in: StandIn | None = None,
    is_read: bool = False,
) -> _Traced:
    """Run the model on abstract latent values (but those of sites in `known`) and abstract data (but `constants`).

    `seen` is told the names of latent sites as they are visited, and whether they are discrete, for when the model does
    not come to its end. With `is_read`, what the model computes of constants is abstract too.
    """
    found: list[tuple[Layout, tuple[Claim, ...], tuple[Axes, ...]]] = []
    dtype = precision_scope.float_dtype(precision)

    def look(origin: jax.Array, traced: dict[str, Any]) -> list[Any]:
        with jax.ensure_compile_time_eval():
            fixed = {name: jax.device_put(data[name]) for name in constants}
        shapes: dict[str, tuple[int, ...]] = {}  # at one step, where there are any
        whole: dict[str, bool] = {}
        summed: list[str] = []

        def choice_of(site: Site) -> AbstractChoice:
            seen[site.name] = is_discrete(site)
            zero = np.zeros((), dtype) if site.name in known else origin
            if stand_in is not None:
                shapes[site.name] = ()
                return stand_in(site, zero)
            if is_discrete(site) and not isinstance(site.treatment, Whole):
                return Chosen(lambda settled: first_of(settled, zero))
            return Chosen(lambda settled: at_origin(settled, zero))

        def at_origin(site: Site, zero: Any) -> Site:
            if isinstance(site.treatment, Whole):
                event = () if site.distribution is None else tuple(site.distribution.event_shape)
                shapes[site.name], whole[site.name] = (*site.batch_shape, *event), True
                value = jnp.broadcast_to(zero, shapes[site.name]).astype(jnp.result_type(int))
                return replace(site, value=value)
            shapes[site.name] = unconstrained_shape(site)
            return replace(site, value=bijector_of(site).forward(jnp.broadcast_to(zero, shapes[site.name])))

        def first_of(site: Site, zero: Any) -> Site:
            summed.append(site.name)
            return replace(site, value=value_at(site, jnp.asarray(zero, jnp.int32)))

        sites = sites_of(template.fill({**traced, **fixed}), choice_of)
        names = {id(value): name for name, value in {**traced, **fixed}.items()}
        if stand_in is None:
            check_proper(sites.values())
            check_maps(sites[name] for name in shapes if name in sites)
        shapes = {name: (*sites[name].lengths, *shape) for name, shape in shapes.items() if name in sites}
        layout = layout_of(list(sites.values()), shapes, names, whole, summed)
        claims, arrays = claims_of(sites.values())
        values = {name: site.value for name, site in sites.items() if isinstance(site.value, Tracer)}
        plates = frozenset(frame.name for site in sites.values() for frame in site.plates)
        dims = {entry.name: entry.dims for entry in layout.sites}
        found.append((layout, tuple(claims), tuple(Axes(name, dims[name], plates) for name in values)))
        return [*values.values(), *arrays]

    abstract = {name: value for name, value in data.items() if name not in constants}
    is_computed = (constants or known) and not is_read
    with jax.ensure_compile_time_eval() if is_computed else contextlib.nullcontext():
        closed = jax.make_jaxpr(look)(jax.ShapeDtypeStruct((), dtype), tree.shapes(abstract))
    layout, claims, axes = found[0]
    return _Traced(layout, claims, axes, closed, tuple(sorted(abstract)), constants, is_read)


def _uses(template: Template, data: Mapping[str, Any], traced: _Traced, flat: Flat) -> Uses:
    """Find where data index an axis."""
    fixed = {name: np.asarray(data[name]) for name in traced.constants if not isinstance(data[name], Tracer)}
    integers = {name: array for name, array in fixed.items() if array.dtype.kind in "iu"}
    function = template.model.function
    code = getattr(inspect.unwrap(function), "__code__", None)
    own_file = code.co_filename if code is not None else ""
    return find(Asked(flat, traced.names, traced.axes, own_file, integers, lambda: closed_over(function)))


def _branch_on_latent(
    template: Template,
    data: Mapping[str, Any],
    precision: Precision,
    error: Exception,
    stand_in: StandIn | None,
) -> ModelError:
    """Say which latent value the model's Python code depends on, by knowing one value at a time."""
    seen: dict[str, bool] = {}
    everything = tuple(data)
    attempt(template, data, everything, precision, seen, stand_in=stand_in)
    guilty = [
        name
        for name in seen
        if attempt(template, data, everything, precision, {}, (name,), stand_in) is not None
    ]
    of_steps = [note for note in getattr(error, "__notes__", ()) if note.startswith(OF_STEPS)]
    if of_steps:
        return ModelError(of_steps[0])
    traced = [name for name, value in data.items() if isinstance(value, Tracer)]
    which = (
        f"the value of site {guilty[0]!r}" if guilty else f"the latent sites ({', '.join(map(repr, seen))})"
    )
    if traced and not guilty:
        which = (
            f"the data ({', '.join(map(repr, traced))}), which a transformation of JAX around the model (jit, vmap, "
            "grad or the like) is tracing, or on a latent site"
        )
    divided = (
        f" Or keep it, and let `infer.divide` run each value of {guilty[0]!r} as a model of its own."
        if guilty and seen[guilty[0]]
        else ""
    )
    return ModelError(
        f"the model's Python code needs a number that depends on {which}, at {user_line(error)}. The model is traced "
        f"once for all values. {way_out(error)}{divided}"
    )


def _constant_notice(name: str) -> Notice:
    return Notice(
        "info",
        "constant_argument",
        f"The model needs the values of {name!r} while it is traced, so it is a constant of the program: new data will "
        "compile again.",
        f"To avoid that, compute what depends on {name!r} (sizes, selections) outside of the model and pass it.",
    )
