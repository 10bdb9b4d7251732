"""Trace a log density once, and compile the two programs of a run."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.extend.core
import numpy as np

from ..adaptation.base import Given
from ..core.collection import collection_put_off
from ..core.needed import only
from ..core.position import Position
from ..core.precision import scope
from ..core.traced import equations, key_of
from ..core.tree import shapes
from ..density import LogDensity, sharded
from ..density.ahead import split
from ..density.control import Controlled
from ..density.halves import value_and_grad_of_halves
from ..density.leaks import check_leaks
from ..density.minibatch import Minibatch, minibatch_of
from ..density.recorded import recorded
from ..density.rows.blocks import mesh_of, using
from ..density.tall import ByColumns
from ..executors import gather
from ..kernels.base import AbstractKernel
from ..kernels.vectors import IN_TURN
from ..programs.alike import MANY_SITES, gradient_of_merged, merged
from ..programs.alike.bundles import Bundles, bundled, unbundled
from ..programs.callbacks import check_callbacks, without_raising
from ..programs.compiler import (
    PROGRAMS,
    compile_lowered,
    is_batched_lapack,
    is_large_gradient,
    one_at_a_time,
    spans_devices,
)
from ..programs.is_fusible import is_plain
from ..programs.placement import Placement
from ..runs.constants import Constants
from .block import Limits, start_state
from .columns import Sites
from .formulas import bound_draws, traced_draws
from .plan import Plan
from .population_program import program_for
from .sites_program import sites_program, sizes


@dataclass(frozen=True)
class Programs:
    """The programs of a run, bound to its data.

    **Fields**
    - `advance(chain, given, key, item_key, limits) -> (chain, block)`: see `program.advance_program`.
    - `sites`: results are sites as `site/x`, and the parts of the log densities as `stat/log_prior` and
      `stat/log_likelihood`, if there are any, what sums leave out, `stat/beyond.x`, and how good approximate integrals
      are, `stat/integral.x`. See `sites_program`.
    - `seconds`: time of `"trace"`, until XLA began, and of `"compile"`, in which the rest is traced.
    - `is_cached`: whether this process had already compiled them.
    - `constants`: the numbers in them; None if they are not compared, as where rows are shared out.
    - `put`: puts a tree of arrays where they take their arguments from.
    """

    advance: Callable[..., Any]
    sites: Sites
    seconds: dict[str, float]
    is_cached: bool
    constants: Constants | None
    put: Callable[[Any], Any]


def compile_programs(
    target: LogDensity,
    plan: Plan,
    devices: Sequence[Any] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Programs:
    """Compile both programs for some devices (None is JAX's default one), or find them in the cache.

    `meanwhile()` is called while only XLA has work to do. Python prepares the first program alone before it hands it to
    XLA, and the second one afterwards.

    The cache is keyed by the traced operations, not by the function: a model whose globals changed gets a new program,
    and a rewritten model with the same operations gets the same one. Arrays that a model closes over are arguments of
    the program, like its data; arrays that a jitted function in it closes over are part of the program.

    **Raises** `OptionError` for a Python callback in a float64 run if JAX's own threads work in float32.
    """
    began = time.perf_counter()
    precision, lanes, rows = plan.precision, plan.lanes, plan.segment
    dim, dtype = plan.dim, plan.dtype
    here = tuple(devices or jax.local_devices()[:1])
    place = Placement(here if devices or plan.shard else ())
    if plan.shard:
        target = sharded(target, mesh_of(here), dict(plan.shard))
    position, log_density = shapes(plan.nowhere), jax.ShapeDtypeStruct((), dtype)
    every_data = {**target.data, **({} if plan.reference is None else plan.reference.data)}
    data = shapes(every_data)

    bundles: Bundles = {}
    part, words = _parts(target, plan.kernel)

    def value(data: Any, *position: Any) -> Any:
        return target.with_data(data)(Position(*position))

    def evaluate(data: Any, position: Any, *words: Any) -> Any:
        if part is not None:
            return tuple(part.value_and_grad(data, position, *words))
        if plan.kernel.needs_halves:
            return value_and_grad_of_halves(target.with_data(data), position)
        return target.with_data(data).value_and_grad(position)

    def record(data: Any, position: Any, log_density: Any) -> Any:
        nonlocal bundles
        of_model = {name: data[name] for name in target.data}
        values, parts = recorded(target.with_data(of_model), position, log_density)
        values, bundles = bundled(values)
        sites = {f"site/{name}": value for name, value in values.items()}
        return sites | {f"stat/{name}": part for name, part in parts.items()}

    has_many = len(target.layout.sites) >= MANY_SITES and not (plan.shard or plan.kernel.needs_halves or part)
    with using(here), collection_put_off():
        found = gradient_of_merged(value, data, *jax.tree.leaves(position)) if has_many else None
        gradient = without_raising(found or jax.make_jaxpr(evaluate)(data, position, *words))
        kept, values = jax.make_jaxpr(record, return_shape=True)(data, position, log_density)
        drawn_by = traced_draws(target, plan.kernel, position, data)
    kept = without_raising(kept)
    if not plan.shard:  # Blocks of data give the same bits on any number of devices.
        gradient, kept = merged(gradient), merged(kept)
    check_leaks(target, position, [const for each in (gradient, kept, *drawn_by) for const in each.consts])
    names = tuple(sorted(values))  # the order in which JAX takes a dict apart
    for closed in (gradient, kept, *drawn_by):
        check_callbacks(closed.jaxpr, precision)
    # Several lanes multiply matrices by matrices, which is as fast by rows.
    is_one_lane = lanes == 1 and not plan.kernel.is_ensemble
    has_columns = jax.default_backend() == "cpu" and is_one_lane and not plan.shard
    whole, columns = gradient, ByColumns.of(gradient, data, kept, *drawn_by) if has_columns else ByColumns()
    gradient, kept = columns.in_gradient(gradient), columns.in_program(kept)
    drawn_by = [columns.in_program(each) for each in drawn_by]
    every = [each for closed in (gradient, kept, *drawn_by) for each in equations(closed.jaxpr)]
    cut = target.program.cut_data
    consts, site_consts = tuple(gradient.consts), tuple(kept.consts)
    draw_consts = tuple(tuple(each.consts) for each in drawn_by)
    room, batch = sizes(kept.jaxpr, plan)
    # How far a program goes is an argument of it, and so is what warm-up learns, such as a metric of any form: but for
    # its shapes, such as how many directions it has room for.
    adaptation = plan.adaptation
    program_kernel, given = plan.kernel.compiled, adaptation.given(adaptation.at_start(np.zeros(dim, dtype)))
    key = (
        key_of(gradient),
        key_of(kept),
        tuple(map(key_of, drawn_by)),
        names,
        repr(shapes((consts, site_consts, draw_consts))),
        program_kernel,
        repr(shapes(given)),
        precision,
        lanes,
        rows,
        batch,
        jax.default_backend(),
        tuple(device.id for device in place.devices),
    )

    # Blocks of data give the same bits on any number of devices, for which there is one way to compile.
    is_large = not plan.shard and is_large_gradient(gradient, lanes)
    is_cpu, is_wide = jax.default_backend() == "cpu", any(spans_devices(each) for each in every)

    def build() -> tuple[Any, Any]:
        is_whole = plan.shard or is_wide or len(place.devices) > 1
        parts = None if is_whole else split(gradient, len(jax.tree.leaves(data)))

        def advance(in_pieces: bool) -> Any:
            in_turn = IN_TURN if is_cpu else 0

            def advance(every_const: Any, data: Any, *rest: Any) -> Any:
                consts, own_consts = every_const
                draws = bound_draws(
                    plan.kernel.formulas, drawn_by, own_consts, data, position, is_split=not is_whole
                )
                run = program_for(
                    program_kernel.bound(draws), dim, dtype, lanes, rows, in_pieces, in_turn, plan.num_whole
                )
                if parts is None:
                    return run(lambda *asked: tuple(_call(gradient, consts, data, *asked)), *rest)
                bound = parts.bound(consts, jax.tree.leaves(data))
                return run(lambda *asked: bound(*jax.tree.leaves(asked)), *rest)

            return jax.jit(advance, out_shardings=place.everywhere)

        def sites(consts: Any, data: Any, *rest: Any) -> Any:
            def named(kind: str, *at: Any) -> dict[str, Any]:
                is_wanted = [name.startswith(kind) for name in names]
                wanted = only(kept, is_wanted, keeps_effects=kind == "site/")
                found = _call(wanted, consts, data, *at)
                return dict(zip([name for name in names if name.startswith(kind)], found, strict=True))

            run = sites_program(partial(named, "site/"), partial(named, "stat/"), room, batch)
            return run(*rest)

        drawn = (
            jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((room, *leaf.shape), leaf.dtype), position),
            jax.ShapeDtypeStruct((room,), dtype),
            np.int32(0),
            np.int32(0),
        )
        arguments = _advance_arguments(plan.kernel, given, plan)
        # Without their names: a model whose arguments are called otherwise may share the program.
        unnamed = place.shapes_of_data(columns.shapes(data), cut)
        arguments, drawn = place.shapes((arguments, drawn))
        arguments = (place.shapes((consts, draw_consts)), unnamed, *arguments)
        # A program for several devices is left whole, and so is one whose data are cut, since its bits must be those of
        # the same program on several devices.
        are_plain = plan.kernel.is_plain and all(is_plain(each.jaxpr) for each in drawn_by)
        in_pieces = is_cpu and not is_whole and are_plain
        with collection_put_off():
            lowered_advance = advance(in_pieces).lower(*arguments)
        nonlocal traced
        traced = time.perf_counter()

        def compile_advance() -> Any:
            with scope(precision):
                try:
                    return compile_lowered(lowered_advance, is_large=is_large)
                except jax.errors.JaxRuntimeError as error:
                    if not in_pieces:
                        raise
                    # A release of XLA that cannot compile the pieces, or something in this model that
                    # `is_fusible` misses.
                    warnings.warn(
                        "XLA could not compile the sampling loop in pieces. The run continues with the whole loop, "
                        f"whose steps take some microseconds longer, for the same posterior: {error}",
                        RuntimeWarning,
                        stacklevel=1,
                    )
                    return compile_lowered(advance(False).lower(*arguments), is_large=is_large)

        def compile_sites() -> Any:
            with scope(precision):
                program = jax.jit(sites, out_shardings=place.everywhere)
                lowered = program.lower(place.shapes(site_consts), unnamed, *drawn)
                meanwhile()
                return compile_lowered(lowered)

        first, second = gather([compile_advance, compile_sites])
        return first, second

    traced = time.perf_counter()
    (advance, sites), is_cached = PROGRAMS.get(key, build)
    done = time.perf_counter()
    if is_cached:
        meanwhile()
    if (is_wide and not devices) or (is_cpu and any(is_batched_lapack(each, lanes) for each in every)):
        advance, sites = one_at_a_time(advance), one_at_a_time(sites)
    on_device = (
        *place.put(((consts, draw_consts), site_consts)),
        place.put_data(columns.stored(every_data), cut),
    )
    return Programs(
        lambda *rest: advance(on_device[0], on_device[2], *rest),
        Sites(
            lambda *rest: unbundled(sites(on_device[1], on_device[2], *rest), bundles, "site/"), room, batch
        ),
        {"trace": traced - began, "compile": done - traced},
        is_cached,
        # A program for several devices has numbers of its own.
        None if plan.shard else Constants.of(whole),
        place.put,
    )


def _parts(
    target: LogDensity, kernel: AbstractKernel
) -> tuple[Minibatch | Controlled | None, tuple[Any, ...]]:
    """Return what evaluates parts of the data, if the kernel needs that, and the shape of the words that name them."""
    if not kernel.needs_minibatch:
        return None, ()
    part = minibatch_of(target, type(kernel).__name__)
    words = jax.eval_shape(kernel.batch_at, jax.ShapeDtypeStruct((2,), np.uint32))
    return Controlled(part) if kernel.needs_reference else part, (words,)


def _advance_arguments(kernel: AbstractKernel, given: Given, plan: Plan) -> Any:
    lanes = plan.lanes
    arguments = (
        start_state(kernel, plan.nowhere),
        given,
        np.zeros(2, np.uint32),
        np.zeros(2, np.uint32),
        Limits.at(0, 0, 0, plan.no_places(plan.num_places)),
    )
    if lanes == 1 and not kernel.is_ensemble:
        return shapes(arguments)
    state, each, *rest = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((lanes, *leaf.shape), leaf.dtype), arguments
    )
    return state, shapes(arguments[1]) if kernel.is_ensemble else each, *rest


def _call(closed: Any, consts: Any, data: Any, *rest: Any) -> list[Any]:
    function = jax.extend.core.jaxpr_as_fun(jax.extend.core.ClosedJaxpr(closed.jaxpr, consts))
    return function(*jax.tree.leaves((data, rest)))
