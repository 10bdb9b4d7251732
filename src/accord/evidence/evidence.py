"""Estimate the evidence of a model from its draws."""

import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_options
from ..mcmc.draws import Draws
from ..report.log_evidence import LogEvidence
from ..smc.result import SMCDraws
from .bridge_sampling import BridgeSampling
from .stepping_stones import stepping_stones


@checks_options
def evidence(draws: Draws | SMCDraws, method: BridgeSampling | None = None) -> LogEvidence:
    """Estimate the log evidence of a model from its draws.

    Two models of the same data have a Bayes factor of exp(difference of the values). It depends on the priors, also
    where these hardly matter for the posterior. What a model leaves out of its density, such as a constant in a factor,
    is left out here.

    **Arguments**
    - `draws`: draws of a run, with its model; of `infer.smc`, the result is their `log_evidence`.
    - `method`: None takes stepping stones between the rungs of `infer.Tempered`, and bridge sampling for draws of other
      samplers. `infer.BridgeSampling(...)` has options, and takes draws of any sampler that is exact.

    **Raises** `OptionError` for other values than draws of a run, for draws without their model, for those of samplers
    that are biased, and for whole numbers among the unknowns; `ModelError` for an improper prior; `DataError` for draws
    that do not move, or lie on the edge of a support.

    **Source**: stepping stones, Xie, Lewis, Fan, Kuo & Chen (2011), Systematic Biology 60(2), 150-160; each is bridged
    from both sides, Bennett (1976), J. Comput. Phys. 22(2), 245-268. For the other, see `infer.BridgeSampling`.

    **Example**

    >>> ladder = infer.Tempered(infer.NUTS(), temperatures=6)
    >>> run = infer.sample(eight_schools(sigma, y), ladder, draws=500, chains=2, quiet=True)
    >>> print(f"{infer.evidence(run).value:.0f}")
    -31
    """
    if isinstance(draws, SMCDraws) and method is None:
        return draws.log_evidence
    if not isinstance(draws, Draws):
        raise OptionError(
            f"infer.evidence takes the draws of a run, as infer.sample returns them, got {type(draws).__name__}. A fit "
            "bounds the evidence: fit.log_evidence_bound."
        )
    if method is not None:
        if not isinstance(method, BridgeSampling):
            raise OptionError(
                f"infer.evidence: method must be like infer.BridgeSampling(), got {type(method).__name__}."
            )
        return method.estimate(draws)
    powers = draws.tuning.get("temperatures")
    names = [] if powers is None else [f"log_likelihood.{rung}" for rung in range(powers.shape[1])]
    if powers is None or not all(name in draws.stats for name in names):
        return BridgeSampling().estimate(draws)
    heights = np.stack([np.asarray(draws.stats[name], np.float64) for name in names], axis=-1)
    # Near the prior, a likelihood may be no number: no chain moves to where the posterior has none.
    heights = np.where(np.isnan(heights), -np.inf, heights)
    return LogEvidence(*stepping_stones(np.asarray(powers, np.float64), heights))
