"""Draw by Metropolis's algorithm with proposals of the user's own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..adaptation.fixed import Fixed
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.stats import Info, Stat
from .base import ACCEPTANCE_RATE, AbstractKernel, Standing, stats_of
from .point import Point

_ACCEPT, _PROPOSAL = 0, 1  # streams of random numbers

Proposal = Callable[[Array], Any]
"""Distribution of the next position, given a position: both of shape `(dim,)`, unconstrained."""


@checks_fields
class Metropolis(AbstractKernel):
    """Metropolis-Hastings with a proposal of your own: a distribution that depends on where the chain is.

    The distribution proposes, and its densities of the way there and of the way back make the acceptance ratio. So a
    proposal need not be symmetric, nor depend on the position at all, and there is no ratio to be derived by hand.
    Nothing is learnt in warm-up. To have a normal proposal tuned, use `RandomWalk`.

    **Fields**: `proposal`, a function from a position, shape `(dim,)`, unconstrained and in the layout's order, to a
    distribution of positions: one whose draws have shape `(dim,)`, such as `dist.Normal(position, 0.5)`. It is traced
    for each run, so its numbers are those of that time.

    **Raises** `OptionError`, when a run begins to compile, for what is no distribution or of another shape. A stored
    run does not hold the function: give it, `infer.resume(path, model, sampler=infer.Metropolis(proposal))`.

    **Source**: Hastings (1970), Biometrika 57(1), 97-109.

    **Example**

    >>> heavy = infer.Metropolis(lambda position: dist.StudentT(3.0, position, 0.3))
    >>> infer.sample(coin(4, heads), heavy, draws=200, chains=2, quiet=True)
    <Draws of coin: 2 chains x 200 draws; p>
    """

    is_plain: ClassVar[bool] = False
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE,)
    proposal: Proposal = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not callable(self.proposal):
            raise OptionError(
                "Metropolis: proposal must be a function from a position to a distribution, such as "
                f"`lambda position: dist.Normal(position, 0.5)`; got {self.proposal!r}."
            )

    @property
    def adaptation(self) -> Fixed:
        """See `AbstractKernel.adaptation`."""
        return Fixed()

    @property
    def compiled(self) -> "Metropolis":
        """Return a kernel that is equal to no other: numbers that the function reads may have changed since."""
        return replace(self, proposal=_Anew(self.proposal))

    def init(self, point: Point) -> Standing:
        """See `AbstractKernel.init`."""
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: None, rarely: Any) -> Any:
        """See `AbstractKernel.ask`."""
        position = state.point.position
        distribution = self._at(position.free)
        words = keys.fold(key, jnp.uint32(_PROPOSAL))
        drawn = distribution.sample(jax.random.wrap_key_data(words, impl="threefry2x32"))
        free = jnp.asarray(drawn, position.free.dtype)
        return replace(position, free=free), _log_density(distribution, free)

    def tell(self, key: Any, state: Standing, point: Point, pending: Any, tuning: None, rarely: Any) -> Any:
        """See `AbstractKernel.tell`."""
        back = _log_density(self._at(point.position.free), state.point.position.free)
        # A draw at which rounding has left no density would be accepted from anywhere.
        there = jnp.where(pending > -jnp.inf, pending, jnp.nan)
        log_ratio = point.log_density - state.point.log_density + back - there
        moved, ratio, ending = state.decided(key, _ACCEPT, point, log_ratio)
        return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio))

    def _at(self, position: Float[Array, " dim"]) -> Any:
        distribution = self.proposal(position)
        if not hasattr(distribution, "log_prob") or not hasattr(distribution, "sample"):
            raise OptionError(
                f"Metropolis: proposal must return a distribution, such as dist.Normal(position, 0.5); got "
                f"{type(distribution).__name__}."
            )
        shape = (*distribution.batch_shape, *distribution.event_shape)
        if shape != position.shape or distribution.is_discrete:
            kind = "discrete values" if distribution.is_discrete else "values"
            raise OptionError(
                f"Metropolis: proposal must return a distribution of real vectors of shape {position.shape}, one "
                f"number for each unconstrained parameter; {type(distribution).__name__} has {kind} of shape {shape}."
            )
        return distribution


class _Anew:
    """A function that equals no other."""

    def __init__(self, function: Proposal):
        self._function = function

    def __call__(self, position: Array) -> Any:
        return self._function(position)


def _log_density(distribution: Any, position: Float[Array, " dim"]) -> Float[Array, ""]:
    return jnp.sum(distribution.log_prob(position)).astype(position.dtype)
