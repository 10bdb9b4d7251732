"""Estimate the evidence of a model from its draws."""

import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_options
from ..mcmc.draws import Draws
from ..report.log_evidence import LogEvidence
from ..smc.result import SMCDraws
from .stepping_stones import stepping_stones


@checks_options
def evidence(draws: Draws | SMCDraws) -> LogEvidence:
    """Estimate the log evidence of a model from draws of `infer.Tempered`, by stepping stones between its rungs.

    Of draws of `infer.smc`, it is their `log_evidence`.

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
    if isinstance(draws, SMCDraws):
        return draws.log_evidence
    powers = draws.tuning.get("temperatures")
    names = [] if powers is None else [f"log_likelihood.{rung}" for rung in range(powers.shape[1])]
    if powers is None or not all(name in draws.stats for name in names):
        sampler = draws.manifest["sampler"]["name"]
        raise OptionError(
            f"infer.evidence needs draws between the prior and the posterior, and these are of {sampler}. Sample by "
            "infer.Tempered(), or draw by infer.smc()."
        )
    heights = np.stack([np.asarray(draws.stats[name], np.float64) for name in names], axis=-1)
    # Near the prior, a likelihood may be no number: no chain moves to where the posterior has none.
    heights = np.where(np.isnan(heights), -np.inf, heights)
    return LogEvidence(*stepping_stones(np.asarray(powers, np.float64), heights))
