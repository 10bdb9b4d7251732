"""Draw by elliptical slices: along an ellipse through where the chain stands and a draw of a normal distribution."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..adaptation.reference import Normal, Reference
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import kept, node
from .base import ACCEPTANCE_RATE, NUM_STEPS, AbstractKernel, AbstractState, ending_of, stats_of
from .point import Point
from .rarely import Rarely
from .vectors import inner

_MAX_SHRINKS = 100

_NOISE, _LEVEL, _ANGLE = range(3)  # streams of random numbers; angles by the number of the evaluation


@node
class _Ellipse:
    """An ellipse, and the bracket of angles that is left of it.

    **Fields**: `here` and `other`, shape `(dim,)`, two of its points as standard normal numbers; of shape `()`,
    `level`, the log likelihood that is exceeded inside of the slice; `low` and `high`, angles; `num_steps`,
    evaluations; `ending`, the first one that was bad.
    """

    here: Float[Array, " dim"]
    other: Float[Array, " dim"]
    level: Float[Array, ""]
    low: Float[Array, ""]
    high: Float[Array, ""]
    num_steps: Int[Array, ""]
    ending: Int[Array, ""]


@node
class EllipticalState(AbstractState):
    """A chain between two evaluations."""

    point: Point
    is_fresh: Bool[Array, ""]
    ellipse: _Ellipse
    tried: Position

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`: of a draw with a bad ending, where that was."""
        return self.tried


def _number_or_array(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else kept(value)


@checks_fields
class EllipticalSlice(AbstractKernel):
    """Elliptical slice sampler: for a posterior that is a normal prior times a likelihood, such as a latent process.

    A draw is a point of a random ellipse, which a normal distribution of the unconstrained parameters makes: give it
    their prior. It moves all of them together, with one to six evaluations a draw and nothing to be tuned, and is best
    where the likelihood says little about most of them. Any normal distribution is right. One that is narrower than the
    posterior, or far from it, makes draws that resemble each other.

    A draw is given up after 100 points outside of the slice: the chain stays in place, and `draws.stats["n_exhausted"]`
    counts it. `acceptance_rate` is the share of points that were inside.

    **Fields**: the normal distribution, of unconstrained parameters in the layout's order: `mean`, a number or shape
    `(dim,)`; `scale`, standard deviations, likewise, > 0; or `covariance`, shape `(dim, dim)`, in its place.

    **Raises** `OptionError` for both a scale and a covariance, and when a run begins, for shapes that do not fit.

    **Source**: Murray, Adams & MacKay (2010), AISTATS, figure 2; with another normal distribution than the prior,
    Nishihara, Murray & Adams (2014), JMLR 15.

    **Example**

    >>> t = np.linspace(0, 1, 5)
    >>> covariance = np.exp(-((t[:, None] - t) ** 2)) + 0.1 * np.eye(5)
    >>> @ac.model
    ... def counts(y):
    ...     level = ac.sample("level", dist.MultivariateNormal(np.zeros(5), covariance))
    ...     ac.sample("y", dist.Poisson(jnp.exp(level)), obs=y)
    >>> walk = infer.EllipticalSlice(covariance=covariance)
    >>> infer.sample(counts(np.array([2, 0, 1, 3, 5])), walk, draws=200, chains=2, quiet=True)
    <Draws of counts: 2 chains x 200 draws; level[5]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("mean", "scale", "covariance")
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, NUM_STEPS, Stat("n_exhausted", "int32"))
    mean: Any = eqx.field(default=0.0, converter=_number_or_array, kw_only=True)
    scale: Any = eqx.field(default=1.0, converter=_number_or_array, kw_only=True)
    covariance: Any = eqx.field(default=None, converter=_number_or_array, kw_only=True)

    def __check_init__(self) -> None:
        if self.covariance is not None and not (np.ndim(self.scale) == 0 and self.scale == 1.0):
            raise OptionError("EllipticalSlice: give a scale or a covariance, not both.")

    @property
    def adaptation(self) -> Reference:
        """See `AbstractKernel.adaptation`."""
        return Reference("EllipticalSlice", self.mean, self.scale, self.covariance)

    def init(self, point: Point) -> EllipticalState:
        """See `AbstractKernel.init`."""
        row: Any = np.zeros_like(point.position.free)
        zero: Any = np.zeros((), row.dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        ellipse = _Ellipse(row, row, zero, zero, zero, count, count)
        return EllipticalState(point, is_fresh, ellipse, point.position)

    def ask(
        self, key: Any, state: EllipticalState, tuning: Normal, rarely: Rarely
    ) -> tuple[Position, tuple[_Ellipse, Array, Array]]:
        """See `AbstractKernel.ask`."""
        position, is_fresh, old = state.point.position, state.is_fresh, state.ellipse
        dtype = position.free.dtype

        def begin(_: tuple[Array, Array]) -> tuple[Array, Array]:
            return tuning.pull(position.free), keys.normal(key, position.free.shape[0], _NOISE, dtype)

        here, other = rarely(is_fresh, begin, (old.here, old.other))
        num_steps = jnp.where(is_fresh, 0, old.num_steps)
        u_level = keys.uniform(key, jnp.uint32(0), jnp.uint32(_LEVEL), dtype)
        level = state.point.log_density + 0.5 * inner(here, here) + jnp.log(u_level)
        u_angle = keys.uniform(key, num_steps.astype(jnp.uint32), jnp.uint32(_ANGLE), dtype)
        turn = np.asarray(2 * np.pi, dtype)
        angle = jnp.where(is_fresh, turn * u_angle, old.low + u_angle * (old.high - old.low))
        ellipse = _Ellipse(
            here,
            other,
            jnp.where(is_fresh, level, old.level),
            jnp.where(is_fresh, angle - turn, old.low),
            jnp.where(is_fresh, angle, old.high),
            num_steps,
            jnp.where(is_fresh, 0, old.ending),
        )
        there = here * jnp.cos(angle) + other * jnp.sin(angle)
        return replace(position, free=tuning.push(there)), (ellipse, angle, there)

    def tell(
        self,
        key: Any,
        state: EllipticalState,
        point: Point,
        pending: tuple[_Ellipse, Array, Array],
        tuning: Normal,
        rarely: Rarely,
    ) -> tuple[EllipticalState, Info]:
        """See `AbstractKernel.tell`."""
        ellipse, angle, there = pending
        ending = ending_of(point)
        # A comparison with NaN is false: what is no number is outside.
        likelihood = point.log_density + 0.5 * inner(there, there)
        is_inside = (likelihood > ellipse.level) & (ending == Ending.GOOD)
        num_steps = ellipse.num_steps + 1
        is_complete = is_inside | (num_steps >= _MAX_SHRINKS)
        was_good = ellipse.ending == Ending.GOOD
        after = replace(
            ellipse,
            low=jnp.where(angle < 0, angle, ellipse.low),
            high=jnp.where(angle < 0, ellipse.high, angle),
            num_steps=num_steps,
            ending=jnp.where(was_good, ending, ellipse.ending),
        )
        taken = rarely(is_inside, lambda _: point, state.point)
        tried = jnp.where(was_good, point.position.free, state.tried.free)
        rate = jnp.where(is_inside, 1 / num_steps.astype(angle.dtype), 0)
        info = Info(is_complete, rate, after.ending, stats_of(rate, num_steps, is_complete & ~is_inside))
        return EllipticalState(taken, is_complete, after, replace(point.position, free=tried)), info
