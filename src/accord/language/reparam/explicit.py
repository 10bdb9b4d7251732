"""Sample a vector, or a number, as a bijector of the user's choice maps it."""

from typing import Any, ClassVar

import equinox as eqx

from ... import bijectors as b
from ...bijectors import AbstractBijector
from ...core.errors import DistributionError, OptionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution, constraints
from ...distributions.constraint import Constraint
from ...distributions.wrappers.image import image
from ...distributions.wrappers.transformed import TransformedDistribution
from .base import AbstractReparam, Parts


@checks_fields
class Explicit(AbstractReparam):
    """Sample `transform.forward(value)`: any smooth one-to-one function of the site's value.

    **Fields**
    - `transform`: a bijector from the site's support to the space in which to sample. One that acts on vectors needs
      them as events: `.to_event(1)`.
    - `support`: of what is sampled, needed only where it is not known from the bijector.

    **Raises** `OptionError` for what is no bijector.

    **Example**

    >>> @ac.model
    ... def grown():
    ...     ac.sample("height", dist.Normal(170, 30))
    >>> standardise = bijectors.Inverse(bijectors.Affine(175.0, 8.0))  # as an earlier survey found them
    >>> easier = handlers.reparam(grown(), {"height": reparam.Explicit(standardise, constraints.real)})
    >>> given = handlers.substitute(easier, {"height_base": 0.5})
    >>> print(handlers.trace(given).get_trace()["height"].value)
    179.0
    """

    transform: Any
    support: Constraint | None = None
    takes_whole: ClassVar[bool] = True
    keeps_axes: ClassVar[bool] = False

    def __check_init__(self) -> None:
        if not isinstance(self.transform, AbstractBijector):
            raise OptionError(
                f"Explicit: transform must be a bijector of `accord.bijectors`, got {self.transform!r}."
            )

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the image, and the way back."""
        return _through(distribution, self.transform, self.support)


@checks_fields
class Haar(AbstractReparam):
    """Sample the Haar wavelet coefficients of long correlated vectors, the coarsest first.

    The prior of the coefficients is less correlated than that of a smooth vector is.

    **Fields**
    - `dim`: the axis, counted from the end of the value: negative, and an axis of the event.
    - `flip`: run along it backwards, so that the last values carry most.

    **Source**: Percival & Walden (2000), Wavelet Methods for Time Series Analysis, section 4.1.

    **Example**

    >>> @ac.model
    ... def walk():
    ...     ac.sample("level", dist.GaussianRandomWalk(1.0, 64))
    >>> print(handlers.reparam(walk(), {"level": reparam.Haar()}).sites())
    site        kind           shape  dims              distribution
    level       deterministic  (64,)  level_dim_0       GaussianRandomWalk
    level_base  latent         (64,)  level_base_dim_0  TransformedDistribution
    """

    dim: int = eqx.field(static=True, default=-1)
    flip: bool = eqx.field(static=True, default=False)
    takes_whole: ClassVar[bool] = True
    keeps_axes: ClassVar[bool] = False

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the coefficients, and the way back."""
        return _spectral(distribution, b.Haar(self.dim, self.flip))


@checks_fields
class DiscreteCosine(AbstractReparam):
    """Sample the coefficients of the discrete cosine transform of long correlated vectors.

    **Fields**
    - `dim`: the axis, counted from the end of the value: negative, and an axis of the event.
    - `smooth`: power of the frequency by which coefficients are multiplied, with volume kept: 0 for white noise, 1 for
      a random walk.

    **Source**: Ahmed, Natarajan & Rao (1974), IEEE Transactions on Computers 23(1), 90-93.

    **Example**

    >>> @ac.model
    ... def walk():
    ...     ac.sample("level", dist.GaussianRandomWalk(1.0, 64))
    >>> print(handlers.reparam(walk(), {"level": reparam.DiscreteCosine(smooth=1.0)}).sites())
    site        kind           shape  dims              distribution
    level       deterministic  (64,)  level_dim_0       GaussianRandomWalk
    level_base  latent         (64,)  level_base_dim_0  TransformedDistribution
    """

    dim: int = eqx.field(static=True, default=-1)
    smooth: float = eqx.field(static=True, default=0.0)
    takes_whole: ClassVar[bool] = True
    keeps_axes: ClassVar[bool] = False

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the coefficients, and the way back."""
        return _spectral(distribution, b.DiscreteCosine(self.dim, self.smooth))


def _spectral(distribution: AbstractDistribution, transform: AbstractBijector) -> Parts:
    support = distribution.support
    while isinstance(support, constraints.independent):
        support = support.base
    if support != constraints.real:
        raise DistributionError(
            f"{type(distribution).__name__} is not a distribution of real vectors, whose values may be anything."
        )
    return _through(distribution, transform, distribution.support)


def _through(
    distribution: AbstractDistribution, transform: AbstractBijector, support: Constraint | None
) -> Parts:
    rest = distribution.event_dim - transform.domain_event_dim
    if rest < 0:
        raise DistributionError(
            f"{type(transform).__name__} acts on events of {transform.domain_event_dim} axes, and those of the site "
            f"have shape {tuple(distribution.event_shape)}: entries of a batch are independent, and must stay so. Take "
            "the axes into the event by `.to_event(...)`, outside of the plate."
        )
    if support is None and image((transform,), distribution.support) is None:
        raise DistributionError(
            f"the image of {distribution.support} under {type(transform).__name__} is not known. Say what it is: "
            "`Explicit(..., support=constraints.real)`."
        )
    way = b.Inverse(transform)
    transformed = TransformedDistribution(distribution, transform, support=support)
    return Parts(transformed, b.Independent(way, rest) if rest > 0 else way)
