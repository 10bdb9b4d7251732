"""Draw the uniform numbers of a scheme of resampling within a compiled program."""

from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class Uniforms:
    """A source of uniform numbers that is a function of a key. **Fields**: `key`, a JAX random key; `dtype`.

    It gives the same numbers whenever it is asked: a scheme asks once.
    """

    key: jax.Array
    dtype: Any

    def random(self, size: int | None = None) -> jax.Array:
        """Return uniform numbers of [0, 1), shape `(size,)`; one, shape `()`, without a size."""
        return jax.random.uniform(self.key, () if size is None else (size,), self.dtype)
