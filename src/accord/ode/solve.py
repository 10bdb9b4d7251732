"""Solve ordinary differential equations inside a model."""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ..bijectors import float_type, is_concrete
from ..core.errors import ModelError, OptionError
from ..core.options import checks_options, positive_count
from .sensitivities import Problem, solve_along
from .stepping import Stepping, solver_for
from .traced_slope import TracedSlope

# Default relative and absolute error of an adaptive step, by the size of a number in bytes.
_TOLERANCES = {8: (1e-7, 1e-9), 4: (1e-4, 1e-6)}


@checks_options
def solve(
    slope: Callable[[Any, Any, Any], Any],
    y0: Any,
    t0: Any,
    times: Any,
    args: Any = None,
    *,
    method: Literal["explicit", "implicit"] | Any = "explicit",
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int = 1000,
) -> Any:
    """Solve `dy/dt = slope(t, y, args)` from `y0` at `t0`, and return the states at `times`.

    Steps adapt to the error, and their number is bounded. All states are NaN if `max_steps` are not enough, a state is
    not finite, or times decrease. A run then counts and explains the position, and rejects it.

    With an explicit method, derivatives by up to 32 numbers (1024 derivatives of all states together) are solved for
    along with the states, in the same steps, or in shorter ones where the states rest. Such gradients have forward-mode
    derivatives (`jax.hessian`), but no second reverse-mode ones.

    With more numbers, an implicit method, or a slope with a `jax.custom_vjp`, gradients differentiate the steps taken;
    some steps are repeated to save memory. Such gradients have no derivatives of their own. They are wrong if the
    method is explicit and the states rest exactly, as in an equilibrium.

    **Arguments**
    - `slope`: function of time (a scalar), state and `args`; returns a pytree like the state.
    - `y0`: array or pytree of arrays; converted to floats.
    - `t0`: time of `y0`, a number.
    - `times`: shape `(n,)`, not decreasing, from `t0` on.
    - `args`: any pytree.
    - `method`: "explicit" (Tsitouras, order 5); "implicit" (Kvaerno, order 5) for stiff systems, in which some parts
      settle far sooner than others; or a diffrax solver.
    - `rtol`, `atol`: tolerances of a step, relative and absolute, in the units of the state; 1e-7 and 1e-9 in float64,
      1e-4 and 1e-6 in float32. A state that is small in its units needs a smaller `atol`.
    - `max_steps`: maximal number of steps, accepted or refused; an implicit method takes at least one to each time.

    **Returns** a pytree like the state, each array with a leading axis of `n`.

    **Raises** `OptionError` for times known now that decrease or come before `t0`; `ModelError` if `slope` does not
    return a pytree like the state, or if diffrax is not installed.

    **Source**: Kidger (2021), On Neural Differential Equations (diffrax); Dickinson & Gelinas (1976), Journal of
    Computational Physics 21, 123-143 (derivatives beside the states); Tsitouras (2011), Computers & Mathematics
    with Applications 62, 770-775; Kvaerno (2004), BIT Numerical Mathematics 44, 489-502.

    **Example**

    >>> def decay(t, amount, rate):
    ...     return -rate * amount
    >>> amounts = ode.solve(decay, 8.0, 0.0, np.array([1.0, 2.0, 3.0]), np.log(2))
    >>> print(np.round(amounts, 2))
    [4. 2. 1.]
    """
    solver = solver_for(method)
    dtype = float_type(times, t0, *filter(eqx.is_array_like, jax.tree.leaves((y0, args))))
    start = jax.tree.map(lambda a: jnp.asarray(a, dtype), y0)
    _check_times(t0, times)
    _check_slope(slope, start, args, dtype)
    usual = _TOLERANCES[dtype.itemsize]
    stepping = Stepping(
        solver,
        usual[0] if rtol is None else rtol,
        usual[1] if atol is None else atol,
        positive_count("ode.solve: max_steps", max_steps),
    )
    wanted = jnp.asarray(times, dtype)
    vector, restore = ravel_pytree(start)

    def flat_slope(t: jax.Array, y: jax.Array) -> jax.Array:
        return ravel_pytree(slope(t, restore(y), args))[0].astype(dtype)

    begin = jnp.asarray(t0, dtype)
    problem = Problem(TracedSlope.of(flat_slope, begin, vector), vector, begin, _in_order(wanted, begin))
    goes_forward = stepping.is_explicit and problem.slope.has_forward_rules
    if goes_forward and problem.depends_on_few((y0, t0)):
        states = solve_along(problem, stepping.forward)
    else:
        states = stepping.reversible(problem.slope, vector, begin, problem.times)
    return jax.vmap(restore)(jnp.where((wanted == problem.times).all(), states, jnp.nan))


def _in_order(times: jax.Array, t0: jax.Array) -> jax.Array:
    """Return the times made non-decreasing: diffrax raises for others, where a run needs NaN (`programs.callbacks`)."""
    in_order = jax.lax.cummax(jnp.maximum(times, t0))
    # Keep `times` itself: for equal times a maximum takes half of its derivative from each.
    return jnp.where(in_order == times, times, jax.lax.stop_gradient(in_order))


def _check_times(t0: Any, times: Any) -> None:
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


def _check_slope(slope: Callable[..., Any], start: Any, args: Any, dtype: Any) -> None:
    """Raise `ModelError` for a slope whose shape differs from the state's."""
    found = jax.eval_shape(lambda t, y: slope(t, y, args), jax.ShapeDtypeStruct((), dtype), start)
    shapes = [jax.tree.map(lambda a: tuple(a.shape), tree) for tree in (found, start)]
    if shapes[0] != shapes[1]:
        raise ModelError(
            f"ode.solve: the slope returns shapes {shapes[0]}, but the state has shapes {shapes[1]}. Return one number "
            "for each number of the state: `jnp.stack([...])` makes an array of several."
        )
