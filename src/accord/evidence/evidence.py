"""Estimate the evidence of a model from its draws."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_fields, checks_options
from ..mcmc.draws import Draws
from .stepping_stones import stepping_stones


@checks_fields
@dataclass(frozen=True)
class LogEvidence:
    """Logarithm of the evidence of a model: of the probability of its data, with the prior integrated over.

    **Fields**: `value`; `standard_error` of it, from how draws vary and correlate along chains, and chains differ;
    `forward` and `backward`, simple estimates, up from the prior and down from the posterior, as a check. Where these
    differ by many standard errors, some neighbours on the ladder hardly overlap: take more temperatures.

    **Example**

    >>> simple, complex = infer.LogEvidence(-31.3, 0.1, -31.2, -31.4), infer.LogEvidence(-33.6, 0.1, -33.6, -33.5)
    >>> print(f"Bayes factor {np.exp(simple.value - complex.value):.0f}")
    Bayes factor 10
    """

    value: float
    standard_error: float
    forward: float
    backward: float


@checks_options
def evidence(draws: Draws) -> LogEvidence:
    """Estimate the log evidence of a model from draws of `infer.Tempered`, by stepping stones between its rungs.

    Two models of the same data have a Bayes factor of exp(difference of the values). What a model leaves out of its
    density, such as a constant in a factor, is left out here.

    **Raises** `OptionError` for draws of another sampler.

    **Source**: stepping stones, Xie, Lewis, Fan, Kuo & Chen (2011), Systematic Biology 60(2), 150-160; each is bridged
    from both sides, Bennett (1976), J. Comput. Phys. 22(2), 245-268.

    **Example**

    >>> ladder = infer.Tempered(infer.NUTS(), temperatures=6)
    >>> run = infer.sample(eight_schools(sigma, y), ladder, draws=500, chains=2, quiet=True)
    >>> print(f"{infer.evidence(run).value:.0f}")
    -31
    """
    powers = draws.tuning.get("temperatures")
    names = [] if powers is None else [f"log_likelihood.{rung}" for rung in range(powers.shape[1])]
    if powers is None or not all(name in draws.stats for name in names):
        sampler = draws.manifest["sampler"]["name"]
        raise OptionError(
            f"infer.evidence needs draws between the prior and the posterior, and these are of {sampler}. Sample by "
            "infer.Tempered()."
        )
    heights = np.stack([np.asarray(draws.stats[name], np.float64) for name in names], axis=-1)
    # Near the prior, a likelihood may be no number: no chain moves to where the posterior has none.
    heights = np.where(np.isnan(heights), -np.inf, heights)
    return LogEvidence(*stepping_stones(np.asarray(powers, np.float64), heights))
