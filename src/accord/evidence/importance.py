"""Estimate the evidence from a fit: the mean weight of draws from its guide."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..core import keys
from ..core.errors import OptionError
from ..core.notice import Notice
from ..core.options import checks_fields, positive_count
from ..core.precision import scope
from ..report.log_evidence import LogEvidence
from ..report.weights import effective_size, good_k, pareto_k
from ..vi.evaluate import log_weights
from ..vi.result import Fit
from ..vi.tail import ALL_ALIKE
from .base import AbstractEvidenceMethod

_FEWEST, _HALF = 100, 0.5


@checks_fields
@dataclass(frozen=True)
class ImportanceSampling(AbstractEvidenceMethod):
    """Importance sampling of the evidence, from the guide of a fit: `infer.evidence(fit, infer.ImportanceSampling())`.

    Draws of the guide weigh `p / q`, and their mean is an unbiased estimate of the evidence. It is good where the guide
    is near to the posterior and has tails that are as heavy. Pareto k of the weights says so: above 0.5 the standard
    error is not to be trusted, and above 0.7 (less for few draws) neither is the value. The error is then infinite.
    Where weights are so alike that draws are worth more than 95 % of their number, their tail does not matter.

    **Fields**
    - `draws`: from the guide, >= 100; others than those by which the fit was judged.
    - `seed`: of them, an integer in [0, 2**64).

    **Raises** `OptionError` for fewer draws, or another seed.

    **Source**: Vehtari, Simpson, Gelman, Yao & Gabry (2024), JMLR 25(72), for Pareto k.

    **Example**

    >>> fit = infer.fit(eight_schools(sigma, y), infer.guides.FullRank(), quiet=True)
    >>> print(f"{infer.evidence(fit, infer.ImportanceSampling()).value:.0f}")
    -31
    """

    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        positive_count("infer.ImportanceSampling: draws", self.draws, minimum=_FEWEST)
        keys.chain_key(self.seed, 0)  # refuses a bad seed

    def estimate(self, found: Any) -> LogEvidence:
        """Estimate the log evidence from a fit: see `infer.evidence`."""
        if not isinstance(found, Fit):
            raise OptionError(
                f"infer.evidence: infer.ImportanceSampling() takes a fit, as infer.fit returns it, got "
                f"{type(found).__name__}. For draws, use infer.BridgeSampling()."
            )
        density = found.attached("infer.evidence")
        if found.fitted is None or np.isnan(found.pareto_k):
            raise OptionError(
                f"infer.evidence: the guide {type(found.guide).__name__} has no density, by which its draws could be "
                "weighed, or was not fitted. Use a guide such as infer.guides.FullRank() or Flow()."
            )
        with scope(density.program.precision):
            logs = log_weights(density, found.fitted, self.draws, self.seed, keys.USE_IMPORTANCE)
        value = float(np.asarray(logsumexp(logs))) - float(np.log(len(logs)))
        if not np.isfinite(value):
            return LogEvidence(value, np.inf, notices=(_bad(np.inf, "error"),))
        weights = np.exp(logs - value)
        error = float(weights.std(ddof=1) / np.sqrt(len(weights)))
        k = pareto_k(logs) if effective_size(logs) < ALL_ALIKE * len(logs) else 0.0
        if k >= good_k(len(logs)):
            return LogEvidence(value, np.inf, notices=(_bad(k, "error"),))
        return LogEvidence(value, error, notices=(_bad(k, "warning"),) if k > _HALF else ())


def _bad(k: float, severity: Any) -> Notice:
    what = "neither the value nor its error is" if severity == "error" else "the standard error is not"
    return Notice(
        severity,
        "high_pareto_k",
        f"Pareto k of the weights is {k:.2f}: {what} to be trusted, since in places the posterior has far more mass "
        "than the guide.",
        "Take a richer guide, such as infer.guides.Flow(), or infer.BridgeSampling() with draws of infer.sample.",
    )
