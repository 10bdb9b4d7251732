"""Check at which draws the metric is learnt, for every length of warm-up."""

import pytest

from accord.adaptation.schedule import metric_updates

LENGTHS = [*range(200), 500, 1000, 1001, 10_000]


@pytest.mark.parametrize("num_warmup", range(20))
def test_a_warm_up_too_short_to_learn_from_learns_nothing(num_warmup: int) -> None:
    assert metric_updates(num_warmup) == ()


@pytest.mark.parametrize("num_warmup", [length for length in LENGTHS if length >= 20])
def test_updates_advance_through_warm_up_and_leave_time_to_settle(num_warmup: int) -> None:
    updates = metric_updates(num_warmup)
    indices = [update.at for update in updates]
    assert indices == sorted(set(indices))
    assert indices[0] >= 10
    assert num_warmup - indices[-1] == max(int(0.15 * num_warmup), 5)
    assert updates == metric_updates(num_warmup)


@pytest.mark.parametrize("num_warmup", [20, 50, 500, 1000])
def test_an_update_looks_at_the_latter_half_of_the_draws_so_far(num_warmup: int) -> None:
    for update in metric_updates(num_warmup):
        assert update.start == update.at // 2
        assert update.at - update.start >= 5


def test_updates_grow_apart_so_that_their_number_grows_slowly() -> None:
    counts = [len(metric_updates(length)) for length in (100, 1000, 10_000, 100_000)]
    assert counts == sorted(counts) and counts[-1] < 70
