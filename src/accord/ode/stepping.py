"""Choose a diffrax solver and take its steps; diffrax is imported at first use."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..core.errors import ModelError, OptionError
from .sensitivities import Norm
from .traced_slope import Slope


@dataclass(frozen=True)
class Stepping:
    """Solver, tolerances and maximal number of steps.

    **Fields**: `solver`, from diffrax; `rtol` and `atol` of a step; `max_steps`. Slopes are pytrees whose leaves are
    all that they depend on.
    """

    solver: Any
    rtol: float
    atol: float
    max_steps: int

    @property
    def is_explicit(self) -> bool:
        """Return whether the method is explicit: no equation system is solved in a step."""
        return isinstance(self.solver, diffrax_module().AbstractERK)

    def forward(self, slope: Slope, y0: jax.Array, t0: jax.Array, times: jax.Array, norm: Norm) -> jax.Array:
        """Return the states at `times`, all NaN where the solver gives up; forward-mode derivatives only."""
        diffrax = diffrax_module()
        return self._states(slope, y0, t0, times, diffrax.ForwardMode(), {"norm": norm})

    def reversible(self, slope: Slope, y0: jax.Array, t0: jax.Array, times: jax.Array) -> jax.Array:
        """Return the states like `forward`, with reverse-mode derivatives only: some steps are taken again."""
        return self._states(slope, y0, t0, times, diffrax_module().RecursiveCheckpointAdjoint(), {})

    def _states(
        self,
        slope: Slope,
        y0: jax.Array,
        t0: jax.Array,
        times: jax.Array,
        adjoint: Any,
        norm: dict[str, Norm],
    ) -> jax.Array:
        diffrax = diffrax_module()
        control = diffrax.PIDController(self.rtol, self.atol, **norm)
        if isinstance(self.solver, diffrax.AbstractImplicitSolver):
            # The interpolant of a stiff system is far less accurate between steps than at their ends.
            control = diffrax.ClipStepSizeController(control, step_ts=times)
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(_slope),
            self.solver,
            t0=t0,
            t1=times[-1],
            dt0=None,
            y0=y0,
            args=slope,
            saveat=diffrax.SaveAt(ts=times),
            stepsize_controller=control,
            max_steps=self.max_steps,
            throw=False,
            adjoint=adjoint,
        )
        return jnp.where(solution.result == diffrax.RESULTS.successful, solution.ys, jnp.nan)


def _slope(t: jax.Array, y: jax.Array, slope: Slope) -> jax.Array:
    """Evaluate a slope given as an argument: diffrax caches its traces by function, so this one never changes."""
    return slope(t, y)


def diffrax_module() -> Any:
    """Import diffrax, or raise `ModelError` where it is not installed."""
    try:
        import diffrax
    except ImportError as error:
        raise ModelError('ode.solve needs diffrax: `pip install "accord[ode]"` installs it.') from error
    return diffrax


def solver_for(method: Any) -> Any:
    """Return the diffrax solver by name or as given. **Raises** `OptionError` for anything else."""
    diffrax = diffrax_module()
    if isinstance(method, diffrax.AbstractSolver):
        return method
    match method:
        case "explicit":
            return diffrax.Tsit5()
        case "implicit":
            return diffrax.Kvaerno5()
    raise OptionError(
        f"ode.solve: method must be 'explicit', 'implicit' or a diffrax solver, got {method!r}."
    )
