"""Hold an estimate of the evidence of a model."""

import math
from dataclasses import dataclass

from ..core.options import checks_fields


@checks_fields
@dataclass(frozen=True)
class LogEvidence:
    """Logarithm of the evidence of a model: of the probability of its data, with the prior integrated over.

    **Fields**: `value`; `standard_error` of it. By `infer.Tempered`, the error follows from how draws vary and
    correlate along chains, and how chains differ; `forward` and `backward` are simple estimates, up from the prior and
    down from the posterior, as a check. Where these differ by many standard errors, some neighbours on the ladder
    hardly overlap: take more temperatures. By `infer.smc`, the error is the larger one of two: from how particles vary
    within populations, and how populations differ; the simple estimates are NaN.

    **Example**

    >>> simple, complex = infer.LogEvidence(-31.3, 0.1, -31.2, -31.4), infer.LogEvidence(-33.6, 0.1, -33.6, -33.5)
    >>> print(f"Bayes factor {np.exp(simple.value - complex.value):.0f}")
    Bayes factor 10
    """

    value: float
    standard_error: float
    forward: float = math.nan
    backward: float = math.nan
