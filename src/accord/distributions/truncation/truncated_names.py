"""Build truncated distributions by the names under which they are known."""

from typing import Any

from ...core.options import checks_options
from ..base import AbstractDistribution
from ..univariate.gamma import Gamma
from ..univariate.real_line import Cauchy
from .truncated import truncate


@checks_options
def LeftTruncatedDistribution(base_dist: AbstractDistribution, low: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """The distribution given that its value is at least `low`."""
    return truncate(base_dist, low=low)


@checks_options
def RightTruncatedDistribution(base_dist: AbstractDistribution, high: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """The distribution given that its value is at most `high`."""
    return truncate(base_dist, high=high)


@checks_options
def TwoSidedTruncatedDistribution(  # noqa: N802
    base_dist: AbstractDistribution, low: Any = 0.0, high: Any = 1.0
) -> AbstractDistribution:
    """The distribution given that its value lies in [low, high]."""
    return truncate(base_dist, low, high)


@checks_options
def TruncatedCauchy(  # noqa: N802
    loc: Any = 0.0, scale: Any = 1.0, *, low: Any = None, high: Any = None
) -> AbstractDistribution:
    """A Cauchy variable given that it lies in [low, high]; None or an infinity is no bound."""
    return truncate(Cauchy(loc, scale), low, high)


@checks_options
def TruncatedGamma(  # noqa: N802
    concentration: Any = 1.0, rate: Any = 1.0, *, low: Any = None, high: Any = None
) -> AbstractDistribution:
    """A gamma variable given that it lies in [low, high]; None or an infinity is no bound."""
    return truncate(Gamma(concentration, rate), low, high)


@checks_options
def LeftTruncatedGamma(base_dist: Gamma, low: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """A gamma variable given that it is at least `low`."""
    return truncate(base_dist, low=low)


@checks_options
def RightTruncatedGamma(base_dist: Gamma, high: Any = 1.0) -> AbstractDistribution:  # noqa: N802
    """A gamma variable given that it is at most `high`."""
    return truncate(base_dist, high=high)


@checks_options
def TwoSidedTruncatedGamma(base_dist: Gamma, low: Any = 0.0, high: Any = 1.0) -> AbstractDistribution:  # noqa: N802
    """A gamma variable given that it lies in [low, high]."""
    return truncate(base_dist, low, high)
