"""Hold what is told of entries to functions of which it is known, and to what changes when an entry does."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.density.dependence.entrywise import MIXED, axes_seen

TABLE = np.arange(5.0) ** 2
OTHER = np.ones((3, 4))

# Of an argument of shape (3, 4), by its first axis: the axis of the result.
KNOWN: dict[str, tuple[Callable[[Any], Any], int | None]] = {
    "arithmetic": (lambda z: jnp.exp(z) + OTHER * z, 0),
    "nothing": (lambda z: jnp.zeros(3) + 0 * z.shape[0], None),
    "a choice": (lambda z: jnp.where(z > 2, z, 0.0), 0),
    "a table": (lambda z: jnp.asarray(TABLE)[z.astype(int)], 0),
    "a row of a table": (lambda z: jnp.asarray(np.ones((5, 2)))[z.astype(int)], 0),
    "a sum along another axis": (lambda z: z.sum(axis=1), 0),
    "a sum": (lambda z: z.sum(axis=0), MIXED),
    "a sum that all see": (lambda z: z - z.mean(axis=0, keepdims=True), MIXED),
    "a running sum": (lambda z: jnp.cumsum(z, axis=0), MIXED),
    "a running sum along another axis": (lambda z: jnp.cumsum(z, axis=1), 0),
    "neighbours": (lambda z: z[1:] - z[:-1], MIXED),
    "a roll": (lambda z: jnp.roll(z, 1, axis=0), MIXED),
    "upside down": (lambda z: z[::-1], MIXED),
    "turned": (lambda z: z.T * 2, 1),
    "a new axis": (lambda z: z[None, :, 1] + jnp.zeros((2, 1)), 1),
    "with another axis": (lambda z: jnp.stack([z, z + 1], axis=-1), 0),
    "after each other": (lambda z: jnp.concatenate([z, z]), MIXED),
    "in one row": (lambda z: z.reshape(12), MIXED),
    "in blocks": (lambda z: z.reshape(3, 2, 2), 0),
    "both": (lambda z: z[:, :3] * z[:, :3].T, MIXED),
    "a product of matrices": (lambda z: z @ np.ones((4, 2)), 0),
    "a product over entries": (lambda z: np.ones((2, 3)) @ z, MIXED),
    "sorted": (lambda z: jnp.sort(z, axis=0), MIXED),
    "a loop": (lambda z: jax.lax.fori_loop(0, 2, lambda _, z: z + 1, z), MIXED),
    "a function": (lambda z: jax.nn.softplus(z), 0),
    "a held argument": (lambda z: z * jax.lax.stop_gradient(z), 0),
    "each": (lambda z: jax.vmap(lambda row: jnp.dot(row, jnp.ones(4)))(z), 0),
}


@pytest.mark.parametrize("case", KNOWN)
def test_what_is_told_is_what_is_known(case: str) -> None:
    function, axis = KNOWN[case]
    traced = jax.make_jaxpr(function)(jax.ShapeDtypeStruct((3, 4), np.float64))
    assert axes_seen(traced.jaxpr, [0]) == [axis]


@pytest.mark.parametrize("case", KNOWN)
def test_no_other_entry_changes(case: str) -> None:
    function, axis = KNOWN[case]
    z = np.random.default_rng(0).integers(0, 4, (3, 4)).astype(float)
    before = np.asarray(function(jnp.asarray(z)))
    for entry in range(3):
        moved = z.copy()
        moved[entry] = (moved[entry] + 1) % 5
        changed = np.asarray(function(jnp.asarray(moved))) != before
        if axis is None:
            assert not changed.any()
        elif axis != MIXED:
            assert not np.delete(changed, entry, axis=axis).any()
