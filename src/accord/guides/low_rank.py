"""Approximate a posterior by a normal distribution whose correlations have low rank."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core import keys
from ..core.options import checks_fields, positive_count
from .base import AbstractGuide, Params, standard_normal

_SPREAD = 0.1  # of the first columns: at zero, the gradient by them is zero too


@checks_fields
class LowRank(AbstractGuide):
    """A normal distribution with covariance `S (I + W W') S`, where `S` is diagonal and `W` has few columns.

    **Fields**: `rank`, the number of columns of `W`, >= 1; None is the square root of the number of unknowns, rounded
    up.

    **Raises** `OptionError` for a rank below 1.

    **Source**: Ong, Nott & Smith (2018), "Gaussian variational approximation with a factor covariance structure",
    J. Comput. Graph. Stat. 27(3), 465-478.

    **Example**

    >>> infer.fit(coin(4, heads), infer.guides.LowRank(rank=1), quiet=True).guide
    LowRank(rank=1)
    """

    is_widened: ClassVar[bool] = True

    rank: int | None = eqx.field(static=True, default=None, kw_only=True)

    def __check_init__(self) -> None:
        if self.rank is not None:
            positive_count("LowRank: rank", self.rank)

    def _rank(self, dim: int) -> int:
        return min(math.isqrt(max(dim - 1, 0)) + 1 if self.rank is None else self.rank, dim)

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`."""
        return dim + self._rank(dim)

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`."""
        rank = self._rank(dim)
        columns = keys.generator_of(key).standard_normal((dim, rank)) * _SPREAD / math.sqrt(rank)
        return {
            "loc": np.zeros(dim, dtype),
            "log_scale": np.zeros(dim, dtype),
            "columns": columns.astype(dtype),
        }

    def widened(self, params: Params, root: Float[np.ndarray, "dim dim"]) -> Params:
        """See `AbstractGuide.widened`: by the widest directions of the covariance, and the mean of the others.

        **Source**: Tipping & Bishop (1999), "Probabilistic principal component analysis", J. R. Statist. Soc. B 61(3).
        """
        dim, rank = params["columns"].shape
        vectors, widths, _ = np.linalg.svd(np.asarray(root, float))
        rest = np.mean(widths[min(rank, dim - 1) :] ** 2)
        columns = vectors[:, :rank] * np.sqrt(np.maximum(widths[:rank] ** 2 / rest - 1, 0))
        log_scale = np.full_like(params["log_scale"], 0.5 * np.log(rest))
        return params | {"log_scale": log_scale, "columns": columns.astype(params["columns"].dtype)}

    def draw(
        self, params: Params, noise: Float[Array, " noise"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        dim = params["loc"].size
        whitened = noise[:dim] + params["columns"] @ noise[dim:]
        position = params["loc"] + jnp.exp(params["log_scale"]) * whitened
        return position, _log_prob(params, whitened)

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        return _log_prob(params, (position - params["loc"]) * jnp.exp(-params["log_scale"]))


def _log_prob(params: Params, whitened: Array) -> Any:
    """Return the log density of `whitened`, with covariance `I + W W'`, by Woodbury's formula."""
    columns = params["columns"]
    inner = jnp.eye(columns.shape[1], dtype=columns.dtype) + columns.T @ columns
    factor = jnp.linalg.cholesky(inner)
    projected = jax.scipy.linalg.solve_triangular(factor, columns.T @ whitened, lower=True)
    log_det = jnp.sum(jnp.log(jnp.diagonal(factor))) + jnp.sum(params["log_scale"])
    return standard_normal(whitened) + 0.5 * jnp.sum(projected**2) - log_det
