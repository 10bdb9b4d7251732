"""Check when longer trajectories are tried, how they are judged, and which draws have them.

Series are autoregressions of order one with fixed keys, so nothing here is left to chance.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.adaptation.trial import Trial, begun, is_longer, judged, tried
from accord.core.errors import StorageError

COUNT = 150


def series(autocorrelations: np.ndarray, columns: int, seed: int = 0) -> np.ndarray:
    """Draws of which each leaves this much of the one before; shape `(draw, columns)`."""
    generator = np.random.default_rng(seed)
    rows = [generator.normal(size=columns)]
    for kept in autocorrelations[1:]:
        rows.append(kept * rows[-1] + np.sqrt(1 - kept**2) * generator.normal(size=columns))
    return np.array(rows)


def test_a_trial_begins_where_some_unknown_is_slow_with_twice_the_usual_steps() -> None:
    quick, slow = (series(np.full(COUNT, kept), 100) for kept in (0.0, 0.8))
    num_steps, energy = np.full(COUNT, 31), quick[:, 0]
    one_of_many = np.column_stack([quick, slow[:, :1]])
    none = repr(Trial())
    assert repr(begun(181, quick, energy, num_steps, 10)) == none
    begins = begun(181, one_of_many, energy, num_steps, 10)
    assert (begins.since, begins.doublings, begins.is_kept) == (181, 6, False)
    assert begun(181, one_of_many, energy, np.full(COUNT, 45), 10).doublings == 6
    assert begun(181, one_of_many, energy, np.full(COUNT, 46), 10).doublings == 7
    assert repr(begun(181, one_of_many, energy, num_steps, 5)) == none, "longer than trajectories may be"
    assert repr(begun(181, one_of_many[:39], energy[:39], num_steps[:39], 10)) == none, (
        "too few draws to tell"
    )
    assert repr(begun(181, np.ones((COUNT, 3)), energy, num_steps, 10)) == none, "constants say nothing"
    assert repr(begun(181, one_of_many, slow[:, 1], num_steps, 10)) == none, "the energy is slow, too"


@pytest.mark.parametrize(
    ("usual", "longer", "is_kept"),
    [(0.8, 0.2, True), (0.8, 0.8, False), (0.2, 0.0, False)],
    ids=["slow, and less so", "as slow as before", "quick"],
)
def test_longer_trajectories_are_kept_where_slow_unknowns_gain_more_than_it_costs(
    usual: float, longer: float, is_kept: bool
) -> None:
    trial = Trial(181, 6)
    was_tried = tried(trial, 149, COUNT)
    x = series(np.where(was_tried, longer, usual), 20)
    found = judged(trial, x, np.where(was_tried, 63, 31), was_tried, 10)
    assert found.is_kept == is_kept
    assert (found.since, found.doublings) == (181, 6)
    if usual == 0.8:
        assert found.cost == pytest.approx(63 / 31)
        # Autoregressions of order one have (1 - r) / (1 + r) effective draws for each.
        assert found.gain == pytest.approx(6.0 if is_kept else 1.0, rel=0.3)


def test_what_is_slow_by_chance_alone_is_no_gain() -> None:
    """Judge 500 unknowns with an autocorrelation of 0.5, many of which look slow in half of the draws."""
    trial = Trial(181, 6)
    was_tried = tried(trial, 149, COUNT)
    found = judged(trial, series(np.full(COUNT, 0.5), 500), np.where(was_tried, 63, 31), was_tried, 10)
    assert found.gain == pytest.approx(1, abs=0.15)


def test_a_trial_of_few_draws_is_not_judged() -> None:
    trial = Trial(260, 6)
    was_tried = tried(trial, 149, COUNT)
    x = series(np.full(COUNT, 0.8), 3)
    assert repr(judged(trial, x, np.where(was_tried, 63, 31), was_tried, 10)) == repr(trial)
    assert not trial.is_kept


def test_longer_trajectories_grow_as_usual_ones_do_and_no_further_than_they_may() -> None:
    trial = Trial(181, 6)
    was_tried = tried(trial, 149, COUNT)
    x = series(np.where(was_tried, 0.2, 0.8), 3)
    for usual, max_depth, expected in ((31, 10, 6), (70, 10, 7), (300, 8, 8), (10, 10, 6)):
        found = judged(trial, x, np.where(was_tried, 63, usual), was_tried, max_depth)
        assert found.doublings == expected


def test_every_other_draw_is_tried_from_the_beginning_of_a_trial_on() -> None:
    assert tried(Trial(181, 6), 178, 8).tolist() == [False, False, False, True, False, True, False, True]
    assert not tried(Trial(), 0, 9).any()
    which = jax.jit(is_longer)(jnp.arange(8), 5, 6, jnp.array(True))
    assert which.tolist() == [False, True, False, True, False, True, True, True]
    assert not jax.jit(is_longer)(jnp.arange(8), 5, 0, jnp.array(False)).any()


def test_a_trial_is_stored_and_told() -> None:
    for trial in (Trial(), Trial(181, 6), Trial(208, 7, 3.0, 1.9)):
        assert repr(Trial.stored(trial.arrays())) == repr(trial)
    with pytest.raises(StorageError):
        Trial.stored({})
    assert Trial(181, 6).reason() == "until they turn back"
    seen = "times the effective draws of slow unknowns, for 1.9 times the gradients"
    assert Trial(181, 7, 3.0, 1.9).reason() == f"127 steps: in warm-up, longer ones had 3 {seen}"
    assert Trial(181, 7, 1.0, 1.9).reason() == f"until they turn back: in warm-up, longer ones had 1 {seen}"
