"""Offer common zero-inflated and hurdle distributions by NumPyro's names."""

from typing import Any

from ...core.options import checks_options
from ..base import AbstractDistribution
from ..discrete.negative_binomial import NegativeBinomial2
from ..discrete.poisson import Poisson
from ..univariate.positive.gamma import Gamma
from ..univariate.positive.positive import LogNormal
from .hurdle import HurdleDistribution
from .zero_inflated import ZeroInflatedDistribution


@checks_options
def ZeroInflatedProbs(base_dist: AbstractDistribution, gate: Any) -> ZeroInflatedDistribution:  # noqa: N802
    """`ZeroInflatedDistribution` by the probability of the additional zeros."""
    return ZeroInflatedDistribution(base_dist, gate=gate)


@checks_options
def ZeroInflatedLogits(base_dist: AbstractDistribution, gate_logits: Any) -> ZeroInflatedDistribution:  # noqa: N802
    """`ZeroInflatedDistribution` by the log odds of the additional zeros."""
    return ZeroInflatedDistribution(base_dist, gate_logits=gate_logits)


@checks_options
def ZeroInflatedPoisson(gate: Any, rate: Any = 1.0) -> ZeroInflatedDistribution:  # noqa: N802
    """A zero with probability `gate`, else a `Poisson` count."""
    return ZeroInflatedDistribution(Poisson(rate), gate=gate)


@checks_options
def ZeroInflatedNegativeBinomial2(  # noqa: N802
    mean: Any, concentration: Any, *, gate: Any = None, gate_logits: Any = None
) -> ZeroInflatedDistribution:
    """A zero with probability `gate`, else a `NegativeBinomial2` count."""
    return ZeroInflatedDistribution(
        NegativeBinomial2(mean, concentration), gate=gate, gate_logits=gate_logits
    )


@checks_options
def HurdleProbs(base_dist: AbstractDistribution, gate: Any) -> HurdleDistribution:  # noqa: N802
    """`HurdleDistribution` by the probability of a zero."""
    return HurdleDistribution(base_dist, gate=gate)


@checks_options
def HurdleLogits(base_dist: AbstractDistribution, gate_logits: Any) -> HurdleDistribution:  # noqa: N802
    """`HurdleDistribution` by the log odds of a zero."""
    return HurdleDistribution(base_dist, gate_logits=gate_logits)


@checks_options
def HurdlePoisson(gate: Any, rate: Any = 1.0) -> HurdleDistribution:  # noqa: N802
    """A zero with probability `gate`, else a `Poisson` count that is not zero."""
    return HurdleDistribution(Poisson(rate), gate=gate)


@checks_options
def HurdleNegativeBinomial2(  # noqa: N802
    mean: Any, concentration: Any, *, gate: Any = None, gate_logits: Any = None
) -> HurdleDistribution:
    """A zero with probability `gate`, else a `NegativeBinomial2` count that is not zero."""
    return HurdleDistribution(NegativeBinomial2(mean, concentration), gate=gate, gate_logits=gate_logits)


@checks_options
def HurdleGamma(gate: Any, concentration: Any, rate: Any = 1.0) -> HurdleDistribution:  # noqa: N802
    """A zero with probability `gate`, else a `Gamma` draw."""
    return HurdleDistribution(Gamma(concentration, rate), gate=gate)


@checks_options
def HurdleLogNormal(gate: Any, loc: Any = 0.0, scale: Any = 1.0) -> HurdleDistribution:  # noqa: N802
    """A zero with probability `gate`, else a `LogNormal` draw."""
    return HurdleDistribution(LogNormal(loc, scale), gate=gate)
