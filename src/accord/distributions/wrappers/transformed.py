"""Define transformed distributions: a variable mapped by a bijector."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import AbstractBijector, Affine, Chain, align, float_type
from .. import constraint as c
from ..base import AbstractDistribution, Shape
from ..summary.levels import spread
from ..summary.moments import entropy_of, mean_of, variance_of
from ..summary.peak import mode_of
from ..truncation.interval_support import ends
from .image import image


class TransformedDistribution(AbstractDistribution):
    """Transformed distribution of `y = f(x)` for a variable x and a bijector f.

    If f acts on events with more axes than x has, batch axes of x are taken into the event.

    **Fields**
    - `base_distribution`: the distribution of x; continuous.
    - `transforms`: a bijector, or a sequence of them, the first applied first.
    - `constraint`: the support, given as `support=`; needed only where the image is not known from the bijectors.

    **Density**: `g(x) |det dx/dy|`, g the density of x.

    **Source**: Billingsley (1995), Probability and Measure, section 20, equation 20.20.
    """

    base_distribution: AbstractDistribution
    transforms: Any
    constraint: c.Constraint | None = None
    has_smooth_mode: ClassVar[bool] = True

    def __init__(
        self,
        base_distribution: AbstractDistribution,
        transforms: Any,
        *,
        support: c.Constraint | None = None,
    ):
        self.base_distribution = base_distribution
        self.transforms = transforms
        self.constraint = support

    def __check_init__(self) -> None:
        parts = self.parts
        wrong = [type(part).__name__ for part in parts if not isinstance(part, AbstractBijector)]
        if wrong or not parts:
            raise self.refuse(
                f"transforms holds {', '.join(wrong) or 'nothing'}",
                "Give a bijector or a sequence of bijectors.",
            )
        if self.base_distribution.is_discrete:
            raise self.refuse(
                f"{type(self.base_distribution).__name__} is discrete", "Give a continuous distribution."
            )
        shape = (*self.base_distribution.batch_shape, *self.base_distribution.event_shape)
        if len(shape) < self.bijector.domain_event_dim:
            raise self.refuse(
                f"{type(self.base_distribution).__name__} has draws of shape {shape}, but the transforms act on events "
                f"of {self.bijector.domain_event_dim} axes",
                "Expand it first.",
            )

    @property
    def parts(self) -> tuple[AbstractBijector, ...]:
        """Return the bijectors, the first applied first."""
        return tuple(self.transforms) if isinstance(self.transforms, (list, tuple)) else (self.transforms,)

    @property
    def bijector(self) -> AbstractBijector:
        """Return all bijectors as one."""
        return self.parts[0] if len(self.parts) == 1 else Chain(self.parts)

    @property
    def batch_shape(self) -> Shape:
        shape = self._whole_shape()
        return shape[: len(shape) - self.event_dim]

    @property
    def event_shape(self) -> Shape:
        shape = self._whole_shape()
        return shape[len(shape) - self.event_dim :]

    @property
    def event_dim(self) -> int:
        return self._base_event_dim + self.bijector.codomain_event_dim - self.bijector.domain_event_dim

    @property
    def dtype(self) -> np.dtype:
        return float_type(*jax.tree.leaves((self.base_distribution, self.parts)))

    @property
    def support(self) -> c.Constraint:
        if self.constraint is not None:
            return self.constraint
        support = self.base_distribution.support
        missing = self._base_event_dim - support.event_dim
        found = image(self.parts, c.Independent(support, missing) if missing else support)
        if found is None:
            raise self.refuse(
                f"the image of {support} under {', '.join(type(part).__name__ for part in self.parts)} is not known",
                "Name the support: `support=constraints.real_vector`.",
            )
        return found

    @property
    def mean(self) -> jax.Array:
        if isinstance(self.bijector, Affine):
            return jnp.broadcast_to(self.bijector.forward(self.base_distribution.mean), self._shape())
        return mean_of(self, self._knots_for("mean"))

    @property
    def variance(self) -> jax.Array:
        if isinstance(self.bijector, Affine):
            variance, scale = align(self.base_distribution.variance, self.bijector.scale)
            return jnp.broadcast_to(scale * scale * variance, self._shape())
        return variance_of(self, self._knots_for("variance"))

    @property
    def mode(self) -> jax.Array:
        if isinstance(self.bijector, Affine):
            return jnp.broadcast_to(self.bijector.forward(self.base_distribution.mode), self._shape())
        return mode_of(self, self._knots_for("mode"))

    def entropy(self) -> jax.Array:
        return entropy_of(self, self._knots_for("entropy"))

    def log_prob(self, value: Any) -> jax.Array:
        y, is_outside, is_missing = self._inside(value)
        x, log_det = self.bijector.inverse_and_log_det(y)
        # Either may have batch axes that belong to the other's event: sum over them.
        extra = self._base_event_dim - self.bijector.domain_event_dim
        log_det = log_det.sum(axis=tuple(range(-extra, 0))) if extra else log_det
        density = self.base_distribution.log_prob(x)
        extra = self._base_event_dim - self.base_distribution.event_dim
        density = density.sum(axis=tuple(range(-extra, 0))) if extra else density
        result = density + log_det
        return jnp.where(is_missing, jnp.nan, jnp.where(is_outside, -jnp.inf, result))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.bijector.forward(self.base_distribution.sample(key, sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        x, is_decreasing, is_below, is_above = self._pull_back(value, "cdf")
        base = self.base_distribution
        share = jnp.where(is_decreasing, jnp.exp(base.log_survival(x)), base.cdf(x))
        return jnp.where(is_below, 0.0, jnp.where(is_above, 1.0, share))

    def log_cdf(self, value: Any) -> jax.Array:
        x, is_decreasing, is_below, is_above = self._pull_back(value, "log_cdf")
        base = self.base_distribution
        share = jnp.where(is_decreasing, base.log_survival(x), base.log_cdf(x))
        return jnp.where(is_below, -jnp.inf, jnp.where(is_above, 0.0, share))

    def log_survival(self, value: Any) -> jax.Array:
        x, is_decreasing, is_below, is_above = self._pull_back(value, "log_survival")
        base = self.base_distribution
        share = jnp.where(is_decreasing, base.log_cdf(x), base.log_survival(x))
        return jnp.where(is_below, 0.0, jnp.where(is_above, -jnp.inf, share))

    def icdf(self, q: Any) -> jax.Array:
        self._refuse_events("icdf")
        q = jnp.asarray(q, float_type(q, *jax.tree.leaves((self.base_distribution, self.parts))))
        q = jnp.broadcast_to(q, np.broadcast_shapes(q.shape, self.batch_shape))
        inside = jax.lax.stop_gradient(self.support.feasible_like(q))
        return self.bijector.forward(self.base_distribution.icdf(jnp.where(self._falls(inside), 1 - q, q)))

    @property
    def _base_event_dim(self) -> int:
        """Return the number of trailing axes of a base draw that belong to the event."""
        return max(self.base_distribution.event_dim, self.bijector.domain_event_dim)

    def _whole_shape(self) -> Shape:
        """Return the shape of one draw; parameters of an elementwise bijector may add batch axes."""
        base = self.base_distribution
        shape = (*base.batch_shape, *base.event_shape)
        like = jax.ShapeDtypeStruct(shape, base.dtype)
        return jax.eval_shape(lambda x: self.bijector.forward(x), like).shape

    def _inside(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, replaced where it is outside the support, and whether it was outside or NaN."""
        y = jnp.asarray(value, float_type(value, *jax.tree.leaves((self.base_distribution, self.parts))))
        shape = np.broadcast_shapes(y.shape, self._shape())
        y = jnp.broadcast_to(y, shape)
        support = self.support
        is_inside, is_missing = support(y), jnp.isnan(y)
        extra = self.event_dim - support.event_dim
        if extra:
            is_inside = is_inside.all(axis=tuple(range(-extra, 0)))
        if self.event_dim:
            is_missing = is_missing.any(axis=tuple(range(-self.event_dim, 0)))
        shown = jnp.expand_dims(is_inside, range(is_inside.ndim, y.ndim))
        inside = jax.lax.stop_gradient(support.feasible_like(y)).astype(y.dtype)
        return jnp.where(shown, y, inside), ~is_inside, is_missing

    def _pull_back(self, value: Any, what: str) -> tuple[jax.Array, ...]:
        """Return x, whether f decreases, and whether the value was below or above the support."""
        self._refuse_events(what)
        y, is_outside, is_missing = self._inside(value)
        original = jnp.broadcast_to(jnp.asarray(value, y.dtype), y.shape)
        lower, upper = ends(self.support)
        del lower
        is_above = is_outside & (original >= jnp.broadcast_to(jnp.asarray(upper, y.dtype), y.shape))
        x = jnp.where(is_missing, jnp.nan, self.bijector.inverse(y))
        return x, self._falls(y), is_outside & ~is_above & ~is_missing, is_above

    def _falls(self, y: jax.Array) -> jax.Array:
        """Return whether f is decreasing, from its slope at a point inside."""
        at = jax.lax.stop_gradient(y)
        return jax.jvp(self.bijector.inverse, (at,), (jnp.ones_like(at),))[1] < 0

    def _knots_for(self, what: str) -> jax.Array:
        """Return the knots, for methods that only univariate distributions have."""
        self._refuse_events(what)
        return self._knots()

    def _knots(self) -> jax.Array:
        knots = spread(self.base_distribution._knots(), self.batch_shape)
        return self.bijector.forward(knots).astype(self.dtype)

    def _refuse_events(self, what: str) -> None:
        """Raise unless f acts on single numbers, one by one."""
        if self.event_dim or self.bijector.domain_event_dim:
            raise self._undefined(what)
