"""Hold that parts of a plate have different entries, each as probable as the others.

Three chi-square tests, each with a false alarm in 1e-9; the key is fixed.
"""

import jax
import numpy as np
import pytest
from scipy import stats

from accord.language.part import SHUFFLED, part_of

LEVEL = 1e-9


@pytest.mark.parametrize(
    ("size", "count"),
    [(7, 3), (SHUFFLED, 10), (SHUFFLED + 1, 10), (SHUFFLED + 1, SHUFFLED), (10**6, 1000), (10**9, 50)],
)
def test_entries_of_a_part_differ_and_are_there(size: int, count: int) -> None:
    parts = np.asarray(
        jax.vmap(lambda key: part_of(key, size, count))(jax.random.split(jax.random.key(0), 50))
    )
    assert parts.shape == (50, count) and parts.min() >= 0 and parts.max() < size
    assert all(len(set(part)) == count for part in parts.tolist())
    assert len({tuple(part) for part in parts.tolist()}) == 50 or size == 7


def test_every_entry_and_every_distance_is_as_probable() -> None:
    size, count = SHUFFLED + 904, 50
    make = jax.jit(jax.vmap(lambda key: part_of(key, size, count)))
    parts = np.asarray(make(jax.random.split(jax.random.key(1), 40_000)))
    for numbers in (
        parts,
        (parts[:, 1:] - parts[:, :-1]) % size - 1,
        (parts[:, 5:] - parts[:, :-5]) % size - 1,
    ):
        counts = np.bincount(numbers.ravel(), minlength=size)[: size if numbers is parts else size - 1]
        # Without replacement, counts vary by a little less: the test errs to the side of silence by 1%.
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize(("size", "count"), [(10, 3), (12, 4), (SHUFFLED + 1, 100), (2000, 7)])
def test_consecutive_parts_are_an_epoch_in_which_no_entry_comes_twice(size: int, count: int) -> None:
    num_parts = size // count
    key = jax.random.key(3)
    make = jax.jit(jax.vmap(lambda step: part_of(key, size, count, step)))
    epochs = np.asarray(make(np.arange(2 * num_parts, dtype=np.int32))).reshape(2, -1)
    for epoch in epochs:
        assert len(set(epoch.tolist())) == num_parts * count and epoch.min() >= 0 and epoch.max() < size
    assert not np.array_equal(*epochs)
