"""Declare networks of Flax and Equinox in programs: fitted by `SVI`, or with priors on their parameters."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.tree_util as jtu

from ...core.errors import ModelError
from ...distributions import AbstractDistribution
from ..handlers import scope
from ..names.refusal import refusal as _refusal
from ..primitives import mutable as keep
from ..primitives import param, sample
from ..prng import prng_key

__all__ = [
    "ParamShape",
    "eqx_module",
    "flax_module",
    "nnx_module",
    "random_eqx_module",
    "random_flax_module",
    "random_nnx_module",
]

__getattr__ = _refusal("numpyro.contrib.module")

Prior = AbstractDistribution | Mapping[str, AbstractDistribution] | Callable[[str, tuple[int, ...]], Any]


class ParamShape(NamedTuple):
    """The shape of a parameter that a prior has taken the place of."""

    shape: tuple[int, ...]


def flax_module(
    name: str,
    nn_module: Any,
    *args: Any,
    input_shape: tuple[int, ...] | None = None,
    apply_rng: Sequence[str] | None = None,
    mutable: Sequence[str] | None = None,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Declare a module of `flax.linen`, and return it as a function; its parameters are `{name}$params`.

    **Arguments**: `args` and `kwargs`, what it is called with, or `input_shape`; `apply_rng`, names of random keys that
    it needs; `mutable`, its collections that steps keep.
    """
    params = param(f"{name}$params")
    state = keep(f"{name}$state") if mutable else None
    if params is None:
        given = args if input_shape is None else (jnp.ones(input_shape),)
        key = prng_key()
        key = jax.random.key(0) if key is None else key
        keys: dict[str, Any] = {}
        for kind in apply_rng or ():
            key, keys[kind] = jax.random.split(key)
        found = dict(nn_module.init({**keys, "params": key}, *given, **kwargs))
        if "params" not in found:
            raise ModelError(f"module {name!r} has no parameters. Call it as a function.")
        params = param(f"{name}$params", found["params"])
        if mutable:
            state = keep(f"{name}$state", {each: found[each] for each in mutable})

    def apply(params: Any, *args: Any, **kwargs: Any) -> Any:
        if state is None:
            return nn_module.apply({"params": params}, *args, **kwargs)
        out, new = nn_module.apply({"params": params, **state}, *args, mutable=list(mutable or ()), **kwargs)
        state.update(jax.lax.stop_gradient(dict(new)))
        return out

    return functools.partial(apply, params)


def random_flax_module(
    name: str, nn_module: Any, prior: Prior, *args: Any, **options: Any
) -> Callable[..., Any]:
    """Declare a module of `flax.linen` whose parameters are unknowns.

    **Arguments**: `prior`, a distribution for all parameters, one by path (`"Dense_0.bias"`), or a function of path and
    shape; `args` and `options`, as of `flax_module`.
    """
    net: Any = flax_module(name, nn_module, *args, **options)
    with scope(prefix=name):
        return functools.partial(net.func, _drawn(net.args[0], prior), *net.args[1:], **net.keywords)


def nnx_module(name: str, nn_module: Any) -> Callable[..., Any]:
    """Declare a module of `flax.nnx`, and return it as a function; its parameters are `{name}$params`."""
    from flax import nnx

    frame, state, rest = nnx.split(nn_module, nnx.Param, ...)
    params = param(f"{name}$params", nnx.to_pure_dict(state))
    others = nnx.to_pure_dict(rest)
    kept = keep(f"{name}$state", {"state": others}) if others else None

    def apply(params: Any, *args: Any, **kwargs: Any) -> Any:
        nnx.replace_by_pure_dict(state, params)
        if kept is not None:
            nnx.replace_by_pure_dict(rest, kept["state"])
        model: Any = nnx.merge(frame, state, rest, copy=True)
        out = model(*args, **kwargs)
        if kept is not None:
            after: Any = nnx.split(model, nnx.Param, ...)[2]
            kept["state"] = jax.lax.stop_gradient(nnx.to_pure_dict(after))
        return out

    return functools.partial(apply, params)


def random_nnx_module(
    name: str, nn_module: Any, prior: Prior, scope_divider: str = "/"
) -> Callable[..., Any]:
    """Declare a module of `flax.nnx` whose parameters are unknowns. **Arguments**: as of `random_flax_module`."""
    net: Any = nnx_module(name, nn_module)
    with scope(prefix=name, divider=scope_divider):
        return functools.partial(net.func, _drawn(net.args[0], prior))


def eqx_module(name: str, nn_module: Any) -> Any:
    """Declare a module of Equinox, and return it with its parameters, which are `{name}$params`."""
    arrays, rest = eqx.partition(nn_module, eqx.is_inexact_array)
    return eqx.combine(param(f"{name}$params", lambda _: arrays), rest)


def random_eqx_module(name: str, nn_module: Any, prior: Prior, scope_divider: str = "/") -> Any:
    """Declare a module of Equinox whose parameters are unknowns. **Arguments**: as of `random_flax_module`."""
    arrays, rest = eqx.partition(eqx_module(name, nn_module), eqx.is_inexact_array)
    leaves, tree = jtu.tree_flatten_with_path(arrays)
    with scope(prefix=name, divider=scope_divider):
        values = [_value(jtu.keystr(path)[1:], leaf, prior) for path, leaf in leaves]
    return eqx.combine(jtu.tree_unflatten(tree, values), rest)


def _drawn(params: Mapping[Any, Any], prior: Prior, prefix: str = "") -> dict[Any, Any]:
    """Return parameters in which those with a prior are drawn, as sites named by their path."""
    found: dict[Any, Any] = {}
    for name, value in params.items():
        path = f"{prefix}.{name}" if prefix else str(name)
        found[name] = _drawn(value, prior, path) if isinstance(value, Mapping) else _value(path, value, prior)
    return found


def _value(path: str, value: Any, prior: Prior) -> Any:
    shape = jnp.shape(value)
    if isinstance(prior, Mapping):
        law = prior.get(path)
        if law is None:
            return value
    else:
        law = prior if isinstance(prior, AbstractDistribution) else prior(path, shape)
    batch = shape[: len(shape) - law.event_dim]
    whole = law.expand(batch)
    return sample(path, whole.to_event(len(batch)) if batch else whole)
