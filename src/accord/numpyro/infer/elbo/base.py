"""Define what a bound is, and run model and guide side by side."""

import contextlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import ModelError, OptionError
from ...handlers import replay, seed, substitute, trace
from ...messages import Message, Messenger

Trace = Mapping[str, Message]
Particle = Callable[[Any], tuple[Any, Any]]


class ELBO:
    """Base class of bounds on the log evidence, by draws of the guide.

    **Arguments**: `num_particles`, draws of the guide; `vectorize_particles`, whether they are taken side by side, one
    after the other (False), or by a function like `jax.lax.map`.
    """

    def __init__(self, num_particles: int = 1, vectorize_particles: Any = True) -> None:
        if num_particles < 1:
            raise OptionError(
                f"{type(self).__name__}: num_particles must be at least 1, got {num_particles!r}."
            )
        self.num_particles, self.vectorize_particles = num_particles, vectorize_particles

    takes_discrete = False
    """Whether the programs may have discrete unknowns."""

    def begin(self, params: Mapping[str, Any], model: Any, guide: Any, args: Any, kwargs: Any) -> None:
        """Learn what is needed of the programs before the first step, while their arguments are known."""

    def loss(self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any) -> Any:
        """Return an estimate of minus the bound, with gradients for `param_map`."""
        return self.loss_with_mutable_state(rng_key, param_map, model, guide, *args, **kwargs)["loss"]

    def loss_with_mutable_state(
        self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the loss, and what the programs keep from step to step."""
        raise NotImplementedError(f"{type(self).__name__} takes no program with `mutable`.")

    def mapped(self, particle: Particle, keys: Any) -> Any:
        """Evaluate a function at each of the keys."""
        if callable(self.vectorize_particles):
            return self.vectorize_particles(particle, keys)
        return jax.vmap(particle)(keys) if self.vectorize_particles else jax.lax.map(particle, keys)

    def averaged(self, particle: Particle, rng_key: Any) -> dict[str, Any]:
        """Return minus the mean of `particle`, which maps a key to a bound and to mutable values."""
        if self.num_particles == 1:
            bound, mutable = particle(rng_key)
            return {"loss": jax.tree.map(jnp.negative, bound), "mutable_state": mutable}
        bounds, _ = self.mapped(
            lambda key: (particle(key)[0], None), jax.random.split(rng_key, self.num_particles)
        )
        return {"loss": jax.tree.map(lambda each: -jnp.mean(each), bounds), "mutable_state": None}


def both_traces(
    rng_key: Any,
    params: Mapping[str, Any],
    model: Any,
    guide: Any,
    args: Any,
    kwargs: Any,
    around_guide: Messenger | None = None,
    is_summed: bool = False,
) -> tuple[Trace, Trace, dict[str, Any]]:
    """Run the guide, and the model at its draws; return the traces of model and guide, and mutable values.

    **Arguments**: `around_guide`, a handler that sees each draw of the guide before others do; `is_summed`, whether
    discrete unknowns that the guide lacks are summed out.

    **Raises** `ModelError` where an unknown of the guide is not one of the model.
    """
    of_model, of_guide = jax.random.split(rng_key)
    with contextlib.nullcontext() if around_guide is None else around_guide:
        guide_trace = trace(substitute(seed(guide, of_guide), data=params)).get_trace(*args, **kwargs)
    mutable = _mutable(guide_trace)
    at = substitute(replay(seed(model, of_model), trace=guide_trace), data={**params, **mutable})
    model_trace = trace(at).get_trace(*args, **kwargs)
    check_match(model_trace, guide_trace, is_summed)
    return model_trace, guide_trace, mutable | _mutable(model_trace)


def check_match(model_trace: Trace, guide_trace: Trace, is_summed: bool = False) -> None:
    """Refuse unknowns of the guide that the model lacks; warn of those of the model that the guide lacks."""
    ours, theirs = _drawn(model_trace), _drawn(guide_trace)
    for name, site in guide_trace.items():
        is_extra = site["type"] == "sample" and name not in model_trace and not site["is_observed"]
        if is_extra and not site["infer"].get("is_auxiliary"):
            raise ModelError(
                f"the guide draws {name!r}, and the model has no such site. If it only helps other sites, give it "
                '`infer={"is_auxiliary": True}`.'
            )
    lacking = [
        name
        for name, site in ours.items()
        if name not in theirs
        and not site["infer"].get("is_auxiliary")
        and not (is_summed and site["fn"].is_discrete)
    ]
    if lacking:
        warnings.warn(
            f"the guide does not draw {', '.join(map(repr, lacking))}, which are drawn from their priors.",
            stacklevel=2,
        )


def _drawn(sites: Trace) -> dict[str, Message]:
    return {n: s for n, s in sites.items() if s["type"] == "sample" and not s["is_observed"]}


def _mutable(sites: Trace) -> dict[str, Any]:
    return {name: site["value"] for name, site in sites.items() if site["type"] == "mutable"}
