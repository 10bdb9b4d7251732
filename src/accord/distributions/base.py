"""Define the base class of distributions: frozen values with parameters, a support, a density and draws."""

import functools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import float_type, value_hash
from ..core.errors import DistributionError
from ..core.modules import Module
from ..core.tracebacks import entry_points
from .constraint import Constraint
from .noise import open_uniform
from .parameters import check_names, check_parameter, check_shapes, may_be_none
from .special import log1m, log_of
from .summary.levels import levels

if TYPE_CHECKING:
    from .truncation.censored import CensoredDistribution
    from .wrappers.wrappers import ExpandedDistribution, Independent, MaskedDistribution

Shape = tuple[int, ...]


@entry_points
class AbstractDistribution(Module):
    """Abstract base class of probability distributions over arrays; every distribution is a frozen pytree.

    A distribution stores its parameters as given; it precomputes and caches nothing. One value can be used under any
    transformation and in any number of threads at the same time. Parameters known while tracing (numbers, NumPy and
    concrete JAX arrays) are checked once, on construction; tracers are not.

    Draws and values have shape `sample_shape + batch_shape + event_shape`. Parameters broadcast to `batch_shape`.

    **Class variables**
    - `parameters`: the constraint of each parameter by name; its last `event_dim` axes are not batch axes.
    - `has_smooth_mode`: whether the density is known to have no kink at its mode, so that integrals need no split
      there.
    - `has_pathwise_draws`: whether draws of a class that is not accord's move smoothly with the parameters, so that the
      mean of a smooth function of draws changes by the mean of its slopes. Guides of `infer.fit` then need no scores.

    **Raises** `DistributionError` on construction, which names the parameter outside its constraint.
    """

    parameters: ClassVar[dict[str, Constraint]] = {}
    has_smooth_mode: ClassVar[bool] = False
    has_pathwise_draws: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, attribute in vars(cls).items():
            if isinstance(attribute, functools.cached_property):
                raise DistributionError(
                    f"{cls.__name__}.{name} is a functools.cached_property. The cached value may be a tracer, which "
                    "breaks every later use of the distribution. Make it a plain property."
                )

    def __new__(cls, *_: Any, **given: Any) -> Self:
        if given:
            check_names(cls, given)
        return super().__new__(cls)

    def __check_init__(self) -> None:
        for name, constraint in self.parameters.items():
            value = getattr(self, name)
            if value is not None or not may_be_none(type(self), name):
                check_parameter(type(self).__name__, name, constraint, value)
        check_shapes(self)

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

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        """Return independent draws, shape `sample_shape + batch_shape + event_shape`, determined by `key`.

        A univariate distribution with an `icdf` need not define `sample`: uniform draws pass through the `icdf`.
        """
        return self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))

    @property
    def batch_shape(self) -> Shape:
        """Shape to which the parameters broadcast."""
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
        """Number of trailing axes of a value that form one event."""
        return len(self.event_shape)

    @property
    def is_discrete(self) -> bool:
        """Return whether the support is countable."""
        return self.support.is_discrete

    @property
    def dtype(self) -> np.dtype:
        """Floating dtype of results: the widest among the parameters, JAX's default for Python numbers."""
        return float_type(*(getattr(self, name) for name in self.parameters))

    @property
    def mean(self) -> jax.Array:
        """Expectation, shape `batch_shape + event_shape`; NaN where there is none."""
        raise self._undefined("mean")

    @property
    def variance(self) -> jax.Array:
        """Variance of each element, shape `batch_shape + event_shape`; NaN where there is none."""
        raise self._undefined("variance")

    @property
    def mode(self) -> jax.Array:
        """A value of largest density or probability, shape `batch_shape + event_shape`; the smallest of several.

        Where the density is unbounded, the mode is the point at which it is; NaN if the supremum is not in the support.
        """
        raise self._undefined("mode")

    def cdf(self, value: Any) -> jax.Array:
        """Probability of being at most `value`, shape of `value`; univariate distributions only."""
        del value
        raise self._undefined("cdf")

    def icdf(self, q: Any) -> jax.Array:
        """The smallest value at which the cdf is at least `q`, in [0, 1]; univariate distributions only."""
        del q
        raise self._undefined("icdf")

    def log_cdf(self, value: Any) -> jax.Array:
        """Logarithm of the cdf; families with their own lower-tail formula stay accurate where the cdf underflows."""
        return log_of(self.cdf(value))

    def log_survival(self, value: Any) -> jax.Array:
        """Logarithm of the probability above `value`; accurate for families that have their own upper-tail formula."""
        return log1m(self.cdf(value))

    def entropy(self) -> jax.Array:
        """Differential (or discrete) entropy in nats, shape `batch_shape`."""
        raise self._undefined("entropy")

    def expand(self, batch_shape: Shape) -> "ExpandedDistribution":
        """Repeat the distribution independently over a larger batch shape, to which the present one broadcasts."""
        from .wrappers.wrappers import ExpandedDistribution

        if not isinstance(batch_shape, (tuple, list)):
            raise self.refuse(
                f"expand takes a shape, got {batch_shape!r}", f"Write `.expand(({batch_shape!r},))`."
            )
        return ExpandedDistribution(self, tuple(batch_shape))

    def to_event(self, n: int | None = None) -> "Independent":
        """Take the last `n` batch axes into the event (all of them by default): their log densities are summed."""
        from .wrappers.wrappers import Independent

        return Independent(self, len(self.batch_shape) if n is None else n)

    def mask(self, mask: Any) -> "MaskedDistribution":
        """Count only the events where `mask`, shape broadcasting to `batch_shape`, is True; the others add 0.

        A masked value has no influence on log density or gradient, even when it is NaN.
        """
        from .wrappers.wrappers import MaskedDistribution

        return MaskedDistribution(self, mask)

    def truncate(self, low: Any = None, high: Any = None) -> "AbstractDistribution":
        """Condition the distribution on a value in [low, high]; None or an infinity means no bound.

        **Arguments**: `low`, `high`, numbers or arrays that broadcast to a batch shape; `low < high`.

        **Raises** `DistributionError` when this distribution has no cdf, or is not univariate.
        """
        from .truncation.truncated import truncate

        return truncate(self, low, high)

    def censor(self, low: Any = None, high: Any = None) -> "CensoredDistribution":
        """Censor the distribution: record a value beyond a bound as that bound.

        **Arguments**: `low`, `high`, numbers or arrays that broadcast to a batch shape; None or infinity means no
        bound.

        **Raises** `DistributionError` when this distribution has no cdf, or is not univariate.
        """
        from .truncation.censored import CensoredDistribution

        return CensoredDistribution(self, low, high)

    def _shape(self, sample_shape: Shape = ()) -> Shape:
        """The whole shape of draws."""
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def _full(self, value: Any) -> jax.Array:
        """Broadcast a summary (mean, variance) to `batch_shape + event_shape`."""
        return jnp.broadcast_to(jnp.asarray(value, self.dtype), self._shape())

    def _batched(self, value: Any) -> jax.Array:
        """Broadcast a summary (entropy) to `batch_shape`."""
        return jnp.broadcast_to(jnp.asarray(value, self.dtype), self.batch_shape)

    def _knots(self) -> jax.Array:
        """Return points along a new first axis, such as quantiles and the mode, between which the density is smooth."""
        knots = self.icdf(levels(self.batch_shape, self.dtype)).astype(self.dtype)
        if self.has_smooth_mode:
            return knots
        try:
            mode = self.mode
        except DistributionError:
            return knots
        return jnp.concatenate([knots, mode.astype(self.dtype)[None]])

    def _arrays(self, *names: str) -> tuple[jax.Array, ...]:
        """Return parameters without event axes as arrays of one dtype, broadcast to the batch shape."""
        shape, dtype = self.batch_shape, self.dtype
        return tuple(jnp.broadcast_to(jnp.asarray(getattr(self, name), dtype), shape) for name in names)

    def _undefined(self, what: str) -> DistributionError:
        """Return the error for a method that this distribution does not define."""
        return DistributionError(
            f"{type(self).__name__} has no {what} in closed form. Estimate it from draws."
        )

    def refuse(self, found: str, remedy: str) -> DistributionError:
        """Return the error for parameters that do not fit together."""
        return DistributionError(f"{type(self).__name__}: {found}. {remedy}")
