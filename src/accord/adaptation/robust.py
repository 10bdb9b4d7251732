"""Tune the covariance of a random walk by how often its steps are accepted."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..core.errors import OptionError
from ..core.stats import Ending, Info
from ..core.tree import node, where
from . import step_size as step_sizes
from .base import AbstractChainAdaptation, Item, Window
from .settled import is_settled
from .step_size import StepSizeState
from .tuning import Tuning

MAX_DIM = 500
"""Dimensions up to which a covariance is learnt: a chain carries all of its root, two megabytes there."""

_DECAY = 0.6  # gamma of the source
_MAX_SUMMED_DIM = 63  # beyond, a root has more numbers than XLA adds up within a piece of machine code


@node
class Root:
    """A root S of a covariance S S', shape `(dim, dim)`, in the place of a metric."""

    root: Float[Array, "dim dim"]

    def push(self, y: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map a standard normal step to one with the covariance: S y."""
        if y.shape[0] > _MAX_SUMMED_DIM:
            return jnp.dot(self.root, y)
        return jnp.sum(self.root * y[None], 1)


@node
class RobustState:
    """State of a robust adaptation.

    **Fields**: `search`, for the size of first steps, which stays a factor of all; `root`; `count`, shape `()`, of the
    draws that it was learnt from.
    """

    search: StepSizeState
    root: Root
    count: Float[Array, ""]


@dataclass(frozen=True)
class Robust(AbstractChainAdaptation):
    """Robust adaptive Metropolis: steps grow in directions in which they are accepted more often than is aimed at.

    The size of the first steps is searched for by probes, as `hamiltonian` does. `info.seen` has the standard normal
    step of a draw, shape `(dim,)`.

    **Fields**
    - `target_accept`.
    - `columns`: indices of the free numbers that the walk moves, which are the dimensions here; None is all of them.
    - `first_step`: size of the first steps, if it is not searched for, as where acceptances are noisy. Small steps grow
      in a few draws, and large ones shrink in hundreds.

    **Source**: Vihola (2012), "Robust adaptive Metropolis algorithm with coerced acceptance rate", Statistics and
    Computing 22(5), 997-1008. Its root is a Cholesky factor. Ours is another root of the same covariance, whose update
    of rank one needs no factorisation.
    """

    target_accept: float
    columns: tuple[int, ...] | None = None
    first_step: float | None = None

    def begin(self, dim: int, dtype: np.dtype) -> RobustState:
        """See `AbstractAdaptation.begin`."""
        root: Any = np.eye(self._moved(dim), dtype=dtype)
        count: Any = np.zeros((), dtype)
        return RobustState(StepSizeState.start(self.first_step or 1.0, dtype), Root(root), count)

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        dim = self._moved(dim)
        if dim > MAX_DIM:
            raise OptionError(
                f"RandomWalk: a covariance is learnt in up to {MAX_DIM} dimensions, and the posterior has {dim}. "
                "Use infer.NUTS(), or the metric of RandomWalk() that is learnt from gradients."
            )

    def at_start(self, gradient: np.ndarray) -> np.ndarray:
        """See `AbstractAdaptation.at_start`: the target alone, so that it is an argument of the program."""
        return np.asarray(self.target_accept, gradient.dtype)

    def tuning(self, learnt: RobustState, given: np.ndarray, item: Item) -> Tuning:
        """See `AbstractChainAdaptation.tuning`."""
        metric: Any = learnt.root
        return Tuning(learnt.search.step_size, metric, is_probe=~item.is_draw)

    def update(self, learnt: RobustState, given: Any, item: Item, info: Info) -> tuple[RobustState, Array]:
        """See `AbstractChainAdaptation.update`."""
        acceptance = jnp.where(info.ending == Ending.GOOD, info.acceptance, 0)
        probed, is_found = step_sizes.probe(learnt.search, acceptance)
        is_learning = item.is_draw & (item.draw < item.num_warmup)
        count = learnt.count + is_learning
        root = jax.lax.cond(
            is_learning,
            lambda root: updated(root, info.seen, acceptance - given, count),
            lambda root: root,
            learnt.root,
        )
        search = where(item.is_probe, probed, learnt.search)
        is_next_draw = item.is_draw | (item.is_probe & is_found) | (self.first_step is not None)
        return RobustState(search, root, count), is_next_draw

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        moved = window.positions if self.columns is None else window.positions[:, list(self.columns)]
        return is_settled(moved, window.log_density)

    def described(self, learnt: RobustState, fitted: np.ndarray) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del fitted
        scales = np.asarray(learnt.search.step_size) * np.linalg.norm(np.asarray(learnt.root.root), axis=1)
        return {"proposal_scale": scales, "target_accept": float(self.target_accept)}

    def _moved(self, dim: int) -> int:
        return dim if self.columns is None else len(self.columns)


def updated(
    root: Root, step: Float[Array, " dim"], excess: Float[Array, ""], count: Float[Array, ""]
) -> Root:
    """Return the root after draw `count`, from 1, whose standard normal `step` was accepted with so much `excess`.

    S S' becomes S (I + b v v') S', with the direction v of the step and b = min(1, dim count^-0.6) excess.
    """
    dim = step.shape[0]
    gain = jnp.minimum(1, dim * count**-_DECAY) * excess  # above -1, since a target is below 1
    direction = step / jnp.sqrt(jnp.sum(step * step))
    along = (jnp.sqrt(1 + gain) - 1) * root.push(direction)
    return Root(root.root + along[:, None] * direction[None])
