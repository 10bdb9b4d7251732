"""Define the parts of a module: arrays by path, and how others are put in their place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import OptionError


@dataclass(frozen=True)
class Parts:
    """A module that is taken apart.

    **Fields**
    - `arrays`: of its parameters, by path; `jax.ShapeDtypeStruct` where only shapes are known.
    - `rebuild`: from other arrays by the same paths to a module.
    """

    arrays: Mapping[str, Any]
    rebuild: Callable[[Mapping[str, Any]], Any]


def path_of(keys: tuple[Any, ...]) -> str:
    """Write a path in Python's words: `layers[0].weight`, of JAX's keys or of plain names and numbers."""
    words = ""
    for key in keys:
        key = getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))
        if isinstance(key, str) and key.isidentifier():
            words += f".{key}" if words else key
        else:
            words += f"[{key!r}]"
    return words


def check_real(where: str, path: str, array: Any) -> None:
    """Refuse a parameter that is complex, for which there is no prior."""
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise OptionError(
            f"{where}: {path!r} is {array.dtype}, and distributions are of real numbers. Keep real and imaginary "
            "part as two arrays."
        )


def in_precision(value: Any) -> Any:
    """Convert a floating-point array to the precision in which the model runs."""
    if not isinstance(value, (jax.Array, np.ndarray, np.generic)):
        return value
    if jnp.issubdtype(value.dtype, jnp.floating):
        return jnp.asarray(value, jnp.result_type(float))
    return jnp.asarray(value, jnp.result_type(complex)) if np.iscomplexobj(value) else value
