"""Estimate the evidence of a model from its draws, from a fit, or from its prior on."""

from typing import Any

from ..core.errors import OptionError
from ..core.options import checks_options
from ..density import LogDensity
from ..language import Model
from ..mcmc.draws import Draws
from ..nested.result import NestedDraws
from ..report.log_evidence import LogEvidence
from ..smc.result import SMCDraws
from ..vi.result import Fit
from .base import AbstractEvidenceMethod
from .bridge_sampling import BridgeSampling
from .ladder import ladder_of
from .stepping_stones import stepping_stones


@checks_options
def evidence(
    draws: Draws | SMCDraws | NestedDraws | Fit | Model | LogDensity,
    method: AbstractEvidenceMethod | None = None,
) -> LogEvidence:
    """Estimate the log evidence of a model from its draws, from a fit, or from its prior on.

    Two models of the same data have a Bayes factor of exp(difference of the values). It depends on the priors, also
    where these hardly matter for the posterior. What a model leaves out of its density, such as a constant in a factor,
    is left out here.

    **Arguments**
    - `draws`: draws of a run, with its model; of `infer.smc`, the result is their `log_evidence`; a fit, with
      `infer.ImportanceSampling()`; a model called with its data, with `infer.NestedSampling()`.
    - `method`: None takes stepping stones between the rungs of `infer.Tempered`, and bridge sampling for draws of other
      samplers. `infer.BridgeSampling(...)` has options, and takes draws of any sampler that is exact.
      `infer.ThermodynamicIntegration()` integrates over the rungs of `infer.Tempered`. `infer.ImportanceSampling(...)`
      weighs draws of the guide of a fit. `infer.NestedSampling(...)` begins at draws from the prior, and returns draws
      of the posterior too.

    **Raises** `OptionError` for other values than draws of a run, a fit or a model, for draws without their model, for
    those of samplers that are biased, for whole numbers among the unknowns, and for a method that needs another result;
    `ModelError` for an improper prior; `DataError` for draws that do not move, or lie on the edge of a support.

    **Source**: stepping stones, Xie, Lewis, Fan, Kuo & Chen (2011), Systematic Biology 60(2), 150-160; each is bridged
    from both sides, Bennett (1976), J. Comput. Phys. 22(2), 245-268. For the others, see the methods. The harmonic mean
    of likelihoods is not offered: its variance is infinite for most models.

    **Example**

    >>> ladder = infer.Tempered(infer.NUTS(), temperatures=6)
    >>> run = infer.sample(eight_schools(sigma, y), ladder, draws=500, chains=2, quiet=True)
    >>> print(f"{infer.evidence(run).value:.0f}")
    -31
    """
    given: Any = draws
    if method is not None:
        if not isinstance(method, AbstractEvidenceMethod):
            raise OptionError(
                f"infer.evidence: method must be like infer.BridgeSampling(), got {type(method).__name__}."
            )
        return method.estimate(given)
    if isinstance(given, SMCDraws | NestedDraws):
        return given.log_evidence
    if isinstance(given, Model | LogDensity):
        raise OptionError(
            "infer.evidence: from a model alone, take a method that begins at its prior: "
            "infer.evidence(model, infer.NestedSampling()); or the draws of infer.sample or infer.smc."
        )
    if not isinstance(given, Draws):
        raise OptionError(
            f"infer.evidence takes the draws of a run, as infer.sample returns them, got {type(draws).__name__}. A fit "
            "bounds the evidence, fit.log_evidence_bound; its draws are weighed by "
            "infer.evidence(fit, infer.ImportanceSampling())."
        )
    ladder = ladder_of(given)
    return BridgeSampling().estimate(given) if ladder is None else LogEvidence(*stepping_stones(*ladder))
