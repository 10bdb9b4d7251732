"""Arguments of the program of a stage: places, noise and keys that are a restart's own."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core import keys
from ..core.tree import node
from ..guides.base import AbstractGuide, Params
from .frame import Scale
from .objectives.base import AbstractObjective

STEPS, FIXED, START, TURN = range(4)
"""Keys of a restart: of its steps, of noise that stays the same, of the parameters at which it starts, and of the
places whose gradients turn its coordinates."""


@node
class Given:
    """Arguments of the program of a stage that are a restart's own.

    **Fields**: `locations`, shape `(candidate, dim)`, of frames, and `scale` of all, as of a frame; `start`, the
    parameters to begin with; `words`, the key of the restart; `noise`, shape `(draw, noise)`, for an objective whose
    draws are fixed.
    """

    locations: Float[Array, "candidate dim"]
    scale: Scale
    start: Params
    words: UInt32[Array, " 2"]
    noise: Float[Array, "draw noise"]


def fixed_noise(
    objective: AbstractObjective, guide: AbstractGuide, seed: int, restart: int, dim: int, dtype: np.dtype
) -> np.ndarray:
    """Return the noise of all steps of a restart, for an objective whose draws are fixed, shape `(draw, noise)`."""
    return objective.fixed_noise(key_of(seed, restart, FIXED), dim, guide.num_noise(dim), dtype)


def key_of(seed: int, restart: int, number: int) -> Any:
    """Return a key of a restart, by its number above; two words, NumPy."""
    return keys.item(keys.chain_key(seed, restart), np.uint32(keys.USE_FIT), np.uint32(number))
