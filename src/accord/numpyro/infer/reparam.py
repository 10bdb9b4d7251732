"""Sample sites by way of other variables, by NumPyro's names, for `handlers.reparam`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ... import bijectors
from ... import distributions as dist
from ...core.errors import OptionError, SiteError
from ...distributions import AbstractDistribution
from ..distributions.transforms import bijector_of
from ..names.refusal import refusal as _refusal
from ..primitives import factor, param, sample
from .reparam_base import Reparam, Way

_REAL_VECTOR = dist.constraints.real_vector


class LocScaleReparam(Reparam):
    """Draw a variable around a part of its location, with a part of its scale.

    **Arguments**: `centered`, in [0, 1]: 0 is the standard form, 1 the distribution itself, None a parameter
    `{name}_centered` that `SVI` fits, 0.5 elsewhere. `shape_params`, names of parameters that stay.
    """

    def __init__(self, centered: Any = None, shape_params: Sequence[str] = ()) -> None:
        if centered is not None and isinstance(centered, int | float) and not 0 <= centered <= 1:
            raise OptionError(f"LocScaleReparam: centered must be in [0, 1], got {centered!r}.")
        self.centered, self.shape_params = centered, tuple(shape_params)

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        law, wrap = _unwrapped(fn)
        centered = self.centered
        if isinstance(centered, int | float) and centered == 1:
            return fn, None
        loc, scale = _field(name, law, "loc"), _field(name, law, "scale")
        if centered is None:
            shape = jnp.broadcast_shapes(fn.batch_shape, ()) + fn.event_shape
            centered = param(
                f"{name}_centered", jnp.full(shape, 0.5), constraint=dist.constraints.unit_interval
            )
        rest = {each: getattr(law, each) for each in self.shape_params}
        decentred = type(law)(loc=loc * centered, scale=scale**centered, **rest)
        at = sample(f"{name}_decentered", wrap(decentred))
        return None, loc + scale ** (1 - centered) * (at - centered * loc)


class TransformReparam(Reparam):
    """Draw the variable before the transforms of a `TransformedDistribution`, as `{name}_base`."""

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        law, wrap = _unwrapped(fn)
        parts: list[Any] = []
        while isinstance(law, dist.TransformedDistribution):
            parts = [*law.parts, *parts]
            law = law.base_distribution
        if not parts:
            raise SiteError(
                f"TransformReparam: site {name!r} is {type(law).__name__}, and no TransformedDistribution."
            )
        value = sample(f"{name}_base", wrap(law))
        for part in parts:
            value = part.forward(value)
        return None, value


class ExplicitReparam(Reparam):
    """Draw a variable through a map of yours, as `{name}_base`, which is `transform` of the site."""

    def __init__(self, transform: Any) -> None:
        self.transform = bijector_of(transform)
        last = transform[-1] if isinstance(transform, Sequence) else transform
        self.support = getattr(last, "codomain", None)

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        law = dist.TransformedDistribution(fn, self.transform, support=self.support)
        at = sample(f"{name}_base", law)
        return None, self.transform.inverse(at)


class ProjectedNormalReparam(Reparam):
    """Draw a standard normal vector, `{name}_normal`, of which a `ProjectedNormal` is the direction once shifted."""

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        law, wrap = _unwrapped(fn)
        if not isinstance(law, dist.ProjectedNormal):
            raise SiteError(f"ProjectedNormalReparam: site {name!r} is {type(law).__name__}.")
        standard = dist.Normal(jnp.zeros_like(law.concentration), 1.0).to_event(1)
        normal = sample(f"{name}_normal", wrap(standard)) + law.concentration
        return None, normal / jnp.linalg.norm(normal, axis=-1, keepdims=True)


class CircularReparam(Reparam):
    """Draw a circular variable as a real number, `{name}_unwrapped`, that is taken modulo 2 pi."""

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        real = dist.ImproperUniform(dist.constraints.real, tuple(fn.batch_shape), tuple(fn.event_shape))
        turned = sample(f"{name}_unwrapped", real)
        value = jnp.remainder(turned + math.pi, 2 * math.pi) - math.pi
        factor(f"{name}_factor", fn.log_prob(value))
        return None, value


class UnitJacobianReparam(Reparam):
    """Draw a variable through a map that keeps volumes, as `{name}_{suffix}`.

    **Arguments**: `transform`, of events of one axis; `suffix`, of the auxiliary site.
    """

    def __init__(self, transform: Any, suffix: str = "transformed") -> None:
        self.transform, self.suffix = bijector_of(transform), suffix

    def __call__(self, name: str, fn: AbstractDistribution, obs: Any) -> Way:
        _refuse_observed(name, obs)
        # The map is of unconstrained numbers.
        onto = dist.biject_to(fn.support)
        through = bijectors.Chain((bijectors.Inverse(onto), self.transform))
        missing = max(self.transform.domain_event_dim - fn.event_dim, 0)
        over = fn.to_event(missing) if missing else fn
        at = sample(
            f"{name}_{self.suffix}", dist.TransformedDistribution(over, through, support=_REAL_VECTOR)
        )
        return None, through.inverse(at)


class DiscreteCosineReparam(UnitJacobianReparam):
    """Draw a series by its discrete cosine transform along axis `dim`, as `{name}_dct`."""

    def __init__(self, dim: int = -1, smooth: float = 0.0) -> None:
        if smooth:
            raise OptionError(
                "DiscreteCosineReparam: `smooth` is not offered. Leave it out: it changes no posterior."
            )
        super().__init__(bijectors.DiscreteCosine(dim), "dct")


class HaarReparam(UnitJacobianReparam):
    """Draw a series by its Haar wavelets along axis `dim`, as `{name}_haar`."""

    def __init__(self, dim: int = -1, flip: bool = False) -> None:
        super().__init__(bijectors.Haar(dim, flip), "haar")


def __getattr__(name: str) -> Any:
    if name == "NeuTraReparam":
        from .neutra import NeuTraReparam

        return NeuTraReparam
    return _refuse(name)


_refuse = _refusal("numpyro.infer.reparam")


def _refuse_observed(name: str, obs: Any) -> None:
    if obs is not None:
        raise SiteError(
            f"handlers.reparam: site {name!r} is observed, and only unknowns are drawn by way of others."
        )


def _unwrapped(
    fn: AbstractDistribution,
) -> tuple[Any, Callable[[AbstractDistribution], AbstractDistribution]]:
    """Return the distribution inside of batch and event shapes, and a function that puts these around another."""
    law: Any = fn
    batch, events = tuple(fn.batch_shape), 0
    while isinstance(law, dist.ExpandedDistribution | dist.Independent):
        events += law.count if isinstance(law, dist.Independent) else 0
        law = law.base

    def wrap(other: AbstractDistribution) -> AbstractDistribution:
        over = other.to_event(events) if events and len(other.batch_shape) >= events else other
        return over.expand(batch) if tuple(over.batch_shape) != batch else over

    return law, wrap


def _field(name: str, law: Any, field: str) -> Any:
    value = getattr(law, field, None)
    if value is None:
        raise SiteError(
            f"LocScaleReparam: site {name!r} is {type(law).__name__}, which has no {field!r}. Give a distribution with "
            "loc and scale, or use TransformReparam."
        )
    return value
