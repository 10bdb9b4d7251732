"""Give a kernel a normal distribution to refer to; nothing is learnt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from ..core.errors import OptionError
from ..core.stats import Info
from ..core.tree import node
from .base import AbstractChainAdaptation, Item, Window
from .robust import Root
from .settled import is_settled


@node
class Normal:
    """A normal distribution of positions.

    **Fields**: `mean`, shape `(dim,)`; `root`, of its covariance, and `inverse` of that, both of shape `(dim, dim)`, or
    `(dim,)` where the coordinates are independent.
    """

    mean: Any
    root: Any
    inverse: Any

    def push(self, z: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map standard normal numbers to a position."""
        return self.mean + _product(self.root, z)

    def pull(self, x: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map a position to numbers that are standard normal where it has this distribution."""
        return _product(self.inverse, x - self.mean)


@dataclass(frozen=True, eq=False)
class Reference(AbstractChainAdaptation):
    """Adaptation of a kernel that refers to a normal distribution: its tuning is a `Normal`.

    **Fields**: `owner`, the kernel's name; `mean` and `scale`, numbers or shape `(dim,)`; `covariance`, shape `(dim,
    dim)`, in the place of a scale, or None.
    """

    owner: str
    mean: Any
    scale: Any
    covariance: Any = None

    def begin(self, dim: int, dtype: np.dtype) -> tuple[()]:
        """See `AbstractAdaptation.begin`."""
        del dim, dtype
        return ()

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        for name in ("mean", "scale"):
            value = getattr(self, name)
            if np.shape(value) not in ((), (dim,)) or not np.all(np.isfinite(value)):
                raise OptionError(
                    f"{self.owner}: {name} must be a finite number or have shape ({dim},), one for each unconstrained "
                    f"parameter; got shape {np.shape(value)}."
                )
        if not np.all(np.asarray(self.scale) > 0):
            raise OptionError(f"{self.owner}: scale must be positive.")
        if self.covariance is None:
            return
        if np.shape(self.covariance) != (dim, dim):
            raise OptionError(
                f"{self.owner}: covariance must have shape ({dim}, {dim}), a row for each unconstrained parameter; got "
                f"shape {np.shape(self.covariance)}."
            )
        is_symmetric = np.allclose(self.covariance, np.transpose(self.covariance), rtol=1e-8, atol=0)
        try:
            np.linalg.cholesky(np.asarray(self.covariance, np.float64))
        except np.linalg.LinAlgError:
            is_symmetric = False
        if not is_symmetric:
            raise OptionError(f"{self.owner}: covariance must be symmetric and positive definite.")

    def at_start(self, gradient: np.ndarray) -> Normal:
        """See `AbstractAdaptation.at_start`."""
        dim, dtype = len(gradient), gradient.dtype
        mean = np.broadcast_to(np.asarray(self.mean, np.float64), (dim,))
        if self.covariance is None:
            root = np.broadcast_to(np.asarray(self.scale, np.float64), (dim,))
            inverse = 1 / root
        else:
            root = np.linalg.cholesky(np.asarray(self.covariance, np.float64))
            inverse = np.linalg.inv(root)
        return Normal(*(np.array(each, dtype) for each in (mean, root, inverse)))

    def tuning(self, learnt: tuple[()], given: Normal, item: Item) -> Normal:
        """See `AbstractChainAdaptation.tuning`."""
        del learnt, item
        return given

    def update(self, learnt: tuple[()], given: Normal, item: Item, info: Info) -> tuple[tuple[()], bool]:
        """See `AbstractChainAdaptation.update`."""
        del given, item, info
        return learnt, True

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return is_settled(window.positions, window.log_density)

    def described(self, learnt: tuple[()], fitted: Normal) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del learnt
        root = np.asarray(fitted.root)
        scale = root if root.ndim == 1 else np.linalg.norm(root, axis=1)
        return {"reference_mean": fitted.mean, "reference_scale": scale}


def _product(factor: Any, vector: Float[Array, " dim"]) -> Float[Array, " dim"]:
    return factor * vector if factor.ndim == 1 else Root(factor).push(vector)
