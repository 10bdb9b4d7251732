"""Compile the sampling loop to few pieces of machine code.

XLA for CPUs runs a loop as a list of small functions, at 50 to 100 nanoseconds each. A step of NUTS has some eighty of
them beside the gradient, which would cost more than the gradients of most models; and in many dimensions, such a list
copies more vectors than it needs. So the loop is compiled

- as one piece, if the gradient is made of plain arithmetic on small arrays;
- else in three pieces to a step: what comes before the gradient, the gradient, and what comes after. The gradient stays
  with XLA, which may call libraries for it, or use several cores.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.extend.core
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.extend.core import Literal as Constant

from ..core.versions import as_one_function
from .alive import alive, variables
from .is_fusible import is_plain

T = TypeVar("T")

_NAME = "accord_gradient"


def marked(function: Callable[..., T]) -> Callable[..., T]:
    """Mark a function, so that `while_loop_in_pieces` finds its call."""

    def accord_gradient(*arguments: Any) -> T:
        return function(*arguments)

    return jax.jit(accord_gradient)


def while_loop_in_pieces(goes_on: Callable[[T], Any], body: Callable[[T], T], start: T) -> T:
    """Run `jax.lax.while_loop` in pieces; its body calls one `marked` function outside of inner loops and branches.

    Neither `goes_on` nor `body` may hold a scatter, which is what a batched update of rows becomes, or a product of
    two matrices, nor a sum of more than `is_fusible.MAX_SIZE` numbers; see `is_fusible`.
    """
    # Traced once: to trace a kernel takes as long as to compile it.
    leaves, structure = jax.tree.flatten(start)
    closed = jax.make_jaxpr(lambda leaves: jax.tree.leaves(body(jax.tree.unflatten(structure, leaves))))(
        leaves
    )
    traced = jax.extend.core.jaxpr_as_fun(closed)

    def goes_on_from(leaves: list[Any]) -> Any:
        return goes_on(jax.tree.unflatten(structure, leaves))

    def whole(leaves: list[Any], constants: list[Any]) -> tuple[list[Any], list[Any]]:
        step = jax.extend.core.jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, constants))
        end = jax.lax.while_loop(goes_on_from, lambda leaves: step(*leaves), leaves)
        # An element of each, so that all are used: XLA aborts the process where one is not, such as what only
        # deterministic sites need.
        return end, [constant.ravel()[:1] for constant in constants]

    if is_plain(_call_in(closed).params["jaxpr"].jaxpr):
        end, _ = jax.lax.optimization_barrier(as_one_function(whole)(leaves, closed.consts))
        return jax.tree.unflatten(structure, end)
    packing = _Packing(leaves)
    packed = jax.make_jaxpr(lambda packed: packing.pack(traced(*packing.unpack(packed))))(
        packing.pack(leaves)
    )
    end = jax.lax.while_loop(
        lambda packed: goes_on_from(packing.unpack(packed)), _in_three(packed), packing.pack(leaves)
    )
    return jax.tree.unflatten(structure, packing.unpack(end))


def _call_in(closed: ClosedJaxpr) -> Any:
    """Find the equation that calls the `marked` function."""
    (call,) = [equation for equation in closed.jaxpr.eqns if equation.params.get("name") == _NAME]
    return call


class _Packing:
    """Packs the scalars of trees like `example` into one vector per dtype.

    Pieces exchange every array separately, and many are copied.
    """

    def __init__(self, example: Any):
        leaves, self._structure = jax.tree.flatten(example)
        self._is_scalar = [leaf.ndim == 0 for leaf in leaves]
        self._dtypes = [leaf.dtype for leaf in leaves]
        self._groups = [
            d for n, d in enumerate(self._scalars(self._dtypes)) if d not in self._scalars(self._dtypes)[:n]
        ]

    def pack(self, tree: Any) -> list[Any]:
        leaves = jax.tree.leaves(tree)
        scalars, arrays = self._scalars(leaves), [leaf for leaf in leaves if leaf.ndim]
        return [jnp.stack([s for s in scalars if s.dtype == dtype]) for dtype in self._groups] + arrays

    def unpack(self, packed: list[Any]) -> Any:
        vectors, arrays = packed[: len(self._groups)], iter(packed[len(self._groups) :])
        elements = {d: iter(list(vector)) for d, vector in zip(self._groups, vectors, strict=True)}
        leaves = [
            next(elements[dtype]) if is_scalar else next(arrays)
            for dtype, is_scalar in zip(self._dtypes, self._is_scalar, strict=True)
        ]
        return jax.tree.unflatten(self._structure, leaves)

    def _scalars(self, leaves: Sequence[Any]) -> list[Any]:
        return [leaf for leaf, is_scalar in zip(leaves, self._is_scalar, strict=True) if is_scalar]


def _in_three(closed: ClosedJaxpr) -> Callable[[list[Any]], list[Any]]:
    """Split the traced function into three pieces: before its call of the `marked` one, the call, and the rest."""
    jaxpr, call = closed.jaxpr, _call_in(closed)
    before, after = _parted(alive(jaxpr), call)
    given = [*jaxpr.constvars, *jaxpr.invars]
    needed = variables([*call.invars, *(v for e in after for v in e.invars), *jaxpr.outvars])
    made = [v for equation in before for v in equation.outvars if v in needed]
    first = _piece(jaxpr, before, given, made)
    second = _piece(jaxpr, after, [*given, *made, *call.outvars], jaxpr.outvars)
    gradient = jax.extend.core.jaxpr_as_fun(call.params["jaxpr"])

    def run(arguments: list[Any]) -> list[Any]:
        values: dict[Any, Any] = dict(zip(given, [*closed.consts, *arguments], strict=True))
        values |= zip(made, first(values), strict=True)
        inputs = [v.val if isinstance(v, Constant) else values[v] for v in call.invars]
        values |= zip(call.outvars, gradient(*inputs), strict=True)
        return second(values)

    return run


def _parted(equations: list[Any], call: Any) -> tuple[list[Any], list[Any]]:
    """Split equations into those that `call` needs, and the others."""
    place = next(n for n, equation in enumerate(equations) if equation is call)
    needed = variables(call.invars)
    before: list[Any] = []
    for equation in reversed(equations[:place]):
        if any(v in needed for v in equation.outvars):
            needed |= variables(equation.invars)
            before.append(equation)
    before.reverse()
    chosen = {id(equation) for equation in before} | {id(call)}
    return before, [equation for equation in equations if id(equation) not in chosen]


def _piece(
    whole: Jaxpr, equations: list[Any], given: Sequence[Any], made: Sequence[Any]
) -> Callable[[dict[Any, Any]], list[Any]]:
    """Return equations as a function from values by variable to the values of `made`, compiled to one piece."""
    needed = variables([*(v for e in equations for v in e.invars), *made])
    arguments = [v for v in given if v in needed]
    effects = set().union(*(equation.effects for equation in equations))
    part = Jaxpr((), arguments, list(made), equations, effects, whole.debug_info)
    function = as_one_function(jax.extend.core.jaxpr_as_fun(ClosedJaxpr(part, ())))
    return lambda values: function(*(values[v] for v in arguments))
