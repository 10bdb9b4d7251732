"""Give the potential energy of a program with a point to begin from: the functional interface of NumPyro."""

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer

from ...core.errors import InitializationError, ModelError
from ...distributions import biject_to
from ..compiled import compiled
from ..handlers import seed, substitute, trace
from ..messages import Message
from .densities import constrain_fn, potential_energy
from .initialization import init_to_uniform, uniform_radius

_TRIES = 100


class ParamInfo(NamedTuple):
    """A point to begin from: unconstrained values by name, the potential energy there, and its gradient."""

    z: dict[str, Any]
    potential_energy: Any
    z_grad: dict[str, Any]


class ModelInfo(NamedTuple):
    """A program for a sampler of your own.

    **Fields**: `param_info`, where to begin; `potential_fn`, minus the log density of unconstrained values;
    `postprocess_fn`, from them to values of sites; `model_trace`, a trace.
    """

    param_info: ParamInfo
    potential_fn: Callable[..., Any]
    postprocess_fn: Callable[..., Any]
    model_trace: "OrderedDict[str, Message]"


def initialize_model(
    rng_key: Any,
    model: Callable[..., Any],
    *,
    init_strategy: Callable[..., Any] = init_to_uniform,
    dynamic_args: bool = False,
    model_args: tuple[Any, ...] = (),
    model_kwargs: Mapping[str, Any] | None = None,
    forward_mode_differentiation: bool = False,
    validate_grad: bool = True,
) -> ModelInfo:
    """Return a point to begin from, the potential energy and the map to values of sites.

    **Arguments**: as of `numpyro.infer.util.initialize_model`. A key of shape `(n, ...)` gives `n` points. With
    `dynamic_args`, `potential_fn` and `postprocess_fn` are functions of the model's arguments that return them.

    **Raises** `ModelError` for a model with discrete unknowns; `InitializationError` where no point is finite.
    """
    kwargs = {} if model_kwargs is None else dict(model_kwargs)
    key = rng_key if jnp.ndim(_words(rng_key)) == 1 else rng_key[0]
    begun = substitute(seed(model, key), substitute_fn=init_strategy)
    sites = trace(begun).get_trace(*model_args, **kwargs)
    refuse_discrete(sites)
    fixed = {n: s["value"] for n, s in sites.items() if s["type"] in ("param", "plate")}
    (z, energy, grad), is_valid = find_valid_initial_params(
        rng_key,
        substitute(model, data=fixed),
        init_strategy=init_strategy,
        prototype_params=unconstrained(sites),
        model_args=model_args,
        model_kwargs=kwargs,
        forward_mode_differentiation=forward_mode_differentiation,
        validate_grad=validate_grad,
    )
    if not isinstance(is_valid, Tracer) and not bool(jnp.all(is_valid)):
        raise InitializationError(
            f"none of {_TRIES} points had a finite log density and gradient. Give values where they are, by "
            "`init_strategy=init_to_value(values={...})`."
        )
    potential, back = get_potential_fn(model, key, model_args, kwargs)
    if dynamic_args:

        def potential_of(*args: Any, **kwargs: Any) -> Any:
            return get_potential_fn(model, key, args, kwargs)[0]

        def back_of(*args: Any, **kwargs: Any) -> Any:
            return get_potential_fn(model, key, args, kwargs)[1]

        return ModelInfo(ParamInfo(z, energy, grad), potential_of, back_of, sites)
    return ModelInfo(ParamInfo(z, energy, grad), potential, back, sites)


def get_potential_fn(
    model: Callable[..., Any], key: Any, model_args: Any, model_kwargs: Mapping[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the potential energy of unconstrained values, and the map from them to values of sites."""
    seeded = seed(model, key)
    return (
        functools.partial(potential_energy, seeded, model_args, model_kwargs),
        functools.partial(constrain_fn, seeded, model_args, model_kwargs, return_deterministic=True),
    )


def find_valid_initial_params(
    rng_key: Any,
    model: Callable[..., Any],
    *,
    init_strategy: Callable[..., Any] = init_to_uniform,
    enum: bool = False,
    model_args: tuple[Any, ...] = (),
    model_kwargs: Mapping[str, Any] | None = None,
    prototype_params: Mapping[str, Any] | None = None,
    forward_mode_differentiation: bool = False,
    validate_grad: bool = True,
) -> tuple[ParamInfo, Any]:
    """Return a point with a finite potential energy and gradient, and whether one was found.

    It tries at most 100 points. **Arguments**: as of `initialize_model`; a key of shape `(n, ...)` gives `n` points.
    """
    del enum
    kwargs = {} if model_kwargs is None else dict(model_kwargs)
    radius = uniform_radius(init_strategy)
    derivative = jax.jacfwd if forward_mode_differentiation else jax.grad

    order: list[str] = []  # of the sites, which JAX sorts

    def in_order(at: ParamInfo) -> ParamInfo:
        z, grad = ({name: each[name] for name in order} for each in (at.z, at.z_grad))
        return ParamInfo(z, at.potential_energy, grad)

    def one(key: Any) -> tuple[ParamInfo, Any]:
        def tried(key: Any) -> tuple[Any, ParamInfo, Any]:
            key, own = jax.random.split(key)
            if radius is None or prototype_params is None:
                begun = substitute(seed(model, own), substitute_fn=init_strategy)
                z = unconstrained(trace(begun).get_trace(*model_args, **kwargs))
            else:
                z = {}
                for name, value in prototype_params.items():  # the keys that NumPyro gives
                    z[name] = jax.random.uniform(own, jnp.shape(value), minval=-radius, maxval=radius)
                    key, own = jax.random.split(key)

            order[:] = z

            def energy(z: Any) -> Any:
                return potential_energy(seed(model, own), model_args, kwargs, z)

            value, grad = energy(z), derivative(energy)(z)
            good = jnp.isfinite(value)
            if validate_grad:
                good &= jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grad)]))
            return key, ParamInfo(z, value, grad), good

        def again(state: Any) -> Any:
            i, key, _, _ = state
            return (i + 1, *tried(key))

        first = tried(key) if isinstance(key, Tracer) else compiled(tried)(key)  # in one program
        if not isinstance(first[2], Tracer) and bool(first[2]):
            return in_order(first[1]), first[2]
        _, _, found, good = jax.lax.while_loop(lambda s: (s[0] < _TRIES) & ~s[3], again, (1, *first))
        return in_order(found), good

    return one(rng_key) if jnp.ndim(_words(rng_key)) == 1 else jax.lax.map(one, rng_key)


def unconstrained(sites: Mapping[str, Message]) -> dict[str, Any]:
    """Return the unknowns of a trace in unconstrained space, by name."""
    return {
        name: biject_to(site["fn"].support).inverse(site["value"])
        for name, site in sites.items()
        if site["type"] == "sample" and not site["is_observed"] and not site["fn"].is_discrete
    }


def refuse_discrete(sites: Mapping[str, Message]) -> None:
    """Refuse discrete unknowns, of which a potential energy of unconstrained numbers has no place.

    **Raises** `ModelError`.
    """
    for name, site in sites.items():
        if site["type"] == "sample" and not site["is_observed"] and site["fn"].is_discrete:
            raise ModelError(
                f"site {name!r} is discrete, and a potential energy is a function of unconstrained numbers. Use "
                "`MCMC`, which sums it out, or `accord.LogDensity.from_model(accord.numpyro.as_model(model, *args))`."
            )


def _words(key: Any) -> Any:
    return jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
