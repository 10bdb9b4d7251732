"""Derive the random numbers of particles from their purpose: (filter, use, step, place)."""

from typing import Any

import jax

OWN, RESAMPLE, PROPOSE, CHOOSE, FOLLOW = range(5)
"""Uses: draws of a particle's own; resampling; proposals; the choice of trajectories; the ancestor of a reference."""


def key_of(key: jax.Array, use: int, *numbers: Any) -> jax.Array:
    """Return the JAX random key of a use of a filter's key, and of numbers such as a step and a particle's place."""
    for number in (use, *numbers):
        key = jax.random.fold_in(key, number)
    return key
