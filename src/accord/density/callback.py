"""Evaluate a log density and its gradient by a Python function of NumPy arrays, called back from compiled programs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.tree_util as jtu
import numpy as np

from ..core.errors import DataError, ModelError
from .shown import named_leaves

WORD = "from_callback"


@dataclass(frozen=True, eq=False)
class Callback:
    """A function of NumPy arrays as one that JAX traces, with first derivatives.

    **Fields**: `function`, from a tree of arrays to `(log density, gradient)`; `names` of its leaves, and the
    `structure` of the tree.
    """

    function: Callable[[Any], Any]
    names: tuple[str, ...]
    structure: Any

    @staticmethod
    def of(function: Callable[[Any], Any], example: Any) -> "Callback":
        """Call the function once, at the example, to check what it returns. Raises `DataError` if that does not fit."""
        leaves, structure = named_leaves(WORD, example)
        found = Callback(function, tuple(leaves), structure)
        found.on_host(*(np.asarray(leaf, float) for leaf in jax.tree.leaves(example)))
        return found

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, tree: Any) -> jax.Array:
        """Evaluate the log density, shape `()`."""
        return _value(self, tuple(jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)))

    def on_host(self, *leaves: Any) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Call the function, and check what it returns. JAX calls this, in a thread of its own at times."""
        arrays = [np.array(leaf) for leaf in leaves]
        found = self.function(jtu.tree_unflatten(self.structure, arrays))
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise DataError(
                f"{WORD}: {self.__name__!r} returns a pair, the log density and its gradient; it returned "
                f"{_short(found)}."
            )
        value, gradient = np.asarray(found[0]), found[1]
        if value.shape != () or value.dtype.kind not in "fiu":
            raise DataError(
                f"{WORD}: the log density that {self.__name__!r} returned is {_short(found[0])}, not one real number."
            )
        slopes, structure = jtu.tree_flatten(gradient)
        if structure != self.structure:
            raise DataError(
                f"{WORD}: the gradient that {self.__name__!r} returned is the tree {structure}, and the position is "
                f"{self.structure}. Return one array for each of {', '.join(map(repr, self.names))}, in the same tree."
            )
        dtype = arrays[0].dtype
        return value.astype(dtype), tuple(map(self._slope, self.names, slopes, arrays))

    def _slope(self, name: str, slope: Any, at: np.ndarray) -> np.ndarray:
        found = np.asarray(slope)
        if found.shape != at.shape or found.dtype.kind not in "fiu":
            raise DataError(
                f"{WORD}: the gradient by {name!r} that {self.__name__!r} returned has shape {found.shape} and dtype "
                f"{found.dtype}; it needs real numbers of shape {at.shape}."
            )
        return found.astype(at.dtype)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _value(callback: Callback, leaves: tuple[jax.Array, ...]) -> jax.Array:
    return _both(callback, leaves)[0]


@_value.defjvp
def _value_jvp(callback: Callback, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    value, slopes = _both(callback, primals[0])
    moved = [jnp.vdot(slope, tangent) for slope, tangent in zip(slopes, tangents[0], strict=True)]
    return value, sum(moved[1:], start=moved[0])


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _both(callback: Callback, leaves: tuple[jax.Array, ...]) -> Any:
    slopes = tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves)
    shapes = jax.ShapeDtypeStruct((), leaves[0].dtype), slopes
    return jax.pure_callback(callback.on_host, shapes, *leaves, vmap_method="sequential")


@_both.defjvp
def _both_jvp(callback: Callback, primals: Any, tangents: Any) -> Any:
    del primals, tangents
    raise ModelError(
        f"the log density {callback.__name__!r} is a callback, which gives first derivatives alone, and second ones "
        "are asked for. Write it in JAX, and use `LogDensity.from_function`; or use a method that needs no more than "
        "gradients, such as `infer.sample`."
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}..."
