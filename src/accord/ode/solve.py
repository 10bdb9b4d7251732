"""Solve ordinary differential equations inside of a model, by diffrax, which is imported when it is first used."""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from .bijectors import float_type, is_concrete
from .core.errors import ModelError, OptionError
from .core.options import checks_options, positive_count

__all__ = ["solve"]

# By the size of a number in bytes: what an adaptive step may be wrong by, relative and absolute.
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
    """The state at `times` of the system that is `y0` at `t0` and moves as `dy/dt = slope(t, y, args)`.

    Steps adapt to the error. The work is bounded: where `max_steps` are not enough, or a state is not finite, or times
    decrease, all states are NaN, so that a run counts and explains the place, and leaves it. Gradients are those of the
    steps taken, with some of them computed again to spare memory.

    **Arguments**
    - `slope`: function of time, a scalar, state, and `args`; returns what a state looks like. What depends on sites of
      the model comes by `args`.
    - `y0`: array or pytree of arrays; converted to floats.
    - `t0`: time of `y0`, a number.
    - `times`: shape `(n,)`, not decreasing, from `t0` on.
    - `args`: any pytree.
    - `method`: "explicit" (Tsitouras, order 5); "implicit" (Kvaerno, order 5) for stiff systems, of which some parts
      settle far sooner than others; or a solver of diffrax.
    - `rtol`, `atol`: tolerances of a step, relative and absolute, in the units of the state; 1e-7 and 1e-9 in float64,
      1e-4 and 1e-6 in float32. A state that is small in its units needs a smaller `atol`.
    - `max_steps`: at most so many, taken or refused; an implicit method takes one to each time at least.

    **Returns** what a state looks like, each array with a leading axis of `n`.

    **Raises** `OptionError` for times known now that decrease or come before `t0`; `ModelError` where `slope` does not
    return what a state looks like, and where diffrax is not installed.

    **Source**: Kidger (2021), On Neural Differential Equations (diffrax); Tsitouras (2011), Computers & Mathematics
    with Applications 62, 770-775; Kvaerno (2004), BIT Numerical Mathematics 44, 489-502.

    **Example**

    >>> def decay(t, amount, rate):
    ...     return -rate * amount
    >>> amounts = ode.solve(decay, 8.0, 0.0, np.array([1.0, 2.0, 3.0]), np.log(2))
    >>> print(np.round(amounts, 2))
    [4. 2. 1.]
    """
    diffrax = _diffrax()
    dtype = float_type(times, t0, *jax.tree.leaves((y0, args)))
    start = jax.tree.map(lambda a: jnp.asarray(a, dtype), y0)
    _check_times(t0, times)
    _check_slope(slope, start, args, dtype)
    wanted = jnp.asarray(times, dtype)
    t0 = jnp.asarray(t0, dtype)
    # diffrax raises for times out of order, where a run wants NaN (`drivers.callbacks`).
    sorted_times = jax.lax.cummax(jnp.maximum(wanted, t0))
    solver, usual = _solver(diffrax, method), _TOLERANCES[dtype.itemsize]
    control = diffrax.PIDController(
        rtol=usual[0] if rtol is None else rtol, atol=usual[1] if atol is None else atol
    )
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        # Between two steps the interpolant of a stiff system is far less accurate than at their ends.
        control = diffrax.ClipStepSizeController(control, step_ts=sorted_times)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(slope),
        solver,
        t0=t0,
        t1=sorted_times[-1],
        dt0=None,
        y0=start,
        args=args,
        saveat=diffrax.SaveAt(ts=sorted_times),
        stepsize_controller=control,
        max_steps=positive_count("ode.solve: max_steps", max_steps),
        throw=False,
    )
    is_good = (solution.result == diffrax.RESULTS.successful) & (wanted == sorted_times).all()
    return jax.tree.map(lambda a: jnp.where(is_good, a, jnp.nan), solution.ys)


def _diffrax() -> Any:
    try:
        import diffrax
    except ImportError as error:
        raise ModelError('ode.solve needs diffrax: `pip install "accord[ode]"` installs it.') from error
    return diffrax


def _solver(diffrax: Any, method: Any) -> Any:
    if isinstance(method, diffrax.AbstractSolver):
        return method
    match method:
        case "explicit":
            return diffrax.Tsit5()
        case "implicit":
            return diffrax.Kvaerno5()
    raise OptionError(
        f"ode.solve: method must be 'explicit', 'implicit' or a solver of diffrax, got {method!r}."
    )


def _check_times(t0: Any, times: Any) -> None:
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
            f"ode.solve: times[{at}] is {whole[at + 1]:g} and comes after {whole[at]:g}"
            f"{' (t0)' * (at == 0)}. Sort the times, and give the state at or before the first of them as y0."
        )


def _check_slope(slope: Callable[..., Any], start: Any, args: Any, dtype: Any) -> None:
    found = jax.eval_shape(slope, jax.ShapeDtypeStruct((), dtype), start, args)
    shapes = [jax.tree.map(lambda a: tuple(a.shape), tree) for tree in (found, start)]
    if shapes[0] != shapes[1]:
        raise ModelError(
            f"ode.solve: the slope returns {shapes[0]} where the state is {shapes[1]} (shapes). Return one number for "
            "each of the state: `jnp.stack([...])` makes an array of several."
        )
