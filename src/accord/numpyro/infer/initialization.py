"""Choose values of sites to begin from, by NumPyro's names; called without a site, each returns itself with options."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ... import infer
from ...core.errors import DistributionError, OptionError
from ...distributions import biject_to
from ..messages import Message

Strategy = Callable[..., Any]


def init_to_uniform(site: Message | None = None, radius: float = 2) -> Any:
    """Begin at unconstrained numbers that are uniform in (-radius, radius)."""
    if site is None:
        return functools.partial(init_to_uniform, radius=radius)
    if not _is_drawn(site):
        return None
    law, key = site["fn"], site["kwargs"].get("rng_key")
    if law.is_discrete:
        return _median(site, 15)
    bijector = biject_to(law.support)
    own = (*site["kwargs"].get("sample_shape", ()), *law.batch_shape, *law.event_shape)
    shape = bijector.inverse_shape(own)
    at = jax.random.uniform(key, shape, minval=-radius, maxval=radius) if radius else jnp.zeros(shape)
    return bijector.forward(at)


def init_to_feasible(site: Message | None = None) -> Any:
    """Begin at a point well inside of the support."""
    return init_to_uniform(site, radius=0) if site is not None else functools.partial(init_to_feasible)


def init_to_median(site: Message | None = None, num_samples: int = 15) -> Any:
    """Begin at the median of draws from the prior."""
    if site is None:
        return functools.partial(init_to_median, num_samples=num_samples)
    return _median(site, num_samples) if _is_drawn(site) else None


def init_to_sample(site: Message | None = None) -> Any:
    """Begin at a draw from the prior."""
    return functools.partial(init_to_sample) if site is None else init_to_median(site, num_samples=1)


def init_to_mean(site: Message | None = None) -> Any:
    """Begin at the mean of the prior; at the median where the mean is not known, or not in the support."""
    if site is None:
        return functools.partial(init_to_mean)
    if not _is_drawn(site):
        return None
    try:
        mean = site["fn"].mean
        inside = jnp.all(jnp.isfinite(mean)) & jnp.all(site["fn"].support(mean))
    except (DistributionError, NotImplementedError):
        return _median(site, 15)
    return jnp.where(inside, mean, _median(site, 15))


def init_to_value(site: Message | None = None, values: Mapping[str, Any] | None = None) -> Any:
    """Begin at given values; sites that are not named begin as by `init_to_uniform`."""
    if site is None:
        return functools.partial(init_to_value, values={} if values is None else values)
    if not _is_drawn(site):
        return None
    return values[site["name"]] if values and site["name"] in values else init_to_uniform(site)


def as_start(strategy: Strategy, latents: Mapping[str, Any]) -> Any:
    """Return the start of accord's chains that a strategy is.

    **Arguments**: `latents`, the latent sites of the model, by name.

    **Raises** `OptionError` for a function that is none of these.
    """
    function = strategy.func if isinstance(strategy, functools.partial) else strategy
    options = strategy.keywords if isinstance(strategy, functools.partial) else {}
    if function is init_to_uniform:
        return infer.from_uniform(float(options.get("radius", 2)))
    if function is init_to_feasible:
        return infer.from_uniform(0.0)
    if function in (init_to_median, init_to_mean):
        return infer.from_median()
    if function is init_to_sample:
        return infer.from_prior()
    if function is init_to_value:
        values = {name: value for name, value in options["values"].items() if name in latents}
        return infer.from_values(values) if values else infer.from_uniform()
    raise OptionError(
        f"init_strategy: {strategy!r} is none of `numpyro.infer.initialization`. Give values by "
        "`init_to_value(values={...})`."
    )


def uniform_radius(strategy: Strategy) -> float | None:
    """Return the radius of a uniform start, or None for another strategy."""
    if strategy is init_to_uniform:
        return 2.0
    if isinstance(strategy, functools.partial) and strategy.func is init_to_uniform:
        return float(strategy.keywords.get("radius", 2))
    return None


def _is_drawn(site: Message) -> bool:
    return site["type"] == "sample" and not site["is_observed"] and site["value"] is None


def _median(site: Message, count: int) -> Any:
    law, key = site["fn"], site["kwargs"].get("rng_key")
    draws = law.sample(key, (count, *site["kwargs"].get("sample_shape", ())))
    if law.is_discrete:
        return jnp.median(draws, axis=0).astype(draws.dtype)
    bijector = biject_to(law.support)
    return bijector.forward(jnp.median(bijector.inverse(draws), axis=0))
