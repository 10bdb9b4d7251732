"""Estimate the evidence from draws of a ladder, by the integral of the mean log likelihood over its powers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import OptionError
from ..core.notice import Notice
from ..core.options import checks_fields
from ..report.diagnostics import mcse_mean
from ..report.log_evidence import LogEvidence
from .base import AbstractEvidenceMethod
from .ladder import ladder_of
from .stepping_stones import stepping_stones

_COARSE = 0.05  # nats by which the correction of a ladder moves its value
_TIMES = 3.0  # standard errors


@checks_fields
@dataclass(frozen=True)
class ThermodynamicIntegration(AbstractEvidenceMethod):
    """Thermodynamic integration of the evidence, over the powers of `infer.Tempered`.

    The derivative of the log evidence by the power of the likelihood is the mean log likelihood there. It is integrated
    by the trapezoidal rule, with a correction by the variances at the rungs. Near the prior the mean may be minus
    infinity, so that the first step is a stepping stone. The default method, stepping stones between all rungs, has no
    error from the width of the steps; this one is for a comparison with it.

    In the result, `forward` and `backward` are the sums with the lower and the upper rung of each step: since the mean
    rises with the power, the integral is between them, up to the noise of the draws. The standard error is that of the
    noise alone: the notice `coarse_ladder` says where the correction is not small beside it.

    **Source**: Lartillot & Philippe (2006), Systematic Biology 55(2), 195-207; Friel, Hurn & Wyse (2014), Statistics
    and Computing 24, 709-723, eq. 11, for the correction.

    **Example**

    >>> ladder = infer.Tempered(infer.NUTS(), temperatures=8)
    >>> run = infer.sample(eight_schools(sigma, y), ladder, draws=500, chains=2, quiet=True)
    >>> found = infer.evidence(run, infer.ThermodynamicIntegration())
    >>> found.forward < found.value < found.backward
    True
    """

    def estimate(self, found: Any) -> LogEvidence:
        """Estimate the log evidence from draws of `infer.Tempered`: see `infer.evidence`."""
        ladder = ladder_of(found)
        if ladder is None:
            raise OptionError(
                "infer.evidence: infer.ThermodynamicIntegration() needs draws of infer.Tempered, with the log "
                "likelihood at each rung. Of infer.smc, the evidence is in `draws.log_evidence`; for draws of other "
                "samplers, use infer.BridgeSampling()."
            )
        powers, heights = ladder
        first = stepping_stones(powers[:, :2], heights[..., :2])
        rest = integrated(powers[:, 1:], heights[..., 1:])
        value = first.value + rest.corrected
        error = float(np.hypot(first.standard_error, rest.standard_error))
        moved = abs(rest.corrected - rest.plain)
        notices = ()
        if moved > max(_COARSE, _TIMES * error):
            notices = (
                Notice(
                    "warning",
                    "coarse_ladder",
                    f"The correction for the width of the steps is {moved:.2g} nats, and the standard error is "
                    f"{error:.2g}: the ladder is coarse, and the value may be off by as much.",
                    "Use infer.evidence(draws) without a method, or more temperatures.",
                ),
            )
        return LogEvidence(value, error, first.value + rest.lower, first.value + rest.upper, notices)


class Integrated(NamedTuple):
    """An integral over powers: by the trapezoidal rule, `plain` and `corrected`; the sums by lower and upper rungs."""

    plain: float
    corrected: float
    standard_error: float
    lower: float
    upper: float


def integrated(powers: np.ndarray, heights: np.ndarray) -> Integrated:
    """Integrate the mean log likelihood over powers, for each chain by itself; chains count the same.

    **Arguments**: `powers`, shape `(chain, rung)`; `heights`, log likelihoods on each rung, `(chain, draw, rung)`.
    """
    step = np.diff(powers)[:, None]
    means = heights.mean(axis=1, keepdims=True)
    squares = (heights - means) ** 2
    # To first order, the value of a chain is the mean of these numbers, one for each draw.
    plain = np.sum(0.5 * step * (heights[..., :-1] + heights[..., 1:]), axis=2)
    bent = np.sum(step**2 / 12 * (squares[..., 1:] - squares[..., :-1]), axis=2)
    terms = plain - bent
    error = 0.0 if not np.ptp(terms) else float(mcse_mean(terms[..., None])[0])
    ends = [float(np.sum(step * each, axis=2).mean()) for each in (means[..., :-1], means[..., 1:])]
    return Integrated(float(plain.mean()), float(terms.mean()), error, *ends)
