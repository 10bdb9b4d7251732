"""Hold the weights of points, the standard error and the test of ranks against replacements that are independent.

Here the likelihood falls with the volume in a known way, so that ideal live points are volumes alone. 400 such runs
tell their spread to 3.5%: their mean is within 6 errors of the exact value (2e-9), and the spread within 22% of the
standard error, 6 errors. A p-value of 200,000 independent ranks is below 1e-6 by a false alarm in 1e-6.
"""

import numpy as np
import pytest
from laws import each

from accord.nested.estimate import disagreement, estimated
from accord.nested.insertion import p_value, ranks
from accord.nested.stored import Ended
from accord.nested.volumes import live_counts, merged, weighed
from accord.report.log_evidence import LogEvidence

DIM, WIDTH = (
    4,
    0.1,
)  # of a normal likelihood in a ball: its log height falls as the volume to the power 2 / DIM


def log_height(volume):
    return -0.5 * volume ** (2 / DIM) / WIDTH**2


EXACT = np.log(
    8 * WIDTH**4 * (1 - (1 + 0.5 / WIDTH**2) * np.exp(-0.5 / WIDTH**2))
)  # the integral over volumes


def ideal(rng, live, batch, num_batches, height=log_height):
    """Return log heights, ties, counts and ranks of a run whose new points are independent."""
    points, dead, shares = rng.random(live), [], []
    for _ in range(num_batches):
        points = -np.sort(-points)
        dead.append(points[:batch])
        rest, new = points[batch:], points[batch - 1] * rng.random(batch)
        shares.append(ranks(-rest, -new, rng.random(batch)))
        points = np.concatenate([rest, new])
    volumes = np.concatenate([*dead, -np.sort(-points)])
    return height(volumes), 1 - volumes, live_counts(batch * num_batches, live, batch), np.concatenate(shares)


@each({"one by one": (10, 1, 120), "in batches": (20, 10, 26)})
def test_the_evidence_of_ideal_runs_is_right_and_its_error_their_spread(case):
    rng = np.random.default_rng(1)
    runs = [ideal(rng, *case) for _ in range(400)]
    evidences = [weighed(merged([h], [t], [c])).log_evidence for h, t, c, _ in runs]
    values, errors = np.array([(each.value, each.standard_error) for each in evidences]).T
    assert abs(values.mean() - EXACT) < 6 * values.std() / np.sqrt(400)
    assert 0.78 < values.std(ddof=1) / errors.mean() < 1.22
    information = np.mean([each.information for each in evidences])
    assert errors.mean() == pytest.approx(np.sqrt(information / case[0]), rel=0.2)
    assert p_value([shares for *_, shares in runs][:100], 10**9) > 1e-6


def test_runs_that_are_merged_are_one_with_all_their_live_points():
    rng = np.random.default_rng(2)
    runs = [ideal(rng, 20, 5, 52) for _ in range(100)]
    heights, ties, counts, _ = zip(*runs, strict=True)
    threads = merged(heights, ties, counts)
    assert (
        threads.live[0] == 100 * 20 and threads.live[-1] == 1 and np.all(np.diff(threads.log_likelihood) >= 0)
    )
    for run in (0, 99):
        own = threads.run == run
        np.testing.assert_array_equal(threads.place[own], np.arange(len(heights[run])))
    together = weighed(threads).log_evidence
    alone = weighed(merged(heights[:1], ties[:1], counts[:1])).log_evidence
    assert together.standard_error == pytest.approx(alone.standard_error / 10, rel=0.2)
    assert abs(together.value - EXACT) < 6 * together.standard_error


def test_a_likelihood_that_is_constant_has_the_evidence_exactly():
    h, t, c, _ = ideal(np.random.default_rng(3), 20, 5, 40, lambda volume: np.full(len(volume), -3.0))
    found = weighed(merged([h], [t], [c]))
    assert found.log_evidence.value == pytest.approx(-3.0, abs=1e-12)
    assert found.log_evidence.standard_error == pytest.approx(0.0, abs=1e-12)
    assert np.exp(found.log_weights).sum() == pytest.approx(1.0)
    nothing = weighed(merged([np.full(len(h), -np.inf)], [t], [c]))
    assert nothing.log_evidence.value == -np.inf and np.all(nothing.log_weights == -np.inf)


def test_ranks_that_lean_are_seen_also_in_a_part_of_a_run():
    rng = np.random.default_rng(4)
    even = [rng.random(10_000) for _ in range(20)]
    assert p_value(even, 500) > 1e-6
    assert p_value([], 500) == 1.0
    leaning = [each**1.2 for each in even[:2]]
    assert p_value(leaning, 500) < 1e-6
    late = even[0].copy()
    late[-500:] = late[-500:] ** 2
    assert p_value([late], 500) < 1e-6 < p_value([late], 10_000)


def test_new_points_rank_among_those_there_and_the_new_ones_before():
    found = ranks(np.array([10, 20, 30]), np.array([25, 5, 26]), np.zeros(3))
    np.testing.assert_allclose(found, [2 / 4, 0 / 5, 4 / 6])


def test_runs_that_differ_by_more_than_their_errors_have_the_larger_error():
    def run(number, height):
        heights = np.full(30, height)
        return Ended(number, {}, np.zeros(0), np.zeros((30, 1)), heights, np.linspace(0, 1, 30), {})

    alike = estimated([run(0, -1.0), run(1, -1.0)], 10, 5)
    assert alike.log_evidence.standard_error == pytest.approx(0.0, abs=1e-12)
    apart = estimated([run(0, -1.0), run(1, -3.0)], 10, 5)
    assert apart.log_evidence.standard_error == pytest.approx(1.0)
    assert [each.value for each in apart.by_run] == pytest.approx([-1.0, -3.0])
    assert np.isnan(estimated([], 10, 5).log_evidence.value)
    assert disagreement([LogEvidence(0.0, 1.0), LogEvidence(np.sqrt(2) * 1.959964, 1.0)]) == pytest.approx(
        0.05
    )
    assert disagreement([LogEvidence(0.0, 1.0)]) == 1.0
