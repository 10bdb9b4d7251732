"""The evidence lower bound, estimated from new draws at each step."""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...core.errors import OptionError
from ...core.options import checks_fields, positive_count
from ...guides.base import AbstractGuide, Params
from .base import AbstractObjective, Each, LogDensityAt, held


@checks_fields
class ELBO(AbstractObjective):
    """The evidence lower bound, `E[log p - log q]` over draws from the guide, from new draws at each step.

    **Fields**
    - `draws` of a step, >= 1.
    - `sticks_the_landing`: whether the gradient leaves out the score of the guide, whose mean is zero. Such a gradient
      has no noise left where the guide equals the posterior.
    - `kl`: `"sampled"`, or `"analytic"` for guides that are written as models. There, the divergence of a site of the
      guide from that of the model is taken in closed form where `dist.kl_divergence` has a formula and both
      distributions depend on nothing that follows from the draw of the site; `fit.guide.closed` names these sites.

    **Raises** `OptionError` for other values; (when the fit begins) for `kl="analytic"` where it applies to no site.

    **Source**: Roeder, Wu & Duvenaud (2017), "Sticking the landing", NeurIPS; closed divergences, Kingma & Welling
    (2014), "Auto-encoding variational Bayes", ICLR.

    **Example**

    >>> fit = infer.fit(coin(4, heads), objective=infer.ELBO(draws=4), steps=1000, until=None, quiet=True)
    >>> len(fit.losses[0])
    1000
    """

    draws: int = eqx.field(static=True, default=10, kw_only=True)
    sticks_the_landing: bool = eqx.field(static=True, default=True, kw_only=True)
    kl: Literal["sampled", "analytic"] = eqx.field(static=True, default="sampled", kw_only=True)

    def __check_init__(self) -> None:
        positive_count("ELBO: draws", self.draws)
        if not isinstance(self.sticks_the_landing, bool):
            raise OptionError(
                f"ELBO: sticks_the_landing must be True or False, got {self.sticks_the_landing!r}."
            )
        if self.kl not in ("sampled", "analytic"):
            raise OptionError(f'ELBO: kl must be "sampled" or "analytic", got {self.kl!r}.')

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
        """See `AbstractObjective.loss`: minus the bound."""

        def difference(log_density: LogDensityAt, own: Array) -> Array:
            position, log_q = guide.draw(params, own)
            if self.sticks_the_landing and guide.has_density:
                log_q = guide.log_prob(held(params), position)
            return log_density(position) - log_q

        return -jnp.mean(each(difference, noise))
