"""Define the base class of covariance functions: frozen values that map two sets of points to a matrix."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import float_type, is_concrete, value_hash
from ..core.errors import DistributionError
from ..core.modules import Module
from ..distributions import constraints
from ..distributions.constraint import Constraint
from ..distributions.parameters import check_names, check_parameter


class AbstractCovariance(Module):
    """Abstract base class of covariance functions of Gaussian processes.

    `covariance(x, z)` is the matrix between points `x`, shape `(n,)` or `(n, d)`, and `z`, shape `(k,)` or `(k, d)`;
    without `z`, the covariance of `x` with itself. Its shape is `(n, k)`.

    **Fields**
    - `amplitude`: standard deviation of the process at any point, > 0, shape `()`.
    - `lengthscale`: distance over which the process changes, in the units of `x`, > 0, shape `()`, or `(d,)` for one
      per axis.

    **Raises** `DistributionError` on construction for a known parameter that is not positive.

    **Example**

    >>> class Line(gp.AbstractCovariance):
    ...     def __call__(self, x, z=None):
    ...         return self.amplitude**2 * jnp.outer(x, x if z is None else z) / self.lengthscale**2
    >>> print(Line(amplitude=2.0)(np.array([0.0, 1.0, 3.0])))
    [[ 0.  0.  0.]
     [ 0.  4. 12.]
     [ 0. 12. 36.]]
    """

    amplitude: Any = 1.0
    lengthscale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "amplitude": constraints.positive,
        "lengthscale": constraints.positive,
    }

    def __new__(cls, *_: Any, **given: Any) -> Self:
        if given:
            check_names(cls, given)
        return super().__new__(cls)

    def __check_init__(self) -> None:
        for name, constraint in self.parameters.items():
            value = getattr(self, name)
            check_parameter(type(self).__name__, name, constraint, value)
            most = 1 if name == "lengthscale" else 0
            if hasattr(value, "shape") and np.ndim(value) > most:
                raise DistributionError(
                    f"{type(self).__name__}: {name} has shape {np.shape(value)}, but must be a number"
                    f"{' or one for each axis' * most}. For several processes, build one covariance for each, or "
                    "`jax.vmap` over the computation."
                )

    def __hash__(self) -> int:
        return value_hash(self)

    @abstractmethod
    def __call__(self, x: Any, z: Any = None) -> jax.Array:
        """Return the matrix of covariances; see the class."""

    def _points(self, *sets: Any) -> tuple[jax.Array, ...]:
        """Return sets of points of one dtype, each of shape `(n, d)`.

        **Raises** `DistributionError` for invalid points, or points with other axes than the lengthscales.
        """
        dtype = self._dtype(*sets)
        found = tuple(as_points(type(self).__name__, each, dtype) for each in sets)
        num_axes = found[0].shape[-1]
        if any(each.shape[-1] != num_axes for each in found) or np.shape(self.lengthscale) not in (
            (),
            (num_axes,),
        ):
            shapes = ", ".join(str(np.shape(each)) for each in sets)
            scale = np.shape(self.lengthscale)
            raise DistributionError(
                f"{type(self).__name__}: the points have shape {shapes} and the lengthscale {scale}. "
                "Give points of shape (n, d), or (n,) on a line, and a lengthscale of shape () or (d,)."
            )
        return found

    def _dtype(self, *others: Any) -> np.dtype:
        return float_type(*others, *(getattr(self, name) for name in self.parameters))


def library_of(*values: Any) -> tuple[Any, np.dtype]:
    """Choose NumPy and float64 if all is known and nothing is JAX's, so that a model's inputs stay accurate.

    Otherwise choose `jax.numpy`, with the common dtype of the values.
    """
    if all(is_concrete(value) and not isinstance(value, jax.Array) for value in values):
        return np, np.dtype(np.float64)
    return jnp, float_type(*values)


def as_points(owner: str, x: Any, dtype: Any, library: Any = jnp) -> Any:
    """Return points as an array of shape `(n, d)`; points on a line may have shape `(n,)`."""
    if np.ndim(x) not in (1, 2):
        raise DistributionError(
            f"{owner}: points must have shape (n,) or (n, d), got {np.shape(x)}. One point is `x[None]`."
        )
    x = library.asarray(x, dtype)
    return x[:, None] if x.ndim == 1 else x
