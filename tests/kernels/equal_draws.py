"""Compare the draws of two runs, bit for bit."""

import numpy as np

from accord.mcmc.draws import Draws


def equal(one: Draws, other: Draws) -> None:
    """Assert that sites, statistics and tuning are the same."""
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    for part in ("stats", "tuning"):
        for name, array in getattr(one, part).items():
            np.testing.assert_array_equal(array, getattr(other, part)[name], err_msg=name)
