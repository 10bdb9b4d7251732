"""Estimate the evidence from draws of the posterior alone, by a bridge to a normal distribution."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ..core import keys
from ..core.errors import DataError, ModelError, OptionError
from ..core.notice import Notice, by_severity
from ..core.options import checks_fields
from ..density import LogDensity
from ..mcmc.draws import Draws
from ..predictive.unconstrained import Rows, density_of_free, over_rows, positions_of
from ..report.diagnostics import r_hat
from ..report.log_evidence import LogEvidence
from .base import AbstractEvidenceMethod
from .bridge import Bridge, bridged, effective_draws, error_of_both, ratios

Proposal = Literal["normal", "warp3"]

_FEWEST = 8  # draws of a chain: halves of them have a Monte Carlo error
_LARGE, _APART = 0.1, 4.0  # nats of a standard error; standard errors between the halves
_HIGH_R_HAT = 1.05
_IMPROPER = ("Flat", "FlatPos", "ImproperUniform")


@checks_fields
@dataclass(frozen=True)
class BridgeSampling(AbstractEvidenceMethod):
    """Bridge sampling of the evidence, between the posterior and a normal distribution fitted to its draws.

    It needs draws of the posterior alone: pass it to `infer.evidence`. Each half of every chain fits a normal
    distribution in unconstrained space, to which the draws of the other half are bridged; the value is the mean of the
    two. It is accurate where chains mix well and the posterior has one mode; for several modes, use `infer.Tempered`.

    **Fields**
    - `proposal`: `"normal"`; or `"warp3"`, which also reflects the posterior about its centre. That takes twice the
      evaluations, and has smaller errors where the posterior is skewed.
    - `seed`: of the draws of the proposals, an integer in [0, 2**64).

    **Raises** `OptionError` for another proposal, or another seed.

    **Source**: Meng & Wong (1996), Statistica Sinica 6, 831-860; Meng & Schilling (2002), J. Computational and
    Graphical Statistics 11, 552-586, for `"warp3"`; error by Frühwirth-Schnatter (2004), Econometrics Journal 7,
    143-167. The mean over both halves departs from these, where one half fits and the other is bridged; its error
    counts that each half does both.

    **Example**

    >>> print(f"{infer.evidence(draws, infer.BridgeSampling()).value:.0f}")
    -31
    """

    proposal: Proposal = "normal"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.proposal not in get_args(Proposal):
            raise OptionError(
                f"infer.BridgeSampling: proposal must be one of {', '.join(get_args(Proposal))}, got {self.proposal!r}."
            )
        keys.chain_key(self.seed, 0)  # refuses a bad seed

    def estimate(self, found: Any) -> LogEvidence:
        """Estimate the log evidence from draws: see `infer.evidence`."""
        if not isinstance(found, Draws):
            raise OptionError(
                f"infer.evidence: infer.BridgeSampling() takes draws of infer.sample, got {type(found).__name__}."
            )
        draws = found
        density = density_of_free("infer.evidence", draws)
        _check(draws, density)
        positions = positions_of("infer.evidence", draws, density)
        _check_moving(density, positions)
        heights = over_rows(
            density,
            density.program.precision,
            lambda density, position: density(position),
            positions.reshape(-1, positions.shape[-1]),
        )
        positions = positions.astype(np.float64)
        dtype = np.float64 if density.program.precision == "float64" else np.float32
        evaluate = partial(_evaluated, heights, dtype)
        half = positions.shape[1] // 2
        parts = positions[:, :half], positions[:, -half:]
        key = keys.chain_key(self.seed, 0)
        each: list[Bridge] = []
        for number, (fitted, used) in enumerate((parts, parts[::-1])):
            rng = keys.generator(key, keys.USE_BRIDGE, number)
            found = ratios(evaluate, fitted, used, rng, is_warped=self.proposal == "warp3")
            num_bad = np.count_nonzero(~np.isfinite(found.at_draws))
            if num_bad:
                raise DataError(
                    f"infer.evidence: the log density is not finite at {num_bad} of {found.at_draws.size} draws. "
                    "`infer.check(model)` looks for the cause."
                )
            each.append(bridged(found))
        values = [one.value for one in each]
        return LogEvidence(
            float(np.mean(values)),
            error_of_both(*each),
            float(np.mean([one.forward for one in each])),
            float(np.mean([one.backward for one in each])),
            tuple(by_severity(_doubts(each, positions, density))),
        )


def _evaluated(heights: Rows, dtype: Any, positions: np.ndarray) -> np.ndarray:
    """Evaluate in the precision of the run, and go on in float64."""
    return np.asarray(heights(positions.astype(dtype)), np.float64)


def _check(draws: Draws, density: LogDensity) -> None:
    """Refuse draws that are not of the posterior, and densities that are not normalised."""
    sampler = draws.manifest["sampler"]["name"]
    if any(notice.code == "biased" for notice in draws.notices):
        raise OptionError(
            f"infer.evidence: draws of {sampler} are not quite those of the posterior, and the evidence needs exact "
            "ones. Sample by infer.NUTS() on all of the data."
        )
    if draws.num_draws < _FEWEST:
        raise OptionError(
            f"infer.evidence: bridge sampling needs {_FEWEST} draws of each chain at least, and there are "
            f"{draws.num_draws}. 4 chains of 1000 are usual."
        )
    for entry in density.layout.unknowns:
        if entry.distribution in _IMPROPER:
            raise ModelError(
                f"infer.evidence: site {entry.name!r} has the improper prior {entry.distribution}, which has no "
                "normalising constant, so that the model has no evidence. Give the site a proper prior."
            )


def _check_moving(density: LogDensity, positions: np.ndarray) -> None:
    still = np.flatnonzero(np.ptp(positions, axis=(0, 1)) == 0)
    if still.size:
        name = next(entry.name for entry in density.layout.entries if still[0] < entry.stop)
        raise DataError(
            f"infer.evidence: site {name!r} has the same value in all draws, so that no proposal can be fitted. See "
            "`draws.notices`."
        )


def _doubts(each: list[Bridge], positions: np.ndarray, density: LogDensity) -> list[Notice]:
    (one, other), dim = each, positions.shape[-1]
    found = []
    error = error_of_both(one, other)
    remedy = 'Draw more; try infer.BridgeSampling("warp3"), or infer.Tempered() in the place of the sampler.'
    if not one.is_settled or not other.is_settled:
        found.append(
            Notice(
                "error",
                "bridge_not_converged",
                "The iteration of bridge sampling did not converge: posterior and proposal hardly overlap.",
                remedy,
            )
        )
    if not error <= _LARGE:
        found.append(
            Notice(
                "warning",
                "evidence_error",
                f"The standard error of the log evidence is {error:.2g}, above {_LARGE}.",
                remedy,
            )
        )
    apart = abs(one.value - other.value)
    if apart > _APART * np.hypot(one.standard_error, other.standard_error):
        found.append(
            Notice(
                "warning",
                "halves_disagree",
                f"The two halves of the chains give log evidences {one.value:.3f} and {other.value:.3f}, further apart "
                f"than {_APART:g} standard errors.",
                f"The chains have not converged, or the proposal misses a part of the posterior. {remedy}",
            )
        )
    highest = float(np.nan_to_num(r_hat(positions), nan=1.0).max())
    if highest > _HIGH_R_HAT:
        found.append(
            Notice(
                "warning",
                "evidence_of_modes",
                f"R-hat of the unconstrained draws is up to {highest:.2f}: the chains do not agree, and an "
                "evidence from one mode leaves out the others.",
                "See `draws.notices`; infer.Tempered() moves between modes.",
            )
        )
    num_effective = effective_draws(positions)
    if num_effective < 10 * dim:
        found.append(
            Notice(
                "warning",
                "few_draws",
                f"There are {num_effective:.0f} effective draws for {dim} unknowns, too few to fit a proposal.",
                f"Draw more: {10 * dim} effective draws at least.",
            )
        )
    factors = [entry.name for entry in density.layout.sites if entry.kind == "factor"]
    if factors:
        found.append(
            Notice(
                "info",
                "factor_counts",
                f"The model has the factor {factors[0]!r}, which counts as it is written.",
                "Compare this evidence with others only if the factor holds all constants of its density.",
                tuple(factors),
            )
        )
    return found
