"""Sample the value whose image a site is, rather than the image."""

from typing import Any, ClassVar

from ... import bijectors as b
from ...core.errors import DistributionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution
from ...distributions.multivariate.normal.multivariate import MultivariateNormal
from ...distributions.multivariate.normal.multivariate_log_normal import MultivariateLogNormal
from ...distributions.univariate.interval.through_logit import LogitNormal
from ...distributions.univariate.positive.positive import LogNormal
from ...distributions.univariate.real.real_line import Normal
from ...distributions.wrappers.transformed import TransformedDistribution
from .base import AbstractReparam, Parts


@checks_fields
class Transform(AbstractReparam):
    """Sample x where a site is y = f(x), as in a TransformedDistribution.

    Parameters of f, such as a location and a scale, then have no part in the prior of what is sampled. Also for
    LogNormal, LogitNormal and MultivariateLogNormal, whose x is normal; to sample that by its deviation, name it as
    well: `{"theta": Transform(), "theta_base": LocScale()}`.

    **Example**

    >>> @ac.model
    ... def treated():
    ...     spread = ac.sample("spread", dist.HalfNormal(1))
    ...     ac.sample("dose", dist.LogNormal(1.0, spread))
    >>> ways = {"dose": reparam.Transform(), "dose_base": reparam.LocScale()}
    >>> print(handlers.reparam(treated(), ways).sites())
    site            kind           shape  dims  distribution
    spread          latent         ()           HalfNormal
    dose            deterministic  ()           LogNormal
    dose_base       deterministic  ()           Normal
    dose_base_base  latent         ()           Normal
    """

    keeps_axes: ClassVar[bool] = False

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of x, and f."""
        match distribution:
            case TransformedDistribution():
                return _of_image(distribution)
            case LogNormal(loc=loc, scale=scale):
                return Parts(Normal(loc, scale), b.Exp())
            case LogitNormal(loc=loc, scale=scale):
                return Parts(Normal(loc, scale), b.Sigmoid())
            case MultivariateLogNormal():
                d = distribution
                normal = MultivariateNormal(d.loc, d.covariance_matrix, d.precision_matrix, d.scale_tril)
                return Parts(normal, b.Independent(b.Exp(), 1))
            case _:
                raise DistributionError(
                    f"{type(distribution).__name__} is not written as the distribution of f(x). Give the site a "
                    "TransformedDistribution, a LogNormal, a LogitNormal or a MultivariateLogNormal; for another map "
                    "of your own, write Explicit(bijector)."
                )


def _of_image(distribution: TransformedDistribution) -> Parts:
    base: Any = distribution.base_distribution
    way = distribution.bijector
    shape = way.inverse_shape((*distribution.batch_shape, *distribution.event_shape))
    batch = tuple(shape[: len(shape) - base.event_dim])
    base = base if base.batch_shape == batch else base.expand(batch)
    missing = way.domain_event_dim - base.event_dim
    if missing > 0:
        base = base.to_event(missing)
    return Parts(base, b.Independent(way, -missing) if missing < 0 else way)
