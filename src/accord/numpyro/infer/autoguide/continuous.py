"""Give all unknowns together one distribution over an unconstrained vector."""

import abc
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from .... import bijectors
from .... import distributions as dist
from ....core.errors import ModelError, OptionError
from ....distributions import AbstractDistribution, biject_to
from ...distributions.transforms import Transform
from ...handlers import seed, substitute
from ...primitives import get_mask, sample
from ..initialization import init_to_uniform
from .base import AutoGuide


class AutoContinuous(AutoGuide):
    """Abstract base class of guides that are a distribution of one unconstrained vector, the site `_auto_latent`.

    A subclass defines `posterior`. **Arguments**: as of `AutoGuide`.

    **Raises** `ModelError` for a model that takes a part of the entries of a plate with unknowns.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        create_plates: Callable[..., Any] | None = None,
        forward_mode_differentiation: bool = False,
    ) -> None:
        super().__init__(
            model,
            prefix=prefix,
            init_loc_fn=init_loc_fn,
            create_plates=create_plates,
            forward_mode_differentiation=forward_mode_differentiation,
        )

    @abc.abstractmethod
    def posterior(self) -> AbstractDistribution:
        """Declare the parameters, and return the distribution of the vector."""

    def found(self) -> None:
        """See `AutoGuide.found`."""
        if not self.init_locs:
            raise ModelError(
                f"{type(self).__name__}: the model has no unknowns. Use a guide without statements."
            )
        self._shapes = {name: jnp.shape(value) for name, value in self.init_locs.items()}
        self.init_latent = jnp.concatenate([jnp.ravel(v) for v in self.init_locs.values()])
        self.latent_dim = int(self.init_latent.size)
        for name, frame in self.frames.items():
            if frame.size != self.sizes[name]:
                raise ModelError(
                    f"{type(self).__name__}: the model takes {frame.size} of {self.sizes[name]} entries of the plate "
                    f"{name!r}, which has unknowns. Use `AutoNormal`, which has parameters for all entries."
                )

    def unpacked(self, latent: Any) -> dict[str, Any]:
        """Split vectors, shape `(..., latent_dim)`, into unconstrained values by name."""
        found: dict[str, Any] = {}
        start = 0
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            found[name] = jnp.reshape(latent[..., start : start + size], (*latent.shape[:-1], *shape))
            start += size
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `AutoGuide.__call__`."""
        self.begin(*args, **kwargs)
        sites, found = dict(self.unknowns()), {}
        for name, at in self.unpacked(self.sample_latent()).items():
            law = sites[name]["fn"]
            value, log_det = biject_to(law.support).forward_and_log_det(at)
            density: Any = 0.0
            if get_mask() is not False:
                extra = jnp.ndim(log_det) - (jnp.ndim(value) - law.event_dim)
                density = -jnp.sum(log_det, axis=tuple(range(-extra, 0))) if extra > 0 else -log_det
            found[name] = sample(name, dist.Delta(value, density, law.event_dim))
        return found

    def sample_latent(self, sample_shape: tuple[int, ...] = ()) -> Any:
        """Draw the vector, as a site."""
        law = self.posterior()
        law = law.expand((*sample_shape, *law.batch_shape)) if sample_shape else law
        return sample(f"_{self.prefix}_latent", law, infer={"is_auxiliary": True})

    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """See `AutoGuide.sample_posterior`."""
        draw = substitute(seed(self.sample_latent, rng_key), data=params)
        return self.constrained(self.unpacked(draw(sample_shape)))

    def get_base_dist(self) -> AbstractDistribution:
        """Return the standard normal of the vector that `get_transform` maps."""
        return dist.Normal(jnp.zeros(self.latent_dim), 1.0).to_event(1)

    def get_transform(self, params: Mapping[str, Any]) -> Transform:
        """Return the map of a standard normal vector to the fitted distribution, in unconstrained space."""
        law = substitute(self.posterior, data=params)()
        if not isinstance(law, dist.TransformedDistribution):
            raise NotImplementedError(f"{type(self).__name__} is no map of a normal vector.")
        vector = dist.constraints.real_vector
        return Transform(bijectors.Chain(tuple(law.parts)), vector, vector)

    def get_posterior(self, params: Mapping[str, Any]) -> AbstractDistribution:
        """Return the fitted distribution of the vector."""
        return substitute(self.posterior, data=params)()


def check_scale(word: str, init_scale: float) -> float:
    """Refuse a first standard deviation that is not positive.

    **Raises** `OptionError`.
    """
    if not init_scale > 0:
        raise OptionError(f"{word}: init_scale must be above 0, got {init_scale!r}.")
    return init_scale


def levels_of(quantiles: Any) -> Any:
    """Return levels with an axis for the vector."""
    return jnp.asarray(np.asarray(quantiles))[..., None]
