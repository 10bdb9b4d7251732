"""Bounds of the evidence from several draws at a time."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...core.errors import OptionError
from ...core.options import checks_fields, positive_count
from ...guides.base import AbstractGuide, Params
from .base import AbstractObjective, Each, LogDensityAt, held


class AbstractBound(AbstractObjective):
    """`log(mean(w ** (1 - alpha))) / (1 - alpha)` for weights `w = p / q` of draws from the guide."""

    draws: eqx.AbstractVar[int]
    alpha: eqx.AbstractVar[float]

    def num_draws(self, dim: int) -> int:
        """See `AbstractObjective.num_draws`."""
        del dim
        return self.draws

    def loss(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> Float[Array, ""]:
        """See `AbstractObjective.loss`: minus the bound.

        Its gradient is doubly reparameterised: the score of the guide is taken through the draws as well, so that its
        noise does not drown the signal as the draws become more.
        """

        def log_weight(log_density: LogDensityAt, own: Array) -> tuple[Array, Array]:
            position, _ = guide.draw(params, own)
            # Of a position that is held, its gradient is that by parameters of the model.
            at_rest = log_density(held(position)) if guide.fits_model else jnp.zeros(())
            return log_density(position) - guide.log_prob(held(params), position), at_rest

        log_weights, at_rest = each(log_weight, noise)
        return self.of_weights(log_weights, at_rest if guide.fits_model else None)

    def of_weights(
        self, log_weights: Float[Array, "draw ..."], at_rest: Float[Array, "draw ..."] | None
    ) -> Float[Array, ""]:
        """Return minus the bound, or the sum of those of entries, from log weights whose guide is held.

        `at_rest`: the same at positions that are held too, where parameters of the model are fitted.
        """
        power = 1 - self.alpha
        share = jax.lax.stop_gradient(jax.nn.softmax(power * log_weights, axis=0))
        bound = jnp.sum(jax.nn.logsumexp(power * log_weights, axis=0) - jnp.log(log_weights.shape[0])) / power
        through_draws = self.alpha * share + power * share**2
        moved = jnp.sum(through_draws * log_weights)
        if at_rest is not None:
            # Parameters of the model move no draw, so that each weight counts by its share.
            moved = moved + jnp.sum((share - through_draws) * at_rest)
        return -(moved + jax.lax.stop_gradient(bound - moved))


@checks_fields
class IWAE(AbstractBound):
    """The importance weighted bound: the logarithm of the mean weight of several draws; it is nearer to the evidence.

    A guide that is fitted by it is made to propose, not to resemble: it comes out wider than by `ELBO`.

    **Fields**: `draws` of a step, >= 1; with one it is the bound of `ELBO`, and the notice `one_particle` says so.

    On parts of the data, each entry of the plate has a bound of its own, whose weights are of that entry alone. That
    needs a guide which is written as a model, and entries that are independent, without an unknown that they share.

    **Raises** `OptionError` for other values; (when the fit begins) for parts of the data of which this is not known.

    **Source**: Burda, Grosse & Salakhutdinov (2016), "Importance weighted autoencoders", ICLR; the gradient: Tucker,
    Lawson, Gu & Maddison (2019), "Doubly reparameterized gradient estimators", ICLR.

    **Example**

    >>> infer.fit(coin(4, heads), objective=infer.IWAE(draws=5), steps=500, until=None, quiet=True).objective
    IWAE(draws=5)
    """

    draws: int = eqx.field(static=True, default=10, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("IWAE: draws", self.draws)

    @property
    def alpha(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The order: 0."""
        return 0.0


@checks_fields
class Renyi(AbstractBound):
    """Renyi's bound of order `alpha`: between `IWAE`, at 0, and `ELBO`, towards 1; negative orders bound from above.

    **Fields**: `alpha`, a number below 1; `draws` of a step, >= 1: with few, the bound is estimated too low, and with
    one it is that of `ELBO`, which the notice `one_particle` says.

    On parts of the data, each entry of the plate has a bound of its own, whose weights are of that entry alone. That
    needs a guide which is written as a model, and entries that are independent, without an unknown that they share.

    **Raises** `OptionError` for other values; (when the fit begins) for parts of the data of which this is not known.

    **Source**: Li & Turner (2016), "Renyi divergence variational inference", NeurIPS. The gradient follows from the
    identity of Tucker, Lawson, Gu & Maddison (2019): weights `alpha s + (1 - alpha) s^2` for shares `s` of a draw in
    the sum.

    **Example**

    >>> infer.fit(coin(4, heads), objective=infer.Renyi(0.5), steps=500, until=None, quiet=True).objective
    Renyi(alpha=0.5)
    """

    alpha: float = eqx.field(static=True)
    draws: int = eqx.field(static=True, default=10, kw_only=True)

    def __check_init__(self) -> None:
        positive_count("Renyi: draws", self.draws)
        if (
            isinstance(self.alpha, bool)
            or not isinstance(self.alpha, int | float)
            or not -10 <= self.alpha < 1
        ):
            raise OptionError(
                f"Renyi: alpha must be a number from -10 to below 1, got {self.alpha!r}. At 1 it is infer.ELBO()."
            )
