"""Turn the random keys of a program into seeds of accord."""

import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import OptionError


def seed_of(rng_key: Any) -> int:
    """Return the seed of accord that a JAX random key, or several, or an integer stands for."""
    if isinstance(rng_key, int | np.integer):
        return int(rng_key) % 2**64
    if not isinstance(rng_key, jax.Array | np.ndarray):
        raise OptionError(f"expected a JAX random key, such as `jax.random.key(0)`, got {rng_key!r}.")
    is_typed = jnp.issubdtype(rng_key.dtype, jax.dtypes.prng_key)
    words = np.asarray(jax.random.key_data(rng_key) if is_typed else rng_key)
    return int.from_bytes(hashlib.sha256(words.tobytes()).digest()[:8], "little")
