"""Evaluate the log density of a NumPyro program, in the space of its sites or of unconstrained numbers."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from ...core.errors import ModelError
from ...distributions import biject_to
from ..distributions.transforms import Transform
from ..handlers import substitute, trace
from ..messages import Message
from ..primitives import factor

Trace = OrderedDict[str, Message]


def log_density(
    model: Callable[..., Any], model_args: Any, model_kwargs: Mapping[str, Any], params: Mapping[str, Any]
) -> tuple[jax.Array, Trace]:
    """Return the log density of a program at values of its sites, and its trace.

    **Arguments**: `params`, values by name, in the space of the sites; all that is drawn must have one, or a key by
    `handlers.seed`.
    """
    terms, sites = compute_log_probs(model, model_args, model_kwargs, params)
    return sum(terms.values(), jnp.zeros(())), sites


def compute_log_probs(
    model: Callable[..., Any],
    model_args: Any,
    model_kwargs: Mapping[str, Any],
    params: Mapping[str, Any],
    sum_log_prob: bool = True,
) -> tuple[dict[str, jax.Array], Trace]:
    """Return the log density of each sample site, summed unless `sum_log_prob` is false, and the trace."""
    sites = trace(substitute(model, data=params)).get_trace(*model_args, **model_kwargs)
    terms: dict[str, jax.Array] = {}
    for name, site in sites.items():
        if site["type"] != "sample":
            continue
        term = log_prob_of(site)
        terms[name] = jnp.sum(term) if sum_log_prob else term
    return terms, sites


def log_prob_of(site: Message) -> jax.Array:
    """Return the log density of a site at its value, times its scale, shape as its distribution has it."""
    term = site["fn"].log_prob(site["value"])
    return term if site["scale"] is None else site["scale"] * term


def potential_energy(
    model: Callable[..., Any],
    model_args: Any,
    model_kwargs: Mapping[str, Any],
    params: Mapping[str, Any],
    enum: bool = False,
) -> jax.Array:
    """Return minus the log density at unconstrained values, Jacobian included.

    **Raises** `ModelError` with `enum=True`: `model.log_density()` of accord sums discrete sites out.
    """
    if enum:
        raise ModelError(
            "potential_energy(enum=True): discrete sites are summed out by accord's own density. Write "
            "`accord.LogDensity.from_model(accord.numpyro.as_model(model, *args))`."
        )

    def value_of(site: Message) -> Any:
        if site["name"] not in params or site["type"] not in ("sample", "param"):
            return params.get(site["name"]) if site["type"] in ("plate", "mutable") else None
        given = params[site["name"]]
        if site["type"] == "param":
            return given
        value, log_det = biject_to(site["fn"].support).forward_and_log_det(given)
        factor(f"_{site['name']}_log_det", jnp.sum(log_det))
        return value

    joint, _ = log_density(substitute(model, substitute_fn=value_of), model_args, model_kwargs, {})
    return -joint


def constrain_fn(
    model: Callable[..., Any],
    model_args: Any,
    model_kwargs: Mapping[str, Any],
    params: Mapping[str, Any],
    return_deterministic: bool = False,
) -> dict[str, Any]:
    """Map unconstrained values to the space of the sites; deterministic sites too, where they are asked for."""

    def value_of(site: Message) -> Any:
        if site["name"] not in params:
            return None
        if site["type"] != "sample":
            return params[site["name"]] if site["type"] == "param" else None
        return biject_to(site["fn"].support).forward(params[site["name"]])

    sites = trace(substitute(model, substitute_fn=value_of)).get_trace(*model_args, **model_kwargs)
    return {
        name: site["value"]
        for name, site in sites.items()
        if name in params or (return_deterministic and site["type"] == "deterministic")
    }


def unconstrain_fn(
    model: Callable[..., Any], model_args: Any, model_kwargs: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Map values of sites to unconstrained numbers."""
    sites = trace(substitute(model, data=params)).get_trace(*model_args, **model_kwargs)
    return {name: biject_to(sites[name]["fn"].support).inverse(value) for name, value in params.items()}


def transform_fn(
    transforms: Mapping[str, Any], params: Mapping[str, Any], invert: bool = False
) -> dict[str, Any]:
    """Map each value by the transform of its name, or by the inverse."""
    return {
        name: (transforms[name].inv(value) if invert else transforms[name](value))
        if name in transforms
        else value
        for name, value in params.items()
    }


def get_transforms(
    model: Callable[..., Any], model_args: Any, model_kwargs: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Transform]:
    """Return the transforms from unconstrained numbers onto the supports of the sites and parameters in `params`."""
    sites = trace(substitute(model, data=params)).get_trace(*model_args, **model_kwargs)
    found: dict[str, Transform] = {}
    for name, site in sites.items():
        if site["type"] == "sample" and not site["is_observed"] and not site["fn"].is_discrete:
            found[name] = Transform(biject_to(site["fn"].support))
        elif site["type"] == "param" and site["kwargs"].get("constraint") is not None:
            found[name] = Transform(biject_to(site["kwargs"]["constraint"]))
    return found
