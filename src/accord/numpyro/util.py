"""Offer what scripts use of `numpyro.util`."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.lax import fori_loop as fori_loop
from jax.lax import while_loop as while_loop

from .handlers.keys import is_key as is_prng_key
from .names.refusal import refusal as _refusal
from .settings import enable_x64 as enable_x64
from .settings import set_host_device_count as set_host_device_count
from .settings import set_platform as set_platform

__all__ = [
    "enable_x64",
    "fori_collect",
    "fori_loop",
    "format_shapes",
    "is_prng_key",
    "not_jax_tracer",
    "set_host_device_count",
    "set_platform",
    "set_rng_seed",
    "soft_vmap",
    "while_loop",
]

__getattr__ = _refusal("numpyro.util")


def set_rng_seed(rng_seed: int) -> None:
    """Seed the random numbers of Python and NumPy."""
    random.seed(rng_seed)
    np.random.seed(rng_seed)


def not_jax_tracer(x: Any) -> bool:
    """Return whether the value is known while JAX traces."""
    return not isinstance(x, Tracer)


def fori_collect(
    lower: int,
    upper: int,
    body_fun: Callable[[Any], Any],
    init_val: Any,
    transform: Callable[[Any], Any] = lambda value: value,
    progbar: bool = True,
    return_last_val: bool = False,
    collection_size: int | None = None,
    thinning: int = 1,
    **progbar_opts: Any,
) -> Any:
    """Apply `body_fun` `upper` times, and collect `transform` of the values from `lower` on.

    **Arguments**: as of `numpyro.util.fori_collect`; displays of progress are left out.
    """
    del progbar, progbar_opts
    count = (upper - lower) // thinning if collection_size is None else collection_size

    def some(value: Any, times: int) -> Any:
        return jax.lax.fori_loop(0, times, lambda _, value: body_fun(value), value)

    def step(value: Any, _: Any) -> tuple[Any, Any]:
        value = some(value, thinning)
        return value, transform(value)

    start = jax.jit(lambda value: some(value, upper - count * thinning))(init_val)
    last, collected = jax.jit(lambda value: jax.lax.scan(step, value, None, length=count))(start)
    return (collected, last) if return_last_val else collected


def soft_vmap(fn: Callable[[Any], Any], xs: Any, batch_ndims: int = 1, chunk_size: int | None = None) -> Any:
    """Map a function over the first axes of arrays, `chunk_size` entries at a time."""
    leaves = jax.tree.leaves(xs)
    batch = jnp.shape(leaves[0])[:batch_ndims]
    flat = jax.tree.map(lambda x: jnp.reshape(x, (-1, *jnp.shape(x)[batch_ndims:])), xs)
    found = jax.lax.map(fn, flat, batch_size=chunk_size or max(int(np.prod(batch)), 1))
    return jax.tree.map(lambda y: jnp.reshape(y, (*batch, *jnp.shape(y)[1:])), found)


def format_shapes(
    trace: Mapping[str, Any],
    *,
    compute_log_prob: bool | Callable[[Any], bool] = False,
    title: str = "Trace Shapes:",
    last_site: str | None = None,
) -> str:
    """Return a table of the shapes of sites: batch and event of distributions, values, and log densities if asked."""
    rows = [(title, "", "")]
    for name, site in trace.items():
        kind = site["type"]
        if kind == "sample":
            law, shape = site["fn"], jnp.shape(site["value"])
            rows.append((f"{name} dist", _words(law.batch_shape), _words(law.event_shape)))
            cut = len(shape) - len(law.event_shape)
            rows.append(("value", _words(shape[:cut]), _words(shape[cut:])))
            if compute_log_prob is True or (callable(compute_log_prob) and compute_log_prob(site)):
                rows.append(("log_prob", _words(jnp.shape(law.log_prob(site["value"]))), ""))
        elif kind in ("param", "deterministic"):
            rows.append((f"{name} {kind}" if kind == "param" else name, _words(jnp.shape(site["value"])), ""))
        elif kind == "plate":
            rows.append((f"{name} plate", _words(jnp.shape(site["value"])), ""))
        if name == last_site:
            break
    wide = [max(len(row[i]) for row in rows) for i in range(2)]
    return "\n".join(f"{a:>{wide[0]}} {b:>{wide[1]}} | {c}".rstrip(" |") for a, b, c in rows)


def _words(shape: tuple[int, ...]) -> str:
    return " ".join(map(str, shape))
