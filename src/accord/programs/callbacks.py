"""Find the Python callbacks of a traced model, and remove those that only raise.

Equinox lets a program raise by a callback in a rarely taken branch; diffrax does so for times out of order. In a run,
such an exception would end the chain, and the callback would keep the program off the disk cache. The run should count
the position, explain it and go on. So such a branch returns NaN instead, as with `EQX_ON_ERROR=nan`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from ..core.errors import OptionError
from ..core.precision import Precision
from ..core.traced import equations
from ..executors import gather


def check_callbacks(jaxpr: Any, precision: Precision) -> None:
    """Raise `OptionError` if a callback of the model would get float32 numbers in a float64 run.

    JAX may call it in its own thread, where scopes have no effect and the setting of the process holds.
    """
    if precision != "float64" or not any(is_callback(each) for each in equations(jaxpr)):
        return
    (is_wide,) = gather([lambda: jax.dtypes.canonicalize_dtype(np.float64) == np.float64])
    if not is_wide:
        raise OptionError(
            "the model calls Python while it runs (jax.pure_callback or the like). JAX may do so in its own threads, "
            "which would pass float32 numbers in this float64 run. Set JAX_ENABLE_X64=1 before Python starts, "
            "or jax.config.update('jax_enable_x64', True), or use executor=infer.Processes(), or precision='float32'."
        )


def without_raising(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with NaN (0 for other types than floats) instead of callbacks that raise."""
    if not any(_raises(each) for each in equations(closed.jaxpr)):
        return closed
    return _changed(closed)


def _changed(part: Any) -> Any:
    """Apply the change to a part of a traced program, and to everything in it."""
    if isinstance(part, ClosedJaxpr):
        return part.replace(jaxpr=_changed(part.jaxpr))
    if isinstance(part, Jaxpr):
        return part.replace(eqns=[_changed_equation(each) for each in part.eqns])
    if isinstance(part, tuple | list):
        return type(part)(_changed(each) for each in part) if _has_program(part) else part
    return part


def _has_program(parts: Any) -> bool:
    return any(isinstance(each, ClosedJaxpr | Jaxpr) for each in parts)


def _changed_equation(equation: Any) -> Any:
    if _raises(equation):
        shapes = [variable.aval for variable in equation.outvars]
        (filled,) = jax.make_jaxpr(jax.jit(lambda: [_nothing(shape) for shape in shapes]))().eqns
        return filled.replace(outvars=equation.outvars)
    return equation.replace(params={name: _changed(value) for name, value in equation.params.items()})


def _nothing(shape: Any) -> jax.Array:
    is_float = jnp.issubdtype(shape.dtype, jnp.inexact)
    return jnp.full(shape.shape, jnp.nan if is_float else 0, shape.dtype)


def is_callback(equation: Any) -> bool:
    """Return whether an equation calls Python while the program runs."""
    return "callback" in equation.primitive.name


def _raises(equation: Any) -> bool:
    """Return whether this is a callback by which Equinox raises."""
    if equation.primitive.name != "pure_callback":
        return False
    function = getattr(equation.params["callback"], "callback_func", None)
    return getattr(function, "__module__", "") == "equinox._errors"
