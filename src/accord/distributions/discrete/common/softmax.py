"""Compute the log probability of one of several categories from their logits, and its gradient, in one pass."""

from typing import Any

import jax
import jax.numpy as jnp

_FEW = 8  # categories, up to which sums over them are faster with their axis in front


@jax.custom_jvp
def log_softmax_at(logits: jax.Array, index: jax.Array) -> jax.Array:
    """Return the normalised log probability of category `index`; its derivative is accurate where that is nearly 1.

    Second derivatives are rounded as numbers near 1 are: of those below 1e-16 nothing is left.

    **Arguments**: `logits`, shape `(..., n)`, of which some may be -inf; `index`, whole numbers from 0 to n - 1, shape
    `(...)`.
    """
    return _parts(logits, index)[0]


@log_softmax_at.defjvp
def _log_softmax_at_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, Any]
) -> tuple[jax.Array, jax.Array]:
    (logits, index), (logits_dot, _) = primals, tangents
    log_prob, is_here, shares, others, excess = _parts(logits, index)
    # By its own logit the slope is the probability of all others, which is not subtracted from 1.
    slopes = jnp.where(is_here, jnp.expand_dims(others, _axis(logits)), -shares)
    return log_prob, (slopes * _led(logits_dot)).sum(axis=_axis(logits)) / (1 + excess)


def _axis(logits: jax.Array) -> int:
    """Return the axis of the categories in `_led(logits)`."""
    return 0 if logits.shape[-1] <= _FEW else logits.ndim - 1


def _led(logits: jax.Array) -> jax.Array:
    """Move the axis of a few categories to the front."""
    return jnp.moveaxis(logits, -1, _axis(logits))


def _parts(logits: jax.Array, index: jax.Array) -> tuple[jax.Array, ...]:
    """Return the log probability and what its slopes are made of, with the categories where `_led` has them.

    These are: which category is `index`; the shares of the others, in units of the largest one; their sum; and by how
    much the sum of all exceeds 1.
    """
    axis, logits = _axis(logits), _led(logits)
    most = jax.lax.stop_gradient(logits.max(axis=axis, keepdims=True))
    above = logits - jnp.where(jnp.isfinite(most), most, 0.0)
    number = jax.lax.broadcasted_iota(index.dtype, logits.shape, axis)
    is_here = number == jnp.expand_dims(index, axis)
    all_shares = jnp.exp(above)
    shares = jnp.where(is_here, 0.0, all_shares)
    others = shares.sum(axis=axis)
    here, share = (jnp.where(is_here, each, 0.0).sum(axis=axis) for each in (above, all_shares))
    # The largest one has a share of exactly 1, so that nothing is lost where the others are next to nothing.
    excess = others + (share - 1.0)
    return here - jnp.log1p(excess), is_here, shares, others, excess
