"""Draw sites from their distribution given all others, by a formula of the user's own."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx

from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Stat
from .base import ACCEPTANCE_RATE, name_of
from .drawn import AbstractDrawn
from .formula import Formula, Function


@checks_fields
class Conditional(AbstractDrawn):
    """Exact draws of some sites from their distribution given all others, which you know: a conjugate block of `Gibbs`.

    Before a run, the formula is checked against the model: between values of the block, with all else at a starting
    point, log_prob must differ as the model's log density does. A missing prior, a variance in the place of a standard
    deviation, or a distribution that leaves out part of the support is an error that says where and by how much.

    **Fields**
    - `function`: from a mapping of values to a distribution of `accord.distributions`, of the shape of the block's
      site. For a block of several sites that are independent given all others, to a mapping from each site to its
      distribution. Values are in the model's space: of the other unknowns, of observed sites, and of deterministic
      ones that do not depend on the block. To ask for a value that does is an error, and so it is for sites that are
      summed or integrated out: the formula is that without them.

    The function is traced: write it with `jax.numpy`. Data of observed sites and arrays from outside of the function
    are arguments of the compiled program, so that other data compile nothing anew. Every draw is accepted, and costs
    one evaluation of the log density and its gradient. A draw at which they are not finite, as on the edge of a support
    by rounding, is refused and counted.

    **Raises** `OptionError`, before a run, for a formula that is not the model's, for what is no distribution or of
    another shape, for a site that is reparameterised, and with rows of data that are cut into blocks. A stored run does
    not hold the function: give it, as in `infer.resume(path, model, sampler=...)`.

    **Source**: Gelfand & Smith (1990), JASA 85(410), 398-409. The check is in the spirit of Grosse & Duvenaud (2014),
    "Testing MCMC code", arXiv:1412.5218.

    **Example**

    >>> y = np.array([2.1, 1.4, 3.3, 2.7])
    >>> @ac.model
    ... def normal(y):
    ...     mu = ac.sample("mu", dist.Normal(0, 10))
    ...     sigma = ac.sample("sigma", dist.HalfNormal(2))
    ...     with ac.plate("row", len(y)):
    ...         ac.sample("y", dist.Normal(mu, sigma), obs=y)
    >>> def draw_mu(values):
    ...     precision = 1 / 10**2 + len(values["y"]) / values["sigma"] ** 2
    ...     return dist.Normal(values["y"].sum() / values["sigma"] ** 2 / precision, precision**-0.5)
    >>> blocks = infer.Gibbs({"mu": infer.Conditional(draw_mu), ...: infer.NUTS()})
    >>> infer.sample(normal(y), blocks, draws=200, chains=2, quiet=True)
    <Draws of normal: 2 chains x 200 draws; mu, sigma>
    """

    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE,)

    function: Function | None = eqx.field(static=True)

    def __check_init__(self) -> None:
        if self.function is not None and not callable(self.function):
            raise OptionError(
                "Conditional: function must be a function from a mapping of values to a distribution, such as "
                f'`lambda values: dist.Normal(values["mu"], 1.0)`; got {self.function!r}.'
            )

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """See `AbstractKernel.formulas`."""
        assert self.places is not None, "a kernel with a formula is placed before its run"
        return (Formula(self.function, self.places.names),)

    @property
    def compiled(self) -> "Conditional":
        """See `AbstractKernel.compiled`: what the function computes is compared in its place."""
        return replace(self, function=None)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {"name": type(self).__name__, "function": name_of(self.function)}

    def measured(self, old: Position, new: Position, is_good: Any, dtype: Any) -> Any:
        """See `AbstractDrawn.measured`: 1, or 0 where rounding has led out of the support."""
        del old, new
        return is_good.astype(dtype)
