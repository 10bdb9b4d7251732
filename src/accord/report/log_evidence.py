"""Hold an estimate of the evidence of a model."""

import math
from dataclasses import dataclass, field
from typing import Any

from ..core.notice import Notice
from ..core.options import checks_fields


@checks_fields
@dataclass(frozen=True)
class LogEvidence:
    """Logarithm of the evidence of a model: of the probability of its data, with the prior integrated over.

    **Fields**: `value`; `standard_error` of it, from how draws vary and correlate along chains, and chains differ;
    `forward` and `backward`, simple estimates, as a check. By stepping stones, they go up from the prior and down from
    the posterior: where they differ by many standard errors, some neighbours on the ladder hardly overlap, and more
    temperatures help. By bridge sampling, they are importance sampling from the proposal, and its reciprocal from the
    posterior. By thermodynamic integration, they are sums with the lower and the upper rung of each step: the integral
    is between them. Of `infer.smc` and by importance sampling they are NaN; of `infer.smc`, the error is the larger one
    of two: from how particles vary within populations, and how populations differ. `notices`: warnings about the
    result.

    By `infer.NestedSampling` alone: `information`, by how many nats the posterior is narrower than the prior, else NaN;
    and `draws`, the `NestedDraws` of the posterior, else None.

    **Example**

    >>> simple, complex = infer.LogEvidence(-31.3, 0.1, -31.2, -31.4), infer.LogEvidence(-33.6, 0.1, -33.6, -33.5)
    >>> print(f"Bayes factor {np.exp(simple.value - complex.value):.0f}")
    Bayes factor 10
    >>> simple
    Log evidence -31.300 +- 0.100
    """

    value: float
    standard_error: float
    forward: float = math.nan
    backward: float = math.nan
    notices: tuple[Notice, ...] = ()
    information: float = math.nan
    draws: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        head = f"Log evidence {self.value:.3f} +- {self.standard_error:.3f}"
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__
