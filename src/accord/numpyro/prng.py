"""Ask for a random key."""

import warnings
from typing import Any

from .messages import Message, apply_stack, stack


def prng_key() -> Any:
    """Return a random key, as `handlers.seed` around it gives one; None, with a warning, outside of handlers."""
    if not stack():
        warnings.warn("numpyro.prng_key() outside of `handlers.seed` has no key to give.", stacklevel=2)
        return None
    msg: Message = {
        "type": "prng_key",
        "fn": lambda rng_key: rng_key,
        "args": (),
        "kwargs": {"rng_key": None},
        "value": None,
    }
    return apply_stack(msg)["value"]
