"""Give a program random keys."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import OptionError
from ..messages import Message, Messenger

_DRAWN = ("sample", "prng_key", "plate", "control_flow")


class seed(Messenger):  # noqa: N801 - NumPyro's name
    """Draw what has no value: each statement takes the next part of a random key.

    The keys are those that NumPyro gives: the key is split in two at each statement that draws.

    **Arguments**: `rng_seed`, an integer or a JAX random key; `hide_types`, types of statements that get none.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        rng_seed: Any = None,
        hide_types: Sequence[str] | None = None,
    ) -> None:
        self.rng_key = None if rng_seed is None else as_key(rng_seed)
        self.hide_types = tuple(hide_types or ())
        super().__init__(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function from the first key at each call."""
        if self.fn is None:
            return super().__call__(*args, **kwargs)
        with seed(rng_seed=self.rng_key, hide_types=self.hide_types):
            return self.fn(*args, **kwargs)

    def process_message(self, msg: Message) -> None:
        """Give the next key to what draws and has none."""
        if msg["type"] in self.hide_types or msg["type"] not in _DRAWN or self.rng_key is None:
            return
        if msg["kwargs"]["rng_key"] is None and msg["value"] is None:
            self.rng_key, msg["kwargs"]["rng_key"] = jax.random.split(self.rng_key)


def as_key(given: Any) -> Any:
    """Return a JAX random key for an integer or a key.

    **Raises** `OptionError` for anything else.
    """
    if is_key(given):
        return given
    if isinstance(given, int | np.integer) or (hasattr(given, "dtype") and np.shape(given) == ()):
        return jax.random.key(given)
    raise OptionError(f"expected an integer or a JAX random key, got {given!r}.")


def is_key(given: Any) -> bool:
    """Return whether this is one random key of JAX, typed or raw."""
    if not isinstance(given, jax.Array | np.ndarray):
        return False
    if jnp.issubdtype(given.dtype, jax.dtypes.prng_key):
        return given.shape == ()
    return given.dtype == np.uint32 and given.shape == (2,)
