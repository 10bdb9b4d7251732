"""State what a distribution is: a frozen value with parameters, a support, a density and draws."""

import functools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import float_type, is_concrete, is_number, value_hash
from ..core.errors import DistributionError
from .constraint import Constraint, Real
from .constraint import Independent as ManyOf

if TYPE_CHECKING:
    from .wrappers import Expanded, Independent, Masked

Shape = tuple[int, ...]


class AbstractDistribution(eqx.Module):
    """A frozen probability distribution over arrays.

    A distribution stores its parameters as they were given, computes nothing ahead and keeps nothing, so one value can
    be used under any transformation, in any number of threads, at the same time. Parameters known while tracing
    (numbers, NumPy and concrete JAX arrays) are checked once, on construction; tracers are not.

    Draws and values have shape `sample_shape + batch_shape + event_shape`. Parameters broadcast to `batch_shape`.

    **Class variables**
    - `parameters`: the constraint of each parameter by name; its last `event_dim` axes are not batch axes.

    **Raises** `DistributionError` on construction, naming the parameter, when one is outside its constraint.
    """

    parameters: ClassVar[dict[str, Constraint]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, attribute in vars(cls).items():
            if isinstance(attribute, functools.cached_property):
                raise DistributionError(
                    f"{cls.__name__}.{name} is a functools.cached_property. What it keeps may be a tracer, which "
                    "breaks every later use of the distribution. Make it a plain property."
                )

    def __check_init__(self) -> None:
        for name, constraint in self.parameters.items():
            value = getattr(self, name)
            if value is not None:
                _check_parameter(type(self).__name__, name, constraint, value)

    def __hash__(self) -> int:
        return value_hash(self)

    @property
    @abstractmethod
    def support(self) -> Constraint:
        """The values of positive density. Its bounds may be parameters, hence tracers."""

    @abstractmethod
    def log_prob(self, value: Any) -> jax.Array:
        """Logarithm of the density (or of the probability) at `value`.

        **Arguments**: `value`, shape `sample_shape + batch_shape + event_shape`; integers are converted.

        **Returns** shape `sample_shape + batch_shape`; outside the support -inf, with a zero gradient. NaN gives NaN.
        """

    @abstractmethod
    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        """Independent draws, shape `sample_shape + batch_shape + event_shape`, as a function of `key`."""

    @property
    def batch_shape(self) -> Shape:
        """The shape to which the parameters broadcast."""
        shapes = []
        for name, constraint in self.parameters.items():
            value = getattr(self, name)
            if value is not None:
                shape = np.shape(value)
                shapes.append(shape[: len(shape) - constraint.event_dim])
        return np.broadcast_shapes(*shapes)

    @property
    def event_shape(self) -> Shape:
        """The shape of one event; `()` for univariate distributions."""
        return ()

    @property
    def event_dim(self) -> int:
        """How many trailing axes of a value form one event."""
        return len(self.event_shape)

    @property
    def is_discrete(self) -> bool:
        """Whether the support is countable."""
        return self.support.is_discrete

    @property
    def dtype(self) -> np.dtype:
        """The floating dtype in which parameters meet: the widest among them, JAX's default for Python numbers."""
        return float_type(*(getattr(self, name) for name in self.parameters))

    @property
    def mean(self) -> jax.Array:
        """Expectation, shape `batch_shape + event_shape`; NaN where there is none."""
        raise self._undefined("mean")

    @property
    def variance(self) -> jax.Array:
        """Variance of each element, shape `batch_shape + event_shape`; NaN where there is none."""
        raise self._undefined("variance")

    def cdf(self, value: Any) -> jax.Array:
        """Probability of being at most `value`, shape of `value`; univariate distributions only."""
        del value
        raise self._undefined("cdf")

    def icdf(self, q: Any) -> jax.Array:
        """The value at which the cdf is `q`, in [0, 1]; univariate continuous distributions only."""
        del q
        raise self._undefined("icdf")

    def entropy(self) -> jax.Array:
        """Differential (or discrete) entropy in nats, shape `batch_shape`."""
        raise self._undefined("entropy")

    def expand(self, batch_shape: Shape) -> "Expanded":
        """The same distribution, independently over a batch shape to which the present one broadcasts."""
        from .wrappers import Expanded

        return Expanded(self, tuple(batch_shape))

    def to_event(self, n: int | None = None) -> "Independent":
        """Take the last `n` batch axes into the event (all of them by default): their log densities are summed."""
        from .wrappers import Independent

        return Independent(self, len(self.batch_shape) if n is None else n)

    def mask(self, mask: Any) -> "Masked":
        """Count only the events where `mask`, shape broadcasting to `batch_shape`, is True; the others add 0.

        A masked value has no influence on log density or gradient, even when it is NaN.
        """
        from .wrappers import Masked

        return Masked(self, mask)

    def _shape(self, sample_shape: Shape = ()) -> Shape:
        """The whole shape of draws."""
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def _full(self, value: Any) -> jax.Array:
        """Broadcast a summary (mean, variance) to `batch_shape + event_shape`."""
        return jnp.broadcast_to(jnp.asarray(value, self.dtype), self._shape())

    def _batched(self, value: Any) -> jax.Array:
        """Broadcast a summary (entropy) to `batch_shape`."""
        return jnp.broadcast_to(jnp.asarray(value, self.dtype), self.batch_shape)

    def _arrays(self, *names: str) -> tuple[jax.Array, ...]:
        """Parameters without event axes, as arrays of one dtype broadcast to the batch shape."""
        shape, dtype = self.batch_shape, self.dtype
        return tuple(jnp.broadcast_to(jnp.asarray(getattr(self, name), dtype), shape) for name in names)

    def _undefined(self, what: str) -> DistributionError:
        """The error for what this distribution does not define."""
        return DistributionError(
            f"{type(self).__name__} has no {what} in closed form. Estimate it from draws."
        )

    def refuse(self, found: str, remedy: str) -> DistributionError:
        """The error for parameters that do not fit together."""
        return DistributionError(f"{type(self).__name__}: {found}. {remedy}")


def exactly_one(distribution: AbstractDistribution, *names: str) -> None:
    """Raise `DistributionError` unless exactly one of the named parameters was given."""
    given = [name for name in names if getattr(distribution, name) is not None]
    if len(given) != 1:
        raise DistributionError(
            f"{type(distribution).__name__}: got {' and '.join(given) or 'none'} of {', '.join(names)}. "
            "Give exactly one."
        )


def _check_parameter(distribution: str, name: str, constraint: Constraint, value: Any) -> None:
    """Raise `DistributionError` when a parameter known now is of the wrong kind or outside its constraint."""
    if not (is_number(value) or isinstance(value, (jax.Array, np.ndarray, np.generic))):
        if hasattr(value, "shape") or type(value) is object:
            return  # a placeholder that JAX puts in a pytree while it takes structures apart
        raise DistributionError(
            f"{distribution}: {name} is a {type(value).__name__}. Give a number, a NumPy array or a JAX array."
        )
    if np.ndim(value) < constraint.event_dim:
        raise DistributionError(
            f"{distribution}: {name} has shape {np.shape(value)}, but needs at least {constraint.event_dim} "
            f"{'axis' if constraint.event_dim == 1 else 'axes'}."
        )
    if not is_concrete(value):
        return
    plain = np.asarray(value)
    if plain.ndim == 0 and np.isnan(plain):
        raise DistributionError(f"{distribution}: {name} is NaN. It must be {describe(constraint)}.")
    if isinstance(constraint, Real):
        return
    # NaN in an array may stand behind a mask: it makes the log density NaN where it is used, which a run explains.
    inside = constraint(plain) | np.isnan(plain).any(
        tuple(range(plain.ndim - constraint.event_dim, plain.ndim))
    )
    if not np.all(inside):
        where = np.argwhere(~np.asarray(inside))[0]
        found = plain[tuple(where)]
        at = f" at index {tuple(int(i) for i in where)}" if where.size else ""
        raise DistributionError(
            f"{distribution}: {name} must be {describe(constraint)}, got {found}{at}. "
            f"Check the sign and the order of the arguments, or transform {name} first."
        )


def describe(constraint: Constraint) -> str:
    """A constraint in words, for messages."""
    bounds = [str(leaf) for leaf in jax.tree.leaves(constraint)]
    words = {
        "GreaterThan": "above {}",
        "GreaterThanOrEqual": "at least {}",
        "LessThan": "below {}",
        "Interval": "between {} and {}",
        "OpenInterval": "strictly between {} and {}",
        "Boolean": "0 or 1",
        "IntegerGreaterThanOrEqual": "a whole number of at least {}",
        "IntegerInterval": "a whole number from {} to {}",
        "Simplex": "non-negative with sum 1 along the last axis",
        "Ordered": "increasing along the last axis",
        "PositiveOrdered": "positive and increasing along the last axis",
        "LowerCholesky": "lower triangular with a positive diagonal",
        "PositiveDefinite": "symmetric and positive definite",
        "Real": "a real number",
    }
    if isinstance(constraint, ManyOf):
        return describe(constraint.base)
    return words.get(type(constraint).__name__, str(constraint)).format(*bounds)
