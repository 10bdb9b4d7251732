"""Check what a block of a kernel sees of the draws of its chain."""

import numpy as np

from accord.adaptation.base import Window
from accord.adaptation.each_block import Tuned
from accord.adaptation.fixed import Fixed


def test_a_block_sees_its_columns_its_statistics_and_which_draws_diverged() -> None:
    stats = {
        "diverging": np.array([True, False, True]),
        "x.tree_depth": np.arange(3),
        "y.tree_depth": -np.arange(3),
    }
    whole = Window(np.arange(12.0).reshape(3, 4), np.zeros((3, 4)), np.zeros(3), stats)
    seen = Tuned("x", (1, 3), Fixed()).window(whole, start=1)
    assert seen.positions.tolist() == [[5.0, 7.0], [9.0, 11.0]]
    assert {name: array.tolist() for name, array in seen.stats.items()} == {
        "diverging": [False, True],
        "tree_depth": [1, 2],
    }
