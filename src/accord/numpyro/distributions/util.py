"""Offer what scripts use of `numpyro.distributions.util`."""

from typing import Any

import jax.numpy as jnp

from ..names.refusal import refusal as _refusal

__all__ = ["clamp_probs", "sum_rightmost", "vec_to_tril_matrix"]

__getattr__ = _refusal("numpyro.distributions.util")


def clamp_probs(probs: Any) -> Any:
    """Return probabilities away from 0 and 1, by the smallest numbers of their dtype."""
    info = jnp.finfo(jnp.result_type(probs, float))
    return jnp.clip(probs, info.tiny, 1.0 - info.eps)


def sum_rightmost(x: Any, dim: int) -> Any:
    """Sum the last `dim` axes of an array; with a negative number, all but the first `-dim`."""
    axes = dim if dim >= 0 else max(jnp.ndim(x) + dim, 0)
    return jnp.sum(x, axis=tuple(range(-axes, 0))) if axes else x


def vec_to_tril_matrix(t: Any, diagonal: int = 0) -> Any:
    """Return lower triangular matrices with the entries of vectors, shape `(..., n)`, on and below a diagonal."""
    size = round((jnp.sqrt(1 + 8 * t.shape[-1]).item() - 1) / 2) - diagonal
    rows, columns = jnp.tril_indices(size, diagonal)
    return jnp.zeros((*t.shape[:-1], size, size), t.dtype).at[..., rows, columns].set(t)
