"""Write the statements of a NumPyro program, by NumPyro's names and arguments."""

import functools
from collections.abc import Callable
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core.errors import ModelError, SiteError
from ..distributions import Unit
from .distributions.own import as_law
from .handlers.weights import mask
from .messages import CondIndepStackFrame as CondIndepStackFrame
from .messages import Message, apply_stack, stack
from .messages import Messenger as Messenger
from .names.refusal import refusal as _refusal
from .plates import plate as plate
from .plates import plate_stack as plate_stack
from .prng import prng_key as prng_key

__getattr__ = _refusal("numpyro.primitives")


def sample(
    name: str,
    fn: Any,
    obs: Any = None,
    rng_key: Any = None,
    sample_shape: tuple[int, ...] = (),
    infer: dict[str, Any] | None = None,
    obs_mask: Any = None,
) -> Any:
    """Draw the value of the site `name` from the distribution `fn`, or observe it to be `obs`; return the value.

    Outside of handlers it draws by `rng_key`.

    **Arguments**: as of `numpyro.sample`. `infer` tells samplers how to treat the site; discrete sites of finite
    support are summed out whether it says so or not.

    **Raises** `SiteError` for what is no distribution.
    """
    law = as_law(fn, f"site {name!r}")
    if not stack():
        if obs is not None:
            return obs
        if rng_key is None:
            raise ModelError(
                f"numpyro.sample({name!r}, ...) outside of a model needs `rng_key=`, such as `jax.random.key(0)`."
            )
        return law.sample(rng_key, tuple(sample_shape))
    is_one = stack()[0].is_run_by_accord
    if obs_mask is not None and not is_one:
        return _partly(name, law, obs, obs_mask, rng_key, infer)
    msg = apply_stack(
        {
            "type": "sample",
            "name": name,
            "fn": law,
            "args": (),
            "kwargs": {"rng_key": rng_key, "sample_shape": tuple(sample_shape)},
            "value": obs,
            "scale": None,
            "is_observed": obs is not None,
            "intermediates": [],
            "cond_indep_stack": [],
            "infer": {} if infer is None else infer,
            "obs_mask": obs_mask,
        }
    )
    return msg["value"]


def _partly(name: str, law: Any, obs: Any, obs_mask: Any, rng_key: Any, infer: dict[str, Any] | None) -> Any:
    """Observe the entries where the mask is true, and draw the others."""
    mask_of = np.asarray(obs_mask) if not isinstance(obs_mask, Tracer) else obs_mask
    if mask_of.dtype != np.bool_:
        raise SiteError(f"site {name!r}: obs_mask must be bool, got dtype {mask_of.dtype}.")
    with mask(mask=mask_of):
        observed = sample(f"{name}_observed", law, obs=obs, rng_key=rng_key, infer=infer)
    with mask(mask=~mask_of):
        unobserved = sample(f"{name}_unobserved", law, rng_key=rng_key, infer=infer)
    shown = jnp.reshape(mask_of, (*mask_of.shape, *(1,) * law.event_dim))
    return deterministic(name, jnp.where(shown, observed, unobserved))


def param(name: str, init_value: Any = None, **kwargs: Any) -> Any:
    """Declare an array that `SVI` fits, and return its value.

    **Arguments**: `init_value`, an array, or a function of a random key that returns one. `constraint` and `event_dim`
    as of `numpyro.param`.
    """
    if not stack():
        if callable(init_value):
            raise ModelError(f"param {name!r}: a function as initial value needs `handlers.seed` around it.")
        return init_value
    function: Callable[..., Any] = _as_given
    args: tuple[Any, ...] = (init_value,)
    if callable(init_value):
        start = cast(Callable[[Any], Any], init_value)
        function, args = lambda *_, **__: start(prng_key()), ()
    msg: Message = {
        "type": "param",
        "name": name,
        "fn": function,
        "args": args,
        "kwargs": kwargs,
        "value": None,
        "scale": None,
        "cond_indep_stack": [],
    }
    return apply_stack(msg)["value"]


def deterministic(name: str, value: Any) -> Any:
    """Record `value` under `name`, and return it."""
    if not stack():
        return value
    return apply_stack({"type": "deterministic", "name": name, "value": value, "cond_indep_stack": []})[
        "value"
    ]


def mutable(name: str, init_value: Any = None) -> Any:
    """Return what the program keeps under `name`; `SVI` carries it from step to step."""
    if not stack():
        return init_value
    msg: Message = {
        "type": "mutable",
        "name": name,
        "fn": _as_given,
        "args": (init_value,),
        "kwargs": {},
        "value": init_value,
    }
    return apply_stack(msg)["value"]


def factor(name: str, log_factor: Any) -> None:
    """Add `log_factor` to the log density."""
    unit = Unit(jnp.asarray(log_factor))
    sample(name, unit, obs=jnp.zeros((*unit.batch_shape, 0)), infer={"is_auxiliary": True})


def subsample(data: Any, event_dim: int) -> Any:
    """Take the entries of `data` that the plates around have drawn.

    **Arguments**: `event_dim`, how many of the last axes belong to one entry.
    """
    if not stack():
        return data
    msg: Message = {
        "type": "subsample",
        "value": data,
        "kwargs": {"event_dim": event_dim},
        "fn": _as_given,
        "args": (),
    }
    return apply_stack(msg)["value"]


def module(name: str, nn: tuple[Any, Any], input_shape: tuple[int, ...] | None = None) -> Callable[..., Any]:
    """Declare a network of `jax.example_libraries.stax`, whose parameters `SVI` fits; return it as a function.

    **Arguments**: `nn`, the pair `(init, apply)`; `input_shape`, needed where the parameters have no value yet.
    """
    start, apply = nn
    key = f"{name}$params"
    found = param(key)
    if found is None:
        if input_shape is None:
            raise ModelError(f"module {name!r}: give `input_shape=`, the shape of what the network takes.")
        _, found = start(prng_key(), input_shape)
        param(key, found)
    return functools.partial(apply, found)


def get_mask() -> Any:
    """Return the mask of the `handlers.mask` around, or None."""
    msg: Message = {
        "type": "inspect",
        "fn": lambda: True,
        "args": (),
        "kwargs": {},
        "value": None,
        "mask": None,
    }
    apply_stack(msg)
    return msg["mask"]


def _as_given(value: Any = None, **_: Any) -> Any:
    return value
