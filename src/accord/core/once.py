"""Trace a function once for all programs that call it with arguments of the same shapes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .needed import only


class TracedOnce:
    """A pure function of trees of arrays, traced at its first call with arguments of these shapes.

    Later calls, inside of whatever transformation, repeat the operations that its results need. That is quicker than to
    run the Python code of a model again.
    """

    def __init__(
        self, function: Callable[..., Any], arranged: Callable[[ClosedJaxpr], ClosedJaxpr] | None = None
    ) -> None:
        """Keep the function; `arranged` writes what was traced in another way."""
        self._function = function
        self._arranged = arranged
        self._known: dict[Any, tuple[ClosedJaxpr, Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Evaluate the function."""
        leaves, tree = jax.tree.flatten(arguments)
        shapes = [(jnp.shape(leaf), jnp.result_type(leaf)) for leaf in leaves]
        key = (tree, tuple(shapes), jnp.result_type(float))
        if key not in self._known:
            like = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
            closed, results = jax.make_jaxpr(self._function, return_shape=True)(*like)
            if any(isinstance(constant, Tracer) for constant in closed.consts):
                return self._function(*arguments)  # it holds values of a transformation around it
            part = only(closed, [True] * len(closed.jaxpr.outvars), keeps_effects=True)
            if self._arranged is not None:
                part = self._arranged(part)
            self._known[key] = part, jax.tree.structure(results)
        closed, structure = self._known[key]
        return jax.tree.unflatten(structure, jaxpr_as_fun(closed)(*leaves))
