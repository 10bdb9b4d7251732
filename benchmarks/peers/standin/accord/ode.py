"""Solve differential equations with the solvers that accord takes, from diffrax."""

from collections.abc import Callable
from typing import Any, Literal

import diffrax
import jax.numpy as jnp


def solve(
    slope: Callable[[Any, Any, Any], Any],
    y0: Any,
    t0: Any,
    times: Any,
    args: Any = None,
    *,
    method: Literal["explicit", "implicit"] = "explicit",
    rtol: float = 1e-7,
    atol: float = 1e-9,
    max_steps: int = 1000,
) -> Any:
    """Return the states at `times`; infinite where the solver gives up."""
    times = jnp.asarray(times)
    return diffrax.diffeqsolve(
        diffrax.ODETerm(slope),
        diffrax.Tsit5() if method == "explicit" else diffrax.Kvaerno5(),
        t0=t0,
        t1=times[-1],
        dt0=None,
        y0=y0,
        args=args,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
        max_steps=max_steps,
        throw=False,
    ).ys
