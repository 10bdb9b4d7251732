"""Draw by stochastic-gradient Hamiltonian Monte Carlo."""

import equinox as eqx

from ..core.options import checks_fields
from .minibatches import AbstractMinibatches


@checks_fields
class SGHMC(AbstractMinibatches):
    """Stochastic-gradient Hamiltonian Monte Carlo: `SGLD` with a momentum, which friction wears away.

    Each draw begins with a new momentum. What is said of `SGLD` holds here: the draws are **not quite those of the
    posterior**, and variances come out too large, by `step_size / 4` at most on a normal posterior with independent
    unknowns, and by less where draws are short. Gradients of the past are averaged, so the way
    is smoother than that of `SGLD`; per gradient, the draws are about as independent for the same bias.

    **Fields**
    - `step_size`: in (0, 1], as of `SGLD`; the learning rate is half of `step_size` times `friction`.
    - `num_steps`: of each draw, >= 1.
    - `friction`: share of the momentum that a step loses, in (0, 1].
    - `control_variates`: as of `SGLD`.

    **Raises** as `SGLD` does.

    **Source**: Chen, Fox & Guestrin (2014), "Stochastic gradient Hamiltonian Monte Carlo", ICML.

    **Example**

    >>> @ac.model
    ... def line(x, y):
    ...     slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    ...     with ac.plate("row", len(y), subsample_size=50):
    ...         ac.sample("y", dist.Normal(slope * ac.subsample(x), 1.0), obs=ac.subsample(y))
    >>> x = np.linspace(-1, 1, 500)
    >>> infer.sample(line(x, 0.3 * x), infer.SGHMC(), draws=200, chains=2, quiet=True)
    <Draws of line: 2 chains x 200 draws; slope>
    """

    step_size: float = eqx.field(static=True, default=0.2, kw_only=True)
    num_steps: int = eqx.field(static=True, default=100, kw_only=True)
    control_variates: bool = eqx.field(static=True, default=False, kw_only=True)
    friction: float = eqx.field(static=True, default=0.1, kw_only=True)

    @property
    def lost(self) -> float:
        """See `AbstractMinibatches.lost`."""
        return self.friction
