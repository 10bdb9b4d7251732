"""Build truncated distributions by their common names."""

from typing import Any

from ...core.options import checks_options
from ..base import AbstractDistribution
from ..univariate.positive.gamma import Gamma
from ..univariate.real.real_line import Cauchy
from .truncated import truncate


@checks_options
def LeftTruncatedDistribution(base_dist: AbstractDistribution, low: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """Truncate a distribution to values of at least `low`."""
    return truncate(base_dist, low=low)


@checks_options
def RightTruncatedDistribution(base_dist: AbstractDistribution, high: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """Truncate a distribution to values of at most `high`."""
    return truncate(base_dist, high=high)


@checks_options
def TwoSidedTruncatedDistribution(  # noqa: N802
    base_dist: AbstractDistribution, low: Any = 0.0, high: Any = 1.0
) -> AbstractDistribution:
    """Truncate a distribution to values in [low, high]."""
    return truncate(base_dist, low, high)


@checks_options
def TruncatedCauchy(  # noqa: N802
    loc: Any = 0.0, scale: Any = 1.0, *, low: Any = None, high: Any = None
) -> AbstractDistribution:
    """Truncated Cauchy distribution on [low, high]; None or an infinity means no bound."""
    return truncate(Cauchy(loc, scale), low, high)


@checks_options
def TruncatedGamma(  # noqa: N802
    concentration: Any = 1.0, rate: Any = 1.0, *, low: Any = None, high: Any = None
) -> AbstractDistribution:
    """Truncated gamma distribution on [low, high]; None or an infinity means no bound."""
    return truncate(Gamma(concentration, rate), low, high)


@checks_options
def LeftTruncatedGamma(base_dist: Gamma, low: Any = 0.0) -> AbstractDistribution:  # noqa: N802
    """Gamma distribution truncated to values of at least `low`."""
    return truncate(base_dist, low=low)


@checks_options
def RightTruncatedGamma(base_dist: Gamma, high: Any = 1.0) -> AbstractDistribution:  # noqa: N802
    """Gamma distribution truncated to values of at most `high`."""
    return truncate(base_dist, high=high)


@checks_options
def TwoSidedTruncatedGamma(base_dist: Gamma, low: Any = 0.0, high: Any = 1.0) -> AbstractDistribution:  # noqa: N802
    """Gamma distribution truncated to values in [low, high]."""
    return truncate(base_dist, low, high)
