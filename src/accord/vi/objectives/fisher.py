"""The divergence of the scores of a normal from those of the posterior."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...core.options import checks_fields, positive_count
from ...guides.base import AbstractGuide, Params
from ..steppers.base import AbstractStepper
from ..steppers.match import Match, Scores
from .base import AbstractMeasured, Each, LogDensityAt


@checks_fields
class FisherDivergence(AbstractMeasured):
    """The divergence between the *scores* of a `FullRank` and the posterior, the gradients of their log densities.

    It is made small by batch and match: each step solves for the normal whose scores fit those at some draws and which
    is near the last one. So there is no step size and no optimiser; for a normal posterior some steps suffice, where a
    bound takes a thousand. The time of a step grows with the cube of the number of unconstrained numbers: with more
    than some hundred, a bound is quicker. `fit.losses` are estimates of minus the evidence lower bound, from the same
    draws.

    **Fields**: `draws` of a step, >= 2; more than the number of unconstrained numbers are better.

    **Raises** `OptionError` for other values; (when the fit begins) for a guide that is no `FullRank`, for an
    optimiser, and for minibatches, which would bias the fit.

    **Source**: Cai, Modi, Pillaud-Vivien, Margossian, Gower, Blei & Saul (2024), "Batch and match: black-box
    variational inference with a score-based divergence", ICML.

    **Example**

    >>> matching = infer.FisherDivergence(draws=16)
    >>> fit = infer.fit(coin(4, heads), infer.guides.FullRank(), objective=matching, quiet=True)
    >>> fit.converged, fit.effective_draws > 900
    (True, True)
    """

    draws: int = eqx.field(static=True, default=32, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("FisherDivergence: draws", self.draws, 2)

    def num_draws(self, dim: int) -> int:
        """See `AbstractObjective.num_draws`."""
        del dim
        return self.draws

    def stepper(self, like: Params) -> AbstractStepper:
        """See `AbstractObjective.stepper`."""
        del like
        return Match(self.draws)

    def measured(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> tuple[Float[Array, ""], Scores]:
        """See `AbstractObjective.measured`: minus the evidence lower bound; draws, and the gradients there."""

        def look(log_density: LogDensityAt, own: Array) -> Any:
            position, log_q = guide.draw(params, own)
            height, gradient = jax.value_and_grad(log_density)(position)
            return height - log_q, position, gradient

        log_weights, positions, gradients = each(look, noise)
        return -jnp.mean(log_weights), Scores(positions, gradients)
