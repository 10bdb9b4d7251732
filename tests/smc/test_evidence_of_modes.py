"""Hold the evidence of populations against known ones of hard targets: narrow peaks, thin shells and many modes.

Twenty populations tell their spread by 19 degrees of freedom, so that the evidence lies within 11 standard errors but
for a chance of 1e-9, a false alarm, and so do the shares of modes: 8 evidences, and 4 shares.
"""

import conjugate
import numpy as np
import pytest
from hard_targets import EGGBOX, SHELLS, TWO_MODES, eggbox, peak, shells, two_modes
from laws import each

from accord import infer

POPULATIONS, PARTICLES = 20, 2000
ERRORS = 11


# Model, kernel, log evidence, and the share of what has its first number above zero, if that is known.
CASES = {
    "F32, two modes": (two_modes, infer.RandomWalk(), TWO_MODES, 0.8),
    "F42, precision and mean": (
        lambda: conjugate.normal_gamma(conjugate.Y), infer.NUTS(), conjugate.LOG_EVIDENCE, None,
    ),
    "F54, peak in 2 dimensions": (lambda: peak(2), infer.HMC(), -2 * np.log(2), None),
    "F54, peak in 10 dimensions": (lambda: peak(10), infer.HMC(), -10 * np.log(2), None),
    "F55, shells in 2 dimensions": (lambda: shells(2), infer.NUTS(), SHELLS[2], 0.5),
    "F55, shells in 5 dimensions": (lambda: shells(5), infer.HMC(), SHELLS[5], 0.5),
    "F55, shells in 10 dimensions": (lambda: shells(10), infer.HMC(), SHELLS[10], 0.5),
    "F55, eggbox": (eggbox, infer.HMC(), EGGBOX, None),
}  # fmt: skip


@pytest.mark.slow
@each(CASES)
def test_the_evidence_of_a_hard_target_is_right(case):
    model, kernel, exact, share = case
    options = dict(populations=POPULATIONS, particles=PARTICLES, moves=20, seed=1, quiet=True, progress=False)
    draws = infer.smc(model(), kernel, **options)
    evidence = draws.log_evidence
    # So small an error would show a mode that is missed, or counted twice.
    assert abs(evidence.value - exact) < ERRORS * evidence.standard_error < np.log(2)
    if share is not None:
        weights = np.exp(draws.log_weights[:, 0])
        weights = weights / weights.sum()
        found = (draws.particles["x"][:, :, 0] > 0).mean(axis=1)
        error = np.sqrt(np.sum(weights**2 * (found - weights @ found) ** 2))
        assert abs(weights @ found - share) < ERRORS * error < 0.25
