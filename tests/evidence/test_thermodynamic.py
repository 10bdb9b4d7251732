"""Integrate log likelihoods over powers, and hold the integral to known ones."""

import numpy as np
import pytest
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError
from accord.evidence.thermodynamic import integrated


def moments(power: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the log likelihood of 1 ~ N(x, 1) at a power, where x ~ N(0, 1)."""
    variance = mean = 1 / (1 + power)
    mean_log = -0.5 * np.log(2 * np.pi) - 0.5 * (mean**2 + variance)
    return mean_log, 0.25 * (2 * variance**2 + 4 * mean**2 * variance)


def test_the_integral_and_its_correction_are_those_of_families_f44() -> None:
    powers = (np.arange(11) / 10) ** 5
    mean, variance = moments(powers)
    signs = np.tile([1.0, -1.0], 20)
    heights = mean + signs[:, None] * np.sqrt(variance)  # which have just these moments
    found = integrated(powers[None], heights[None])
    assert found.plain == pytest.approx(-1.520511114, abs=1e-9)
    assert found.corrected == pytest.approx(-1.515454196, abs=1e-9)
    assert found.lower < -1.515512123 < found.upper


def test_its_errors_are_the_spread_over_repetitions() -> None:
    """Over 200 repetitions: the spread of values over errors has a standard error of 5%, and is within 30%."""
    rng = np.random.default_rng(0)
    powers = np.tile((np.arange(1, 11) / 10) ** 3, (4, 1))
    found = []
    for _ in range(200):
        x = powers / (1 + powers) + rng.normal(size=(400, 4, 10)) / np.sqrt(1 + powers)
        found.append(integrated(powers, stats.norm.logpdf(1, np.moveaxis(x, 0, 1), 1)))
    errors, values = np.array([(each.standard_error, each.corrected) for each in found]).T
    assert abs(errors.mean() / values.std(ddof=1) - 1) < 0.3


@ac.model
def one_mean(y: float) -> None:
    mean = ac.sample("mean", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(mean, 1), obs=y)


def test_a_run_of_replicas_gives_the_evidence_in_two_ways() -> None:
    """Of families K17, within six standard errors, and what is left of the width of steps: 1e-3."""
    run = infer.sample(
        one_mean(1.0),
        infer.Tempered(infer.RandomWalk(), temperatures=6),
        draws=2000,
        chains=2,
        quiet=True,
        progress=False,
    )
    exact = stats.norm.logpdf(1, 0, np.sqrt(2))
    found, other = infer.evidence(run, infer.ThermodynamicIntegration()), infer.evidence(run)
    assert abs(found.value - exact) < 6 * found.standard_error + 1e-3 and found.standard_error < 0.1
    assert abs(other.value - exact) < 6 * other.standard_error
    assert found.forward < exact < found.backward and not found.notices


def test_a_coarse_ladder_is_told() -> None:
    rng = np.random.default_rng(2)
    powers, sizes = np.array([[0.0, 0.001, 1.0]]), np.array([1.0, 1 / 1.1, 1 / 101])
    heights = -50 * rng.chisquare(2, size=(1, 4000, 3)) * sizes
    rest = integrated(powers[:, 1:], heights[..., 1:])
    assert abs(rest.corrected - rest.plain) > 3 * rest.standard_error + 0.05


def test_other_results_are_refused_by_each_method() -> None:
    for method in (infer.ThermodynamicIntegration(), infer.BridgeSampling(), infer.ImportanceSampling()):
        with pytest.raises(OptionError, match=r"infer\.evidence: infer"):
            infer.evidence({}, method)  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError, match="draws must be"):
        infer.ImportanceSampling(draws=10)
    with pytest.raises(OptionError, match="seed"):
        infer.ImportanceSampling(seed=-1)
    with pytest.raises(OptionError, match="method must be like"):
        infer.evidence({}, infer.ESS(100))  # pyright: ignore[reportArgumentType]
