"""Hold the evidence of nested sampling against known ones, and its draws against known moments.

An evidence is within 6 standard errors of the exact one but for a chance of 2e-9, a false alarm: 8 evidences, 5 means
and shares. The spread of 320 runs has an error of 4%: it is within 20% of the standard error, 5 errors (6e-7), on two
targets.
"""

import conjugate
import numpy as np
import pytest
from hard_targets import EGGBOX, SHELLS, TWO_MODES, eggbox, peak, shells, two_modes
from laws import each
from nested_models import EVIDENCE, MEAN, SD, SMALL, Y, found, normal, stairs

from accord import infer

ERRORS = 6


def test_evidence_and_draws_of_a_normal_model_are_right():
    evidence = found(normal(Y))
    draws = evidence.draws
    assert abs(evidence.value - EVIDENCE) < ERRORS * evidence.standard_error < 0.5
    # The mean of log likelihood minus log prior height is known: the prior is wide.
    assert evidence.information == pytest.approx(np.log(10 / SD) - 0.5, abs=0.4)
    assert not evidence.notices
    error = SD / np.sqrt(draws.num_draws)
    assert abs(draws["m"].mean() - MEAN) < ERRORS * error
    assert abs(draws["m"].std() - SD) < ERRORS * error
    weights = np.exp(draws.log_weights)
    assert weights.sum() == pytest.approx(1.0)
    assert abs(weights @ draws.points["m"] - MEAN) < ERRORS * error
    assert infer.predict(draws, quiet=True)["y"].shape == (1, draws.num_draws, 5)
    assert float(draws.summary()["mean"][0]) == pytest.approx(draws["m"].mean())
    assert draws.to_dataframe()["m"].shape == (draws.num_draws,)
    assert infer.evidence(draws) == evidence
    assert infer.sample(normal(Y), init=draws, draws=20, warmup=20, chains=2, quiet=True)["m"].shape == (
        2,
        20,
    )


def test_a_likelihood_of_steps_has_its_evidence():
    """0.1 and half of 0.5: only ties that are broken at random tell how much of a step is left."""
    evidence = found(stairs(), live=300, steps=4)
    assert abs(evidence.value - np.log(0.35)) < ERRORS * evidence.standard_error < 0.3
    draws = evidence.draws
    assert np.all(draws["x"] < 0.6)
    share = 0.1 / 0.35
    error = np.sqrt(share * (1 - share) / draws.num_draws)
    assert abs((draws["x"] < 0.1).mean() - share) < 2 * ERRORS * error  # volumes have errors too


def test_single_precision_finds_the_same():
    evidence = found(normal(Y), precision="float32", runs=1)
    assert evidence.draws["m"].dtype == np.float32
    assert abs(evidence.value - EVIDENCE) < ERRORS * evidence.standard_error


# Model, log evidence, information, and the share of what has its first number above zero, where these are known.
CASES = {
    "F32, two modes": (two_modes, TWO_MODES, None, 0.8),
    "F42, precision and mean": (
        lambda: conjugate.normal_gamma(conjugate.Y), conjugate.LOG_EVIDENCE, None, None,
    ),
    "F54, peak in 2 dimensions": (lambda: peak(2), -2 * np.log(2), 3.153587481, None),
    "F54, peak in 10 dimensions": (lambda: peak(10), -10 * np.log(2), 15.767937, None),
    "F55, shells in 2 dimensions": (lambda: shells(2), SHELLS[2], None, 0.5),
    "F55, shells in 5 dimensions": (lambda: shells(5), SHELLS[5], None, 0.5),
    "F55, eggbox": (eggbox, EGGBOX, None, None),
}  # fmt: skip


@pytest.mark.slow
@each(CASES)
def test_the_evidence_of_a_hard_target_is_right(case):
    model, exact, information, share = case
    evidence = found(model(), seed=1, runs=4)
    assert abs(evidence.value - exact) < ERRORS * evidence.standard_error < np.log(2)
    if information is not None:
        # Its error is about that of the log evidence.
        assert evidence.information == pytest.approx(information, abs=ERRORS * evidence.standard_error)
        assert evidence.standard_error == pytest.approx(np.sqrt(information / 2000), rel=0.2)
    if share is not None:
        # Each run has a share of its own, which is about as uncertain as its evidence.
        draws = evidence.draws
        weights = np.exp(draws.log_weights)
        is_right = draws.points["x"][:, 0] > 0
        assert abs(weights @ is_right - share) < ERRORS * evidence.standard_error


@pytest.mark.slow
@each({"normal": (lambda: normal(Y), 10), "a peak in 2 dimensions": (lambda: peak(2), 10)})
def test_the_standard_error_is_the_spread_of_runs(case):
    model, steps = case
    by_run = found(model(), live=100, batch=50, steps=steps, runs=320, seed=3).draws.by_run.values()
    values, errors = np.array([(each.value, each.standard_error) for each in by_run]).T
    assert 0.8 < values.std(ddof=1) / errors.mean() < 1.2


def test_a_move_too_few_has_a_notice_and_more_steps_mend_it():
    short = found(peak(10), live=100, batch=50, steps=1, runs=4)
    codes = {notice.code for notice in short.notices}
    assert codes & {"ranks_not_uniform", "runs_disagree"}
    assert not found(normal(Y), **SMALL).notices
