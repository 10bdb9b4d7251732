"""Call the handlers of a compiled Stan program from JAX, with rules for derivatives up to the second."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import ModelError

_STEP = 1e-4  # of a difference of the fourth order, as in the bridge


@dataclass(frozen=True)
class Call:
    """A model as XLA's handlers find it; equal to others of the same program and data.

    **Fields**: `prefix` of the names of handlers; `model`, its key; `name` of the program.
    """

    prefix: str
    model: int
    name: str

    def __call__(self, handler: str, *shapes: tuple[int, ...], **options: bool) -> Any:
        """Return the function of a handler, with results in float64 of these shapes; rows of arguments are apart."""
        results = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes]
        called = jax.ffi.ffi_call(f"{self.prefix}_{handler}", results, vmap_method="broadcast_all")
        return lambda *arguments: called(*arguments, model=np.int64(self.model), **options)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def value(call: Call, jacobian: bool, x: Any) -> jax.Array:
    """Evaluate the log density, with or without the log Jacobian, shape `()`, at `x` of shape `(dim,)`."""
    return call("value", (), jacobian=jacobian)(x)[0]


@value.defjvp
def _value_jvp(call: Call, jacobian: bool, primals: Any, tangents: Any) -> Any:
    found, slope = _gradient(call, jacobian, *primals)
    return found, jnp.vdot(slope, tangents[0])


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _gradient(call: Call, jacobian: bool, x: Any) -> Any:
    return tuple(call("gradient", (), x.shape, jacobian=jacobian)(x))


@_gradient.defjvp
def _gradient_jvp(call: Call, jacobian: bool, primals: Any, tangents: Any) -> Any:
    (x,), (direction,) = primals, tangents
    found, slope = _gradient(call, jacobian, x)
    held = _no_more_derivatives(call, x)

    def hessian_times(_: Any, vector: Any) -> Any:
        return call("product", x.shape, jacobian=jacobian)(held, vector)[0]

    # A Hessian is symmetric: as the solution of a symmetric system, its product is its own transpose. The system is
    # never looked at but by a third derivative, which is refused before.
    turned = jax.lax.custom_linear_solve(
        lambda q: q + 0 * held, direction, hessian_times, transpose_solve=hessian_times, symmetric=True
    )
    return (found, slope), (jnp.vdot(slope, direction), turned)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def values(call: Call, sizes: tuple[int, int], x: Any) -> jax.Array:
    """Compute parameters, transformed parameters and generated quantities at `x`, one after the other, columns first.

    **Arguments**: `sizes`, how many numbers come before generated quantities, and how many there are. Forward
    derivatives of the first are differences; those of generated quantities are NaN.
    """
    return call("values", (sizes[1],))(x)[0]


@values.defjvp
def _values_jvp(call: Call, sizes: tuple[int, int], primals: Any, tangents: Any) -> Any:
    (x,), (direction,) = primals, tangents
    length = jnp.max(jnp.abs(direction))
    step = _STEP * jnp.maximum(1.0, jnp.max(jnp.abs(x))) / jnp.where(length > 0, length, 1.0)
    held = _no_more_derivatives(call, x)
    steps, weights = jnp.array([-2.0, -1.0, 1.0, 2.0]), jnp.array([1.0, -8.0, 8.0, -1.0])
    rows = jax.vmap(lambda each: values(call, sizes, held + each * step * direction))(steps)
    moved = weights @ rows / (12 * step)
    return values(call, sizes, x), jnp.where(jnp.arange(sizes[1]) < sizes[0], moved, jnp.nan)


def unconstrained(call: Call, size: int, constrained: Any) -> jax.Array:
    """Find the unconstrained numbers of parameters, shape `(size,)`; NaN where Stan refuses these."""
    return call("unconstrained", (size,))(constrained)[0]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _no_more_derivatives(call: Call, x: Any) -> Any:
    del call
    return x


@_no_more_derivatives.defjvp
def _no_more_derivatives_jvp(call: Call, primals: Any, tangents: Any) -> Any:
    del primals, tangents
    raise ModelError(
        f"the Stan program {call.name!r} has first and second derivatives of its log density and first ones of its "
        "values, and higher ones are asked for. Use a method that needs no more."
    )
