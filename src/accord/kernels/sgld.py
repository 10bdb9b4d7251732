"""Draw by stochastic-gradient Langevin dynamics."""

import equinox as eqx

from ..core.options import checks_fields
from .minibatches import AbstractMinibatches


@checks_fields
class SGLD(AbstractMinibatches):
    """Stochastic-gradient Langevin dynamics: steps along gradients of a part of the data, with noise.

    For data of which one pass is too much for a step. The plate of the observations says how many entries a step takes,
    `subsample_size`, and `ac.subsample` takes them out of the data; each step has a part of its own, without
    replacement. The draws are **not quite those of the posterior**: no step is refused, so variances come out
    about `step_size / 4` too large, and more where the posterior is far from normal or its unknowns are correlated. No
    diagnostic of the draws sees that; halve the step size to see what it changes. Where one pass is cheap, `NUTS` is
    exact, and mostly faster too.

    **Fields**
    - `step_size`: in (0, 1]. A step's length is in units of the mean squared gradient of each coordinate, which
      warm-up learns, noise included: the smaller the part, the shorter the steps for the same bias. In the units of a
      normal posterior's variance it is `step_size / (1 + V)`, where `V` is about `n / subsample_size`.
    - `num_steps`: of which one draw is kept, >= 1. About `4 (1 + V) / step_size` steps make one independent draw.
    - `control_variates`: estimate only what an expansion of the log density around the mode leaves over of each part,
      as `HMCECS` does; the mode is found before the run from all of the data. `V` is then next to 0 where the posterior
      is concentrated around one mode, and `num_steps=40` is enough.

    In the first half of warm-up a chain travels, without noise, by steps that get shorter and shorter. With control
    variates it begins near the mode, and does not.

    **Raises** `ModelError` for a model without a plate with `subsample_size`; `SiteError` for a latent site with an
    entry for each copy of such a plate: integrate it out of each part by `handlers.collapse`, or fit a guide by
    `infer.fit`. With control variates as `HMCECS` does.

    `draws.stats["lp"]` holds estimates, each from one part of the data. Deterministic sites have all entries.

    **Source**: Welling & Teh (2011), "Bayesian learning via stochastic gradient Langevin dynamics", ICML; a constant
    step size as of Vollmer, Zygalakis & Teh (2016), JMLR 17(159).

    **Example**

    >>> @ac.model
    ... def line(x, y):
    ...     slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    ...     with ac.plate("row", len(y), subsample_size=50):
    ...         ac.sample("y", dist.Normal(slope * ac.subsample(x), 1.0), obs=ac.subsample(y))
    >>> x = np.linspace(-1, 1, 500)
    >>> infer.sample(line(x, 0.3 * x), infer.SGLD(num_steps=20), draws=200, chains=2, quiet=True)
    <Draws of line: 2 chains x 200 draws; slope>
    """

    step_size: float = eqx.field(static=True, default=0.2, kw_only=True)
    num_steps: int = eqx.field(static=True, default=100, kw_only=True)
    control_variates: bool = eqx.field(static=True, default=False, kw_only=True)

    @property
    def lost(self) -> float:
        """See `AbstractMinibatches.lost`: all, so that no step remembers the one before."""
        return 1.0
