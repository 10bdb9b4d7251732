"""Map part of a vector by a bijector whose parameters a network computes from the rest."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp

from ..arrays import float_type
from ..base import AbstractBijector
from ..elementwise import Affine
from .networks import DenseNN, limit
from .splines import RationalQuadraticSpline, split_pieces


class Family(Protocol):
    """Abstract base class of elementwise bijector families: hashable values such as `AffineFamily()`."""

    @property
    def num_parameters(self) -> int:
        """Number of parameters for each element."""
        ...

    def __call__(self, free: jax.Array) -> AbstractBijector:
        """Build the bijector of vectors from parameters of shape `(..., n, num_parameters)`, any real numbers."""
        ...


class AffineFamily(eqx.Module):
    """Scale and shift; the log scale is limited smoothly, so that nothing overflows.

    **Example**

    >>> flow = bijectors.Coupling.init(jax.random.key(0), 3, 1, family=bijectors.AffineFamily(-2.0, 2.0))
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> y.shape, log_det.shape
    ((3,), ())
    """

    low: float = eqx.field(static=True, default=-5.0)
    high: float = eqx.field(static=True, default=3.0)

    @property
    def num_parameters(self) -> int:
        """Two: a shift and a log scale."""
        return 2

    def __call__(self, free: jax.Array) -> AbstractBijector:
        """Build a scale and shift from the two numbers of each element."""
        return Affine(free[..., 0], jnp.exp(limit(free[..., 1], self.low, self.high)))


class SplineFamily(eqx.Module):
    """Rational quadratic splines on [-bound, bound].

    **Example**

    >>> flow = bijectors.Coupling.init(jax.random.key(0), 3, 1, family=bijectors.SplineFamily(4))
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> y.shape, log_det.shape
    ((3,), ())
    """

    num_pieces: int = eqx.field(static=True, default=8)
    bound: float = eqx.field(static=True, default=3.0)

    @property
    def num_parameters(self) -> int:
        """Number of widths and heights of the pieces, and slopes between them."""
        return 3 * self.num_pieces - 1

    def __call__(self, free: jax.Array) -> AbstractBijector:
        """Build the spline with these numbers as widths, heights and slopes."""
        return RationalQuadraticSpline(*split_pieces(free), bound=self.bound)


class Coupling(AbstractBijector):
    """Keep the first elements of a vector; map the others by a bijector that depends on the first ones.

    Forward and inverse cost one evaluation of the network and are as exact as the family. Chain several, with a
    permutation between them, so that every element is mapped.

    **Fields**
    - `network`: maps `(..., split)` to `(..., (n - split) * family.num_parameters)`; it is never inverted.
    - `family`: makes the elementwise bijector from the numbers of each element: `AffineFamily()`, `SplineFamily()` or
      any hashable value like them.
    - `split`: how many elements are kept, from 1 to n - 1.

    **Source**: Dinh, Sohl-Dickstein & Bengio (2017), Density estimation using real NVP, equations 4 and 5; Durkan et
    al. (2019), Neural spline flows, section 3.

    **Example**

    >>> flow = bijectors.Coupling.init(jax.random.key(0), 3, 1)  # keeps the first of three
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> print(y[0], y.shape, log_det.shape)
    0.5 (3,) ()
    """

    network: Callable[[jax.Array], jax.Array]
    family: Family = eqx.field(static=True)
    split: int = eqx.field(static=True)
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    @classmethod
    def init(
        cls,
        key: jax.Array,
        size: int,
        split: int,
        *,
        family: Family | None = None,
        hidden_dims: Sequence[int] = (32, 32),
        last_scale: float = 0.1,
    ) -> "Coupling":
        """Draw a plain network with tanh between its layers; a small `last_scale` starts near the identity."""
        family = AffineFamily() if family is None else family
        if not 0 < split < size:
            raise ValueError(f"Coupling: split is {split}. Give a number from 1 to {size - 1}.")
        sizes = (split, *hidden_dims, (size - split) * family.num_parameters)
        return cls(DenseNN.init(key, sizes, last_scale=last_scale), family, split)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        return self._map(x, lambda bijector, part: bijector.forward_and_log_det(part))

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return self._map(y, lambda bijector, part: bijector.inverse_and_log_det(part))

    def _map(self, value: Any, direction: Callable[..., Any]) -> tuple[jax.Array, jax.Array]:
        """Map the last elements forward or back."""
        numbers = jax.tree.leaves(eqx.filter(self.network, eqx.is_inexact_array))
        value = jnp.asarray(value, float_type(value, *numbers))
        kept, others = value[..., : self.split], value[..., self.split :]
        free = self.network(kept).reshape((*others.shape, self.family.num_parameters))
        mapped, log_det = direction(self.family(free), others)
        return jnp.concatenate([kept, mapped], axis=-1), log_det.sum(axis=-1)
