"""Check the times and the slope before a solver gets them."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..bijectors import is_concrete
from ..core.errors import ModelError, OptionError


def check_times(t0: Any, times: Any) -> None:
    """Raise `OptionError` for times known now that decrease or come before `t0`, and for other shapes."""
    if np.ndim(times) != 1 or np.shape(times) == (0,) or np.ndim(t0) != 0:
        raise OptionError(
            f"ode.solve: times must have shape (n,), n at least 1, and t0 must be a number; got shapes "
            f"{np.shape(times)} and {np.shape(t0)}."
        )
    if not (is_concrete(t0) and is_concrete(times)):
        return
    whole = np.concatenate([np.reshape(t0, 1), np.asarray(times)])
    if not (np.diff(whole) >= 0).all():
        at = int(np.argmin(np.diff(whole) >= 0))
        raise OptionError(
            f"ode.solve: times[{at}] is {whole[at + 1]:g}, below the preceding {whole[at]:g}"
            f"{' (t0)' * (at == 0)}. Sort the times, and give the state at or before the first of them as y0."
        )


def check_slope(slope: Callable[..., Any], start: Any, args: Any, dtype: Any) -> None:
    """Raise `ModelError` for a slope whose shape differs from the state's."""
    found = jax.eval_shape(lambda t, y: slope(t, y, args), jax.ShapeDtypeStruct((), dtype), start)
    shapes = [jax.tree.map(lambda a: tuple(a.shape), tree) for tree in (found, start)]
    if shapes[0] != shapes[1]:
        raise ModelError(
            f"ode.solve: the slope returns shapes {shapes[0]}, but the state has shapes {shapes[1]}. Return one number "
            "for each number of the state: `jnp.stack([...])` makes an array of several."
        )
