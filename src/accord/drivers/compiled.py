"""Trace a log density once, and compile the programs that run it."""

import re
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np

from ..adaptation import metric as metrics
from ..core.precision import float_dtype, scope
from ..core.tree import shapes
from ..core.versions import QUICK_CPU_OPTIONS
from ..density import LogDensity, sharded
from ..density.blocks import mesh_of, using
from ..density.leaks import check_leaks
from ..executors import gather
from ..kernels.base import AbstractKernel
from . import cache, program
from .cache import ProgramCache
from .callbacks import check_callbacks, equations, without_raising
from .ensemble_program import program_for
from .needed import is_needed
from .placement import Placement
from .plan import Plan

_MAX_PROGRAMS = 32
_LAPACK = {
    "cholesky",
    "triangular_solve",
    "lu",
    "eigh",
    "eig",
    "svd",
    "geqrf",
    "householder_product",
    "schur",
    "hessenberg",
}

_cache: ProgramCache[tuple[Any, Any]] = ProgramCache(_MAX_PROGRAMS)
_may_run = threading.Lock()


@dataclass(frozen=True)
class Programs:
    """The programs of a run, bound to its data.

    **Fields**
    - `advance(chain, metric, key, item_key, limits) -> (chain, block)`: see `program.advance_program`.
    - `sites(positions, count) -> {site: rows}`: see `program.sites_program`.
    - `seconds`: spent in `"trace"` and `"compile"`.
    - `is_cached`: whether this process had compiled them before.
    """

    advance: Callable[..., Any]
    sites: Callable[..., dict[str, Any]]
    seconds: dict[str, float]
    is_cached: bool


def compile_programs(target: LogDensity, plan: Plan, devices: Sequence[Any] | None = None) -> Programs:
    """Compile both programs for some devices (None is JAX's default one), or find them in the cache.

    Programs are found by what was traced, not by which function it came from: a model whose globals have changed traces
    to something else, and one written anew with the same operations to the same. Arrays that a model closes over are
    arguments of the program, like its data.

    **Raises** `OptionError` for a callback of Python in a float64 run, where threads of JAX's own work in float32.
    """
    began = time.perf_counter()
    precision, lanes, rows = plan.precision, plan.lanes, plan.segment
    dim, dtype = plan.dim, plan.dtype
    here = tuple(devices or jax.local_devices()[:1])
    place = Placement(here if devices or plan.shard else ())
    if plan.shard:
        target = sharded(target, mesh_of(here), dict(plan.shard))
    position = jax.ShapeDtypeStruct((dim,), dtype)
    data = shapes(target.data)

    def evaluate(data: Any, position: Any) -> Any:
        return target.with_data(data).value_and_grad(position)

    def constrain(data: Any, position: Any) -> Any:
        return target.with_data(data).constrain(position)

    with using(here):
        gradient = without_raising(jax.make_jaxpr(evaluate)(data, position))
        constrained, values = jax.make_jaxpr(constrain, return_shape=True)(data, position)
    constrained = without_raising(constrained)
    check_leaks(target, position, (*gradient.consts, *constrained.consts))
    names = tuple(sorted(values))  # the order in which JAX takes a dict apart
    for closed in (gradient, constrained):
        check_callbacks(closed.jaxpr, precision)
    every = [each for closed in (gradient, constrained) for each in equations(closed.jaxpr)]
    cut = target.program.cut_data
    consts, site_consts = tuple(gradient.consts), tuple(constrained.consts)
    # How far a program goes is an argument of it, and so is the acceptance to aim at.
    # The form of the metric is data, but for how many directions there is room.
    program_kernel, rank = plan.kernel.compiled, plan.metric_rank
    key = (
        _text(gradient),
        _text(constrained),
        names,
        repr(shapes((consts, site_consts))),
        program_kernel,
        rank,
        precision,
        lanes,
        rows,
        jax.default_backend(),
        tuple(device.id for device in place.devices),
    )

    is_cpu, is_wide = jax.default_backend() == "cpu", any(_spans_devices(each) for each in every)

    def build() -> tuple[Any, Any]:
        def advance(in_pieces: bool) -> Any:
            run = program_for(program_kernel, dim, dtype, lanes, rows, in_pieces)

            def advance(consts: Any, data: Any, *rest: Any) -> Any:
                return run(lambda position: tuple(_call(gradient, consts, data, position)), *rest)

            return jax.jit(advance, out_shardings=place.everywhere)

        def sites(consts: Any, data: Any, positions: Any, count: Any) -> Any:
            def constrain(position: Any) -> dict[str, Any]:
                return dict(zip(names, _call(constrained, consts, data, position), strict=True))

            return program.sites_program(constrain, rows)(positions, count)

        positions = jax.ShapeDtypeStruct((rows, dim), dtype)
        arguments = _advance_arguments(program_kernel, dim, rank, dtype, lanes)
        # Without their names: a model whose arguments are called otherwise may share the program.
        unnamed = place.shapes_of_data(data, cut)
        arguments, positions, count = place.shapes((arguments, positions, np.int32(0)))
        arguments = (place.shapes(consts), unnamed, *arguments)
        # A program for several devices is left whole, and so is one whose data are cut, since its bits must be those of
        # the same program on several devices.
        in_pieces = is_cpu and not (plan.shard or is_wide or len(place.devices) > 1)
        lowered_advance = advance(in_pieces).lower(*arguments)
        lowered_sites = jax.jit(sites, out_shardings=place.everywhere).lower(
            place.shapes(site_consts), unnamed, positions, count
        )
        nonlocal traced
        traced = time.perf_counter()

        def compile_advance() -> Any:
            with scope(precision):
                try:
                    return _compile(lowered_advance)
                except jax.errors.JaxRuntimeError as error:
                    if not in_pieces:
                        raise
                    # A release of XLA that cannot compile the pieces, or something in this model that `plain` misses.
                    warnings.warn(
                        "XLA could not compile the loop that draws in pieces; it goes on as a whole, whose steps take "
                        f"some microseconds longer, for the same posterior: {error}",
                        RuntimeWarning,
                        stacklevel=1,
                    )
                    return _compile(advance(False).lower(*arguments))

        def compile_sites() -> Any:
            with scope(precision):
                return _compile(lowered_sites)

        first, second = gather([compile_advance, compile_sites])
        return first, second

    traced = time.perf_counter()
    (advance, sites), is_cached = _cache.get(key, build)
    done = time.perf_counter()
    if (is_wide and not devices) or (is_cpu and any(_is_batched_lapack(each, lanes) for each in every)):
        advance, sites = _one_at_a_time(advance), _one_at_a_time(sites)
    on_device = (*place.put((consts, site_consts)), place.put_data(target.data, cut))
    return Programs(
        lambda *rest: advance(on_device[0], on_device[2], *rest),
        lambda *rest: sites(on_device[1], on_device[2], *rest),
        {"trace": traced - began, "compile": done - traced},
        is_cached,
    )


class HasData(Protocol):
    """A target whose arrays are arguments of the programs that are compiled for it."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Arrays by name."""
        ...

    def with_data(self, data: Mapping[str, Any]) -> Any:
        """The same with other arrays of the same shapes."""
        ...


def compile_alone(target: HasData, function: Callable[..., Any], *example: Any) -> Callable[..., Any]:
    """Compile `function(target, *arguments)` for JAX's default device, where only the data are put that it needs.

    What is returned waits for its result, and may be called in several threads at once.

    Programs are found by what was traced, as those of a run: new data of the same shape compile nothing.
    """
    cache.persist()
    every = shapes(target.data)

    def with_data(data: Any, *arguments: Any) -> Any:
        return function(target.with_data(data), *arguments)

    traced, results = jax.make_jaxpr(with_data, return_shape=True)(every, *example)
    traced = without_raising(traced)
    needs = dict(zip(sorted(every), is_needed(traced.jaxpr), strict=False))
    is_key = {name: jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) for name, leaf in every.items()}
    names = [name for name in needs if needs[name] or is_key[name]]

    def run(consts: Any, data: Any, *arguments: Any) -> Any:
        given = dict(zip(names, data, strict=True))
        whole = {
            n: given[n] if n in given else jnp.zeros(leaf.shape, leaf.dtype) for n, leaf in every.items()
        }
        flat = jax.extend.core.jaxpr_as_fun(jax.extend.core.ClosedJaxpr(traced.jaxpr, consts))
        return jax.tree.unflatten(jax.tree.structure(results), flat(*jax.tree.leaves((whole, arguments))))

    data = Placement().put_data({name: target.data[name] for name in names}, ())
    arguments = (tuple(traced.consts), shapes(data), example)
    key = (
        _text(traced),
        repr(shapes(arguments)),
        repr(jax.tree.structure((arguments, results))),
        tuple(names),
        jax.default_backend(),
        jax.dtypes.canonicalize_dtype(np.float64).name,
    )

    def build() -> tuple[Any, Any]:
        return _compile(jax.jit(run).lower(traced.consts, data, *example)), None

    (compiled, _), _ = _cache.get(key, build)
    is_cpu = jax.default_backend() == "cpu"
    if any(
        _spans_devices(each) or (is_cpu and _is_batched_lapack(each, 1)) for each in equations(traced.jaxpr)
    ):
        compiled = _one_at_a_time(compiled)
    return lambda *arguments: jax.block_until_ready(compiled(traced.consts, data, *arguments))


def check_traced(target: LogDensity) -> None:
    """Refuse a target that no program could evaluate, before one is compiled by `compile_alone`.

    **Raises** `ModelError` for a value from outside of the trace, `OptionError` for a callback as `compile_programs`.
    """
    precision = target.program.precision
    position = jax.ShapeDtypeStruct((target.dim,), float_dtype(precision))

    def evaluate(data: Any, position: Any) -> Any:
        return target.with_data(data).value_and_grad(position)

    traced = without_raising(jax.make_jaxpr(evaluate)(shapes(target.data), position))
    check_leaks(target, position, traced.consts)
    check_callbacks(traced.jaxpr, precision)


def _advance_arguments(kernel: AbstractKernel, dim: int, rank: int, dtype: np.dtype, lanes: int) -> Any:
    zero = np.zeros(dim, dtype)
    arguments = (
        program.start_state(kernel, zero),
        metrics.initial_metric(zero, rank),
        np.zeros(2, np.uint32),
        np.zeros(2, np.uint32),
        program.Limits.at(0, 0, 0, 0.0, np.zeros((program.NUM_PLACES, dim), dtype)),
    )
    if lanes == 1 and not kernel.is_ensemble:
        return shapes(arguments)
    state, metric, *rest = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((lanes, *leaf.shape), leaf.dtype), arguments
    )
    return state, shapes(arguments[1]) if kernel.is_ensemble else metric, *rest


def _call(closed: Any, consts: Any, data: Any, position: Any) -> list[Any]:
    function = jax.extend.core.jaxpr_as_fun(jax.extend.core.ClosedJaxpr(closed.jaxpr, consts))
    return function(*jax.tree.leaves(data), position)


def _compile(lowered: Any) -> Any:
    return lowered.compile(dict(QUICK_CPU_OPTIONS) if jax.default_backend() == "cpu" else None)


def _is_batched_lapack(equation: Any, lanes: int) -> bool:
    """Whether it hands several matrices at once to LAPACK."""
    return equation.primitive.name in _LAPACK and (lanes > 1 or equation.invars[0].aval.ndim > 2)


def _spans_devices(equation: Any) -> bool:
    """Whether it is a user's own program over several devices."""
    return equation.primitive.name == "shard_map" and equation.params["mesh"].size > 1


def _one_at_a_time(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that is never run beside another one of its kind, and has ended when it returns.

    Batched LAPACK in jaxlib waits for the very threads that it runs on, and devices wait for each other in a
    collective: two such programs would wait for ever.
    """

    def run(*arguments: Any) -> Any:
        with _may_run:
            return jax.block_until_ready(program(*arguments))

    return run


def _text(closed: Any) -> str:
    """The program in words. Addresses differ from trace to trace; only of callbacks do they say what is run."""
    text = str(closed.jaxpr)
    return text if "callback" in text else re.sub(r" at 0x[0-9a-f]+", "", text)
