"""Move points towards a posterior by Stein variational gradient descent."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

from ....core.errors import OptionError
from ...infer.autoguide import AutoDelta
from ...names.refusal import refusal as _refusal
from .stein_kernels import SteinKernel
from .steinvi import SteinVI, SteinVIState

__getattr__ = _refusal("numpyro.contrib.einstein")


class SVGD(SteinVI):
    """Points that follow the log density of a model and push each other apart.

    **Arguments**: as of `SteinVI`; `guide_kwargs`, options of the `AutoDelta` that holds the points.

    The density is that of unconstrained numbers, Jacobian included. NumPyro 0.22 leaves the Jacobian out, so that its
    points of constrained sites approximate another distribution.

    **Source**: Liu & Wang (2016), "Stein variational gradient descent", NeurIPS.
    """

    is_of_points = True

    def __init__(
        self,
        model: Callable[..., Any],
        optim: Any,
        kernel_fn: SteinKernel,
        num_stein_particles: int = 10,
        guide_kwargs: Mapping[str, Any] | None = None,
        **static_kwargs: Any,
    ) -> None:
        super().__init__(
            model,
            AutoDelta(model, **dict(guide_kwargs or {})),
            optim,
            kernel_fn,
            num_stein_particles,
            num_elbo_particles=1,
            loss_temperature=1.0 / num_stein_particles,
            **static_kwargs,
        )


class ASVGDState(NamedTuple):
    """State of a fit: steps so far, of how many, in how many cycles, how fast; and that of `SteinVI`."""

    step_count: Any
    num_steps: Any
    num_cycles: Any
    transition_speed: Any
    steinvi_state: SteinVIState


class ASVGD(SVGD):
    """`SVGD` in cycles that begin without the model, so that points first spread out.

    **Arguments**: as of `SVGD`; `num_cycles`; `transition_speed`, the power of the share of a cycle that is over.

    **Source**: D'Angelo & Fortuin (2021), "Annealed Stein variational gradient descent", AABI, eq. 4.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        optim: Any,
        kernel_fn: SteinKernel,
        num_stein_particles: int = 10,
        num_cycles: int = 10,
        transition_speed: int = 10,
        guide_kwargs: Mapping[str, Any] | None = None,
        **static_kwargs: Any,
    ) -> None:
        if num_cycles < 1 or transition_speed <= 0:
            raise OptionError(
                f"ASVGD: num_cycles must be at least 1 and transition_speed above 0, got {num_cycles} and "
                f"{transition_speed}."
            )
        self.num_cycles, self.transition_speed = num_cycles, transition_speed
        super().__init__(model, optim, kernel_fn, num_stein_particles, guide_kwargs, **static_kwargs)

    def init(self, rng_key: Any, num_steps: int, *args: Any, **kwargs: Any) -> ASVGDState:
        """See `SteinVI.init`; `num_steps` are divided into cycles."""
        begun = super().init(rng_key, *args, **kwargs)
        return ASVGDState(0.0, float(num_steps), float(self.num_cycles), float(self.transition_speed), begun)

    def get_params(self, state: ASVGDState) -> dict[str, Any]:
        """See `SteinVI.get_params`."""
        return super().get_params(state.steinvi_state)

    def update(self, state: ASVGDState, *args: Any, **kwargs: Any) -> tuple[ASVGDState, Any]:
        """See `SteinVI.update`; the weight of the model is that of the step in its cycle."""
        weight = self.loss_temperature * _share(*state[:4])
        inner = state.steinvi_state._replace(loss_temperature=weight)
        inner, force = super().update(inner, *args, **kwargs)
        return state._replace(step_count=state.step_count + 1, steinvi_state=inner), force

    def evaluate(self, state: ASVGDState, *args: Any, **kwargs: Any) -> Any:
        """See `SteinVI.evaluate`."""
        return super().evaluate(state.steinvi_state, *args, **kwargs)

    def _begun(self, rng_key: Any, num_steps: int, args: Any, kwargs: Any) -> Any:
        return self.init(rng_key, num_steps, *args, **kwargs)


def _share(done: Any, count: Any, cycles: Any, speed: Any) -> Any:
    """Return the weight of the model at a step, 1 in the last cycle."""
    length = jnp.maximum(count // cycles, 1.0)
    is_last = done >= (cycles - 1) * length
    share = ((done % length) + 1) * cycles / (count + 1)
    return jnp.where(is_last, 1.0, jnp.minimum(share, 1.0) ** speed)
