"""Compile functions of a log density outside of a run: for predictions, searches for modes, starts."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np

from ..core.needed import is_needed
from ..core.precision import float_dtype
from ..core.traced import equations, key_of
from ..core.tree import shapes
from ..density import LogDensity
from ..density.leaks import check_leaks
from ..density.unknowns import like
from . import cache
from .callbacks import check_callbacks, without_raising
from .compiler import (
    PROGRAMS,
    compile_lowered,
    is_batched_lapack,
    is_large_step,
    one_at_a_time,
    spans_devices,
)
from .placement import Placement
from .repeats import without_repeats


class HasData(Protocol):
    """A target whose arrays are arguments of its compiled programs."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the arrays by name."""
        ...

    def with_data(self, data: Mapping[str, Any]) -> Any:
        """Return this target with other arrays of the same shapes."""
        ...


def compile_alone(
    target: HasData, function: Callable[..., Any], *example: Any, num_steps: int = 0
) -> Callable[..., Any]:
    """Compile `function(target, *arguments)` for JAX's default device, and put there only the data that it needs.

    The returned function waits for its result, and may be called from several threads at once.

    `num_steps`: about how many steps it takes in a loop, a number that is the same for all calls whose results must be
    equal; see `compiler.is_large_step`.

    Programs are cached by what was traced, as those of a run: new data of the same shape compile nothing.
    """
    cache.persist()
    every = shapes(target.data)

    def with_data(data: Any, *arguments: Any) -> Any:
        return function(target.with_data(data), *arguments)

    traced, results = jax.make_jaxpr(with_data, return_shape=True)(every, *example)
    traced = without_repeats(without_raising(traced))
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
        key_of(traced),
        repr(shapes(arguments)),
        repr(jax.tree.structure((arguments, results))),
        tuple(names),
        jax.default_backend(),
        jax.dtypes.canonicalize_dtype(np.float64).name,
        num_steps,
    )

    def build() -> tuple[Any, Any]:
        is_large = is_large_step(traced, num_steps)
        return compile_lowered(jax.jit(run).lower(traced.consts, data, *example), is_large=is_large), None

    (compiled, _), _ = PROGRAMS.get(key, build)
    is_cpu = jax.default_backend() == "cpu"
    if any(
        spans_devices(each) or (is_cpu and is_batched_lapack(each, 1)) for each in equations(traced.jaxpr)
    ):
        compiled = one_at_a_time(compiled)
    return lambda *arguments: jax.block_until_ready(compiled(traced.consts, data, *arguments))


def check_traced(target: LogDensity) -> None:
    """Refuse a target that no program could evaluate, before one is compiled by `compile_alone`.

    **Raises** `ModelError` for a value from outside of the trace; `OptionError` for a callback, as in
    `compile_programs`.
    """
    precision = target.program.precision
    position = like(target.layout, float_dtype(precision))

    def evaluate(data: Any, position: Any) -> Any:
        return target.with_data(data).value_and_grad(position)

    traced = without_raising(jax.make_jaxpr(evaluate)(shapes(target.data), position))
    check_leaks(target, position, traced.consts)
    check_callbacks(traced.jaxpr, precision)
