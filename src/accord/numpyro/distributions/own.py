"""Take distributions that a NumPyro program defines by a class of its own."""

import copy
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import distributions as dist
from ...core.errors import SiteError
from ...distributions import AbstractDistribution
from ...distributions.constraint import Constraint


class Distribution:
    """Base class for distributions of your own, as `numpyro.distributions.Distribution` is.

    A subclass has `log_prob(value)`, and where it is drawn from, `sample(key, sample_shape)`; arrays that it sets in
    `__init__` may be traced.

    **Class variables**: `support`, a constraint. `arg_constraints` is kept for programs that read it.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support: Any = None
    reparametrized_params: ClassVar[list[str]] = []
    pytree_data_fields: ClassVar[tuple[str, ...]] = ()
    pytree_aux_fields: ClassVar[tuple[str, ...]] = ()
    has_enumerate_support = False

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), *, validate_args: bool | None = None
    ) -> None:
        del validate_args
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of independent copies."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Shape of one event."""
        return self._event_shape

    @property
    def event_dim(self) -> int:
        """Number of trailing axes of a value that form one event."""
        return len(self._event_shape)

    def shape(self, sample_shape: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Shape of draws."""
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Return independent draws."""
        raise NotImplementedError(f"{type(self).__name__} has no `sample`.")

    def log_prob(self, value: Any) -> Any:
        """Logarithm of the density at `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no `log_prob`.")

    def __call__(self, *args: Any, rng_key: Any = None, sample_shape: tuple[int, ...] = (), **_: Any) -> Any:
        """Draw by `rng_key`."""
        return self.sample(rng_key, sample_shape)

    def expand(self, batch_shape: Any) -> AbstractDistribution:
        """Repeat the distribution independently over a larger batch shape."""
        return Written.of(self).expand(tuple(batch_shape))

    def expand_by(self, sample_shape: Any) -> AbstractDistribution:
        """Repeat the distribution over further batch axes on the left."""
        return self.expand((*sample_shape, *self.batch_shape))

    def to_event(self, reinterpreted_batch_ndims: int | None = None) -> AbstractDistribution:
        """Take the last batch axes into the event."""
        return Written.of(self).to_event(reinterpreted_batch_ndims)

    def mask(self, mask: Any) -> AbstractDistribution:
        """Count only the events where `mask` is true."""
        return Written.of(self).mask(mask)


class Written(AbstractDistribution):
    """A distribution that is written as a class of a NumPyro program.

    **Fields**: `arrays`, the attributes of the object that are arrays; `law`, the object without them.
    """

    arrays: dict[str, Any]
    law: Any = eqx.field(static=True)

    @classmethod
    def of(cls, law: Distribution) -> "Written":
        """Take the arrays of an object apart from the rest."""
        arrays = {
            name: value for name, value in vars(law).items() if isinstance(value, jax.Array | np.ndarray)
        }
        bare = copy.copy(law)
        for name in arrays:
            delattr(bare, name)
        return cls(arrays, bare)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self._law().batch_shape)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return tuple(self._law().event_shape)

    @property
    def dtype(self) -> np.dtype:
        floats = [a.dtype for a in self.arrays.values() if jnp.issubdtype(a.dtype, jnp.floating)]
        return np.dtype(jnp.result_type(*floats) if floats else jnp.result_type(float))

    @property
    def support(self) -> Constraint:
        """Return the support that the class names; real numbers where it names none."""
        found = self._law().support
        if isinstance(found, Constraint):
            return found
        real = dist.constraints.real
        return dist.constraints.independent(real, len(self.event_shape)) if self.event_shape else real

    def log_prob(self, value: Any) -> jax.Array:
        return self._law().log_prob(value)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        return self._law().sample(key, sample_shape)

    def _law(self) -> Any:
        """Return the object with its arrays."""
        law = copy.copy(self.law)
        for name, value in self.arrays.items():
            setattr(law, name, value)
        return law


def as_law(given: Any, where: str) -> AbstractDistribution:
    """Return a distribution of accord for what a NumPyro program gives as one.

    **Raises** `SiteError` for anything else.
    """
    if isinstance(given, AbstractDistribution):
        return given
    if isinstance(given, Distribution):
        return Written.of(given)
    kind = type(given)
    if kind.__module__.partition(".")[0] == "numpyro":
        raise SiteError(
            f"{where}: {kind.__name__} is a distribution of the library NumPyro itself. Import distributions by "
            "`import accord.numpyro.distributions as dist`, or run the script by `accord run-numpyro`."
        )
    raise SiteError(
        f"{where}: expected a distribution, got {kind.__name__} {given!r}. Give one of `numpyro.distributions`, such "
        "as `dist.Normal(0, 1)`."
    )
