"""Hold populations against known evidences and moments, and simulated data.

Statistical tests compare 16 numbers with closed forms, within 6 standard errors (2e-9 each), and 50 ranks with the
uniform distribution (1e-7).
"""

import itertools

import numpy as np
import pytest
from laws import each
from scipy import stats
from smc_models import (
    EFFECTS,
    EVIDENCE,
    MEAN,
    SD,
    SIGMA,
    Y,
    eight_schools,
    found,
    normal,
    one_of_two,
    two_modes,
)

from accord import infer
from accord.adaptation.metric import Metric
from accord.smc import machine

KERNELS = {
    "NUTS": infer.NUTS(),
    "HMC": infer.HMC(),
    "MALA": infer.MALA(),
    "Barker": infer.Barker(),
    "a random walk": infer.RandomWalk(),
}


def logs_of(draws):
    return np.array([stages["log_ratio"].sum() for stages in draws.stages.values()])


@each(KERNELS, slow=["MALA", "Barker", "HMC"])
def test_the_evidence_and_moments_of_a_normal_model_are_right(kernel):
    draws = found(normal(Y), kernel, populations=10, particles=2000, moves=20)
    off = draws.log_evidence.value - EVIDENCE
    # Ten populations tell their spread roughly: t with 9 degrees of freedom is beyond 25 with a probability of 1e-9.
    assert abs(off) < 25 * draws.log_evidence.standard_error
    assert draws.log_evidence.standard_error < 0.05
    # At least as good as the ancestors alone.
    error = SD / np.sqrt(10 * 100)
    assert abs(draws["m"].mean() - MEAN) < 6 * error
    assert abs(draws["m"].std() - SD) < 6 * error
    assert not draws.notices


def test_the_error_of_one_population_is_that_by_which_populations_differ():
    draws = found(normal(Y), infer.RandomWalk(), populations=100, moves=20)
    inside = np.array([stages["variance"].sum() for stages in draws.stages.values()])
    ratio = logs_of(draws).std(ddof=1) / np.sqrt(inside.mean())
    assert 0.6 < ratio < 1.6  # the spread of 100 has a standard error of 7%
    alone = found(normal(Y), infer.RandomWalk(), populations=1, moves=20)
    assert alone.log_evidence.standard_error == pytest.approx(np.sqrt(inside[0]))


def test_the_evidence_is_unbiased_where_nothing_is_learnt(monkeypatch):
    ladder = [0.02, 0.1, 0.4, 1.0]
    scales = {power: np.full(1, 1 / np.sqrt(0.01 + 5 * power)) for power in ladder}
    after, now = dict(itertools.pairwise([0.0, *ladder])), [0.0]

    def next_power(log_likelihood, power, share):
        now[0] = after[power]
        return now[0]

    monkeypatch.setattr(machine, "next_power", next_power)
    monkeypatch.setattr(machine, "metric_of", lambda *_: Metric.diagonal(scales.get(now[0], np.ones(1)), 0))
    monkeypatch.setattr(machine, "step_size_by_probes", lambda *_: 2.0)
    monkeypatch.setattr(machine, "next_step_size", lambda *_: 2.0)
    options = dict(populations=400, particles=80, moves=8, executor=infer.Serial())
    draws = found(normal(Y), infer.RandomWalk(), **options)
    assert all(stages["power"].tolist() == [0.0, *ladder] for stages in draws.stages.values())
    ratios = np.exp(logs_of(draws) - EVIDENCE)
    error = ratios.std(ddof=1) / np.sqrt(400)
    assert error < 0.05
    assert abs(ratios.mean() - 1) < 6 * error


def test_what_populations_learn_hardly_moves_their_evidence():
    draws = found(normal(Y), infer.RandomWalk(), populations=100, particles=400, moves=8)
    ratios = np.exp(logs_of(draws) - EVIDENCE)
    error = ratios.std(ddof=1) / np.sqrt(100)
    assert error < 0.05
    assert abs(ratios.mean() - 1) < 0.03 + 6 * error  # measured: 0.023 +- 0.010 by 400 populations
    assert draws.log_evidence.value == pytest.approx(EVIDENCE + np.log(ratios.mean()))


def test_modes_have_their_weights():
    draws = found(two_modes(), infer.RandomWalk(), populations=20, particles=2000, moves=20)
    shares = (draws.particles["x"][:, :, 0] > 0).mean(axis=1)
    weights = np.exp(draws.log_weights[:, 0]) * 2000
    share = (draws["x"][0, :, 0] > 0).mean()
    assert share == pytest.approx(weights @ shares, abs=2e-3)
    error = np.sqrt(np.sum(weights**2 * (shares - share) ** 2))
    assert error < 0.02 and abs(share - 0.1) < 25 * error
    evidence = draws.log_evidence
    assert abs(evidence.value + 4 * np.log(4)) < 25 * evidence.standard_error
    assert evidence.standard_error < 0.1
    assert "short_moves" in [notice.code for notice in draws.notices]  # no chain leaves its mode


@pytest.mark.slow
def test_eight_schools_have_the_moments_of_quadrature():
    draws = found(eight_schools(SIGMA, EFFECTS), populations=10, particles=2000, moves=20)
    assert abs(draws.log_evidence.value + 31.311347352) < 25 * draws.log_evidence.standard_error
    assert draws.log_evidence.standard_error < 0.02
    known = {"mu": (4.396820714, 3.317704463), "tau": (3.597705484, 3.219958415)}
    for name, (mean, sd) in known.items():
        assert abs(draws[name].mean() - mean) < 6 * sd / np.sqrt(10 * 100)
    theta = [6.211884, 4.940178, 3.927004, 4.757098, 3.615477, 4.042613, 6.296724, 4.854253]
    errors = draws["theta"][0].std(axis=0) / np.sqrt(10 * 100)
    assert np.all(np.abs(draws["theta"][0].mean(axis=0) - theta) < 6 * errors)


def test_discrete_unknowns_are_summed_out():
    y = np.array([0.2, 1.9, -0.4, 2.8])
    draws = found(one_of_two(y), infer.RandomWalk())
    grid = np.linspace(-6, 6, 4001)
    each_y = 0.7 * stats.norm.pdf(y[:, None], grid) + 0.3 * stats.norm.pdf(y[:, None], grid + 2)
    heights = stats.norm.pdf(grid) * each_y.prod(axis=0)
    exact = np.log(np.sum(heights) * (grid[1] - grid[0]))
    assert abs(draws.log_evidence.value - exact) < 100 * draws.log_evidence.standard_error  # t with 3 degrees
    assert draws.log_evidence.standard_error < 0.05
    mean = np.sum(grid * heights) / np.sum(heights)
    assert abs(draws["mu"].mean() - mean) < 6 * draws["mu"].std() / np.sqrt(400)


def test_single_precision_finds_the_same_posterior():
    draws = found(normal(Y), infer.RandomWalk(), precision="float32")
    assert draws["m"].dtype == np.float32
    assert draws.log_evidence.value == pytest.approx(EVIDENCE, abs=0.5)
    assert draws["m"].mean() == pytest.approx(MEAN, abs=6 * SD / np.sqrt(400))


@pytest.mark.slow
def test_simulated_parameters_have_uniform_ranks():
    generator, ranks = np.random.default_rng(11), []
    for number in range(50):
        m = 10 * generator.normal()
        options = dict(populations=1, particles=400, moves=20, seed=number)
        draws = found(normal(m + generator.normal(size=5)), infer.RandomWalk(), **options)
        ranks.append((draws["m"] < m).mean())
    distance = stats.ks_1samp(ranks, stats.uniform.cdf).statistic
    assert np.sqrt(50) * distance < 2.9 + 0.1  # 2 exp(-2 2.9^2) = 1e-7; ranks of 400 draws are that coarse
