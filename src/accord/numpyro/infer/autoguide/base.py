"""Define what a guide made from a model is: it runs the model once, and learns its sites and where to begin."""

import abc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import ModelError
from ...compiled import compiled
from ...handlers import block, seed
from ...messages import CondIndepStackFrame, Message
from ...plates import plate
from ...prng import prng_key
from ..densities import constrain_fn
from ..initialization import init_to_uniform
from ..initialize import initialize_model


class AutoGuide(abc.ABC):
    """Abstract base class of guides made from a model.

    **Arguments**
    - `model`: a program.
    - `prefix`: part of the names of parameters.
    - `init_loc_fn`: where to begin, of `infer.initialization`.
    - `create_plates`: a function of the model's arguments that returns plates of which the model takes parts.
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
        self.model, self.prefix = model, prefix
        self.init_loc_fn, self.create_plates = init_loc_fn, create_plates
        self.forward_mode_differentiation = forward_mode_differentiation
        self.prototype_trace: Mapping[str, Message] | None = None

    @abc.abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Draw the unknowns, as sites; return them by name."""

    @abc.abstractmethod
    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return draws of the fitted guide by name, shape `(*sample_shape, *site)`, with deterministic sites."""

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the median of each unknown."""
        raise NotImplementedError(
            f"{type(self).__name__} has no medians in closed form. Take those of draws."
        )

    def quantiles(self, params: Mapping[str, Any], quantiles: Any) -> dict[str, Any]:
        """Return quantiles of each unknown, with a first axis of quantiles."""
        raise NotImplementedError(
            f"{type(self).__name__} has no quantiles in closed form. Take those of draws."
        )

    def begin(self, *args: Any, **kwargs: Any) -> None:
        """Run the model once, unless it has been: find its sites, and values to begin from."""
        if self.prototype_trace is not None:
            return
        key = prng_key()
        if key is None:
            raise ModelError(f"{type(self).__name__} was called without a random key. Fit it by `SVI`.")
        with block():
            info = initialize_model(
                key,
                self.model,
                init_strategy=self.init_loc_fn,
                model_args=args,
                model_kwargs=kwargs,
                forward_mode_differentiation=self.forward_mode_differentiation,
            )
        self.init_locs: dict[str, Any] = dict(info.param_info.z)
        self.potential_fn = info.potential_fn
        self._arguments = args, kwargs
        frames: dict[str, CondIndepStackFrame] = {}
        self.sizes = {n: s["args"][0] for n, s in info.model_trace.items() if s["type"] == "plate"}
        for name, site in self.unknowns(info.model_trace):
            for frame in site["cond_indep_stack"]:
                if frames.setdefault(frame.name, frame) != frame:
                    raise ModelError(
                        f"the plate {frame.name!r} has another dim or size at site {name!r} than before. Enter it with "
                        "the same `dim` everywhere."
                    )
        self.frames = frames
        self.prototype_trace = info.model_trace
        with block():
            self.found()

    def found(self) -> None:  # noqa: B027 - most need nothing else
        """Learn what else is needed of the model, once it has been run."""

    def unknowns(self, sites: Mapping[str, Message] | None = None) -> Iterator[tuple[str, Message]]:
        """List the unknowns of the model."""
        every = self.prototype_trace if sites is None else sites
        for name, site in (every or {}).items():
            if site["type"] == "sample" and not site["is_observed"]:
                yield name, site

    def plates(self, *args: Any, **kwargs: Any) -> dict[str, plate]:
        """Return the plates of the model, for a run of the guide."""
        made = [] if self.create_plates is None else self.create_plates(*args, **kwargs)
        found = {each.name: each for each in ([made] if isinstance(made, plate) else made)}
        for name, frame in sorted(self.frames.items()):
            if name not in found:
                found[name] = plate(name, self.sizes[name], dim=frame.dim, subsample_size=frame.size)
        return found

    def whole(self, name: str, site: Message, event_dim: int) -> Any:
        """Return where a site begins, with all entries of plates of which the model takes a part."""
        value = self.init_locs[name]
        for frame in site["cond_indep_stack"]:
            size = self.sizes[frame.name]
            if size != frame.size:
                axis = frame.dim - event_dim
                count = -(-size // value.shape[axis])
                value = jnp.repeat(value, count, axis=axis)
                value = jax.lax.slice_in_dim(value, 0, size, axis=axis)
        return value

    def constrained(self, latent: Mapping[str, Any]) -> dict[str, Any]:
        """Map unconstrained values, with any first axes of draws, to those of sites, deterministic ones included."""
        args, kwargs = self._arguments
        seeded = seed(self.model, jax.random.key(0))

        def one(z: Mapping[str, Any]) -> dict[str, Any]:
            return constrain_fn(seeded, args, kwargs, z, return_deterministic=True)

        name = next(iter(self.init_locs))
        count = jnp.ndim(latent[name]) - jnp.ndim(self.init_locs[name])
        function: Callable[..., Any] = one
        for _ in range(count):
            function = jax.vmap(function)
        return compiled(function)(dict(latent))
