"""Write loops and branches whose steps have sites, by the names of `numpyro.contrib.control_flow`."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.errors import ModelError, SiteError
from ..distributions.wrappers.each_step import EachStep
from .handlers import block, condition, replay, seed, substitute, trace
from .handlers.shown import trace as _trace
from .messages import Message, apply_stack, stack

_OF_STEPS = ("fn", "value", "kwargs", "args", "stop")
"""Keys of a message that are those of one step, or of the way that it went there."""


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    length: int | None = None,
    reverse: bool = False,
    history: int = 1,
) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` for each `x` of `xs`; the step may have sites, stacked along their first axis.

    **Arguments**: as of `numpyro.contrib.control_flow.scan`. `history` has no effect: discrete states of any history
    are summed out.
    """
    del history
    count: int = jax.tree.leaves(xs)[0].shape[0] if length is None else length
    if not stack():
        carry, (_, ys) = _looped(f, init, xs, count, reverse)
        return carry, ys
    from .bridge import run_scan

    msg: Message = {
        "type": "control_flow",
        "fn": _loop,
        "args": (f, init, xs, count, reverse),
        "kwargs": {"rng_key": None, "substitute_stack": [], "in_accord": run_scan},
        "value": None,
    }
    carry, (sites, ys) = apply_stack(msg)["value"]
    _show(sites)
    return carry, ys


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], operand: Any) -> Any:
    """Run one of two functions with sites, the first where `pred` is true."""
    if not stack():
        return lax.cond(pred, true_fun, false_fun, operand)
    from .bridge import run_cond

    msg: Message = {
        "type": "control_flow",
        "fn": _branch,
        "args": (pred, true_fun, false_fun, operand),
        "kwargs": {"rng_key": None, "substitute_stack": [], "in_accord": run_cond},
        "value": None,
    }
    value, sites = apply_stack(msg)["value"]
    _show(sites)
    return value


def _show(sites: Mapping[str, Message] | None) -> None:
    """Show the handlers the sites of all steps."""
    for site in (sites or {}).values():
        if site["type"] != "plate":
            apply_stack(site)


def _loop(
    f: Any,
    init: Any,
    xs: Any,
    length: int,
    reverse: bool,
    rng_key: Any,
    substitute_stack: Any,
    in_accord: Any,
) -> Any:
    del in_accord
    return _looped(f, init, xs, length, reverse, rng_key, substitute_stack)


def _looped(
    f: Any, init: Any, xs: Any, length: int, reverse: bool, rng_key: Any = None, given: Any = ()
) -> tuple[Any, Any]:
    static: dict[str, Message] = {}

    def body(state: Any, at: tuple[Any, Any]) -> tuple[Any, Any]:
        (key, carry), (i, x) = state, at
        key, own = (None, None) if key is None else jax.random.split(key)
        with block():
            step = f if own is None else seed(f, own)
            for word, values in given:
                step = _with_values(step, word, values, i, length, (carry, x))
            with trace() as sites:
                carry, y = step(carry, x)
        return (key, carry), (_arrays(sites, static), y)

    # Values of steps lie in the order of `xs`, also backwards.
    (_, last), (arrays, ys) = lax.scan(body, (rng_key, init), (jnp.arange(length), xs), reverse=reverse)
    return last, (_joined(arrays, static, length), ys)


def _with_values(step: Any, word: str, values: Any, i: Any, length: int, given: Any) -> Any:
    if word == "replay":
        sites = _trace(step).get_trace(*given)
        now = {
            name: dict(site, value=site["value"][i])
            if name in sites and jnp.shape(site.get("value"))[:1] == (length,) and site["type"] == "sample"
            else site
            for name, site in values.items()
        }
        return replay(step, trace=now)
    function = functools.partial(_of_step, values, i, length)
    if word == "condition":
        return condition(step, condition_fn=function)
    return substitute(step, substitute_fn=function)


def _of_step(values: Any, i: Any, length: int, site: Message) -> Any:
    """Return the value of a site at one step; steps after the last value draw their own."""
    if site["type"] != "sample":
        return None
    value = values.get(site["name"]) if isinstance(values, Mapping) else values(site)
    if value is None:
        return None
    law, shape = site["fn"], jnp.shape(value)
    own = len(site["kwargs"]["sample_shape"]) + len(law.batch_shape) + len(law.event_shape)
    if len(shape) == own:
        return value
    if len(shape) != own + 1 or shape[0] > length:
        raise SiteError(
            f"site {site['name']!r} in a scan of {length} steps was given values of shape {shape}. Give one for each "
            f"step, or fewer, of {own} axes each."
        )
    if shape[0] == length:
        return value[i]
    key = site["kwargs"]["rng_key"]
    if key is None:
        raise ModelError(
            f"site {site['name']!r} has values for {shape[0]} of {length} steps, and no random key for the others. Put "
            "`handlers.seed` around the model."
        )
    drawn = law.sample(key, site["kwargs"]["sample_shape"])
    return jnp.where(i < shape[0], value[jnp.minimum(i, shape[0] - 1)].astype(drawn.dtype), drawn)


def _branch(
    pred: Any,
    true_fun: Any,
    false_fun: Any,
    operand: Any,
    rng_key: Any,
    substitute_stack: Any,
    in_accord: Any,
) -> Any:
    del in_accord
    static: dict[str, Message] = {}

    def within(function: Any) -> Callable[[Any], Any]:
        def run(given: Any) -> Any:
            with block():
                inner = function if rng_key is None else seed(function, rng_key)
                for word, values in substitute_stack:
                    how = condition if word == "condition" else substitute
                    if isinstance(values, Mapping):
                        inner = how(inner, data=values)
                    elif word == "condition":
                        inner = condition(inner, condition_fn=values)
                    elif word == "substitute":
                        inner = substitute(inner, substitute_fn=values)
                    else:
                        inner = replay(inner, trace=values)
                with trace() as sites:
                    value = inner(given)
            return value, _arrays(sites, static)

        return run

    value, arrays = lax.cond(pred, within(true_fun), within(false_fun), operand)
    return value, _joined(arrays, static)


def _arrays(sites: Mapping[str, Message], static: dict[str, Message]) -> dict[str, Any]:
    """Return what of the sites depends on the step; `static` keeps the rest."""
    for name, site in sites.items():
        static[name] = {key: each for key, each in site.items() if key not in _OF_STEPS}
        if site["type"] == "sample":
            law = site["fn"]
            static[name]["outline"] = (tuple(law.batch_shape), tuple(law.event_shape), np.dtype(law.dtype))
    return {
        name: {"fn": site["fn"] if site["type"] == "sample" else None, "value": site["value"]}
        for name, site in sites.items()
        if site["type"] in ("sample", "deterministic", "param")
    }


def _joined(
    arrays: Mapping[str, Any], static: Mapping[str, Message], length: int | None = None
) -> dict[str, Message]:
    """Return the sites of a branch, or of all steps of a loop of this length, with their values."""
    found: dict[str, Message] = {}
    for name, each in arrays.items():
        site = dict(static[name], **each, args=(), kwargs={"rng_key": None, "sample_shape": ()})
        outline = site.pop("outline", None)
        if length is not None and outline is not None:
            flags = (True,) * len(jax.tree.leaves(site["fn"]))
            site["fn"] = EachStep(site["fn"], flags, length, *outline)
        site["_control_flow_done"] = True
        site["cond_indep_stack"] = list(site["cond_indep_stack"])
        found[name] = site
    return found
