"""Define a reparameterisation: the distribution of another variable, and the map from it to the site's value."""

import abc
from dataclasses import dataclass
from typing import ClassVar

from ...bijectors import AbstractBijector
from ...core.modules import Module
from ...distributions import AbstractDistribution

SUFFIX = "_base"
"""The ending that makes the name of a site the name of its auxiliary variable."""


@dataclass(frozen=True)
class Parts:
    """A distribution written as that of a function of another variable.

    **Fields**
    - `auxiliary`: the distribution of that variable.
    - `way`: the function. Where it forgets something, as the length of a vector of which only the direction counts,
      its inverse is one of the places that it maps to a value, and in the place of the log determinant it gives the log
      density of `auxiliary` less that of the value.

    **Example**

    >>> parts = reparam.LocScale().parts(dist.StudentT(4.0, 10.0, 3.0))
    >>> print(parts.auxiliary, parts.way.forward(1.0))
    StudentT(df=4.0, loc=0.0, scale=1.0) 13.0
    """

    auxiliary: AbstractDistribution
    way: AbstractBijector


class AbstractReparam(Module):
    """A way to sample a site by way of another variable, whose posterior has a better shape.

    The site keeps its name, its shape and its distribution; what is sampled is the site `{name}_base`.

    **Class variables**
    - `takes_whole`: whether `parts` is given a distribution as it is, rather than what is inside of `expand`,
      `to_event` and `mask`.
    - `keeps_axes`: whether the axes of the variable are those of the value, with the same meaning.

    **Example**

    >>> class InMeans(reparam.AbstractReparam):
    ...     def parts(self, distribution):
    ...         return reparam.Parts(dist.Exponential(1.0), bijectors.Scale(1 / distribution.rate))
    >>> @ac.model
    ... def waiting():
    ...     rate = ac.sample("rate", dist.HalfNormal(1))
    ...     ac.sample("time", dist.Exponential(rate))
    >>> print(handlers.reparam(waiting(), {"time": InMeans()}).sites())
    site       kind           shape  dims  distribution
    rate       latent         ()           HalfNormal
    time       deterministic  ()           Exponential
    time_base  latent         ()           Exponential
    """

    takes_whole: ClassVar[bool] = False
    keeps_axes: ClassVar[bool] = True

    @abc.abstractmethod
    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of another variable and the map from it; None to leave the site as it is.

        Its batch shape may be smaller than that of `distribution`, to which it is then expanded.

        **Raises** `DistributionError` for a distribution that it is not made for, with what to do.
        """
