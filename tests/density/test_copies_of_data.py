"""Hold that data lie in memory once more for a run, and not twice."""

from typing import Any

import jax
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.tree import aligned

ROWS = 5000


@ac.model
def line(x: Any, y: Any) -> None:
    slope = ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(slope * x, 1), obs=y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_the_device_uses_the_copy_of_the_data_that_the_density_holds(dtype: str) -> None:
    """Data lay in memory twice: NumPy's arrays do not begin where those of XLA do."""
    x = np.ones((ROWS, 2), dtype)
    density = line(x[:, 0], np.zeros(ROWS)).log_density()
    held = density.data["x"]
    assert not np.shares_memory(held, x)
    with jax.enable_x64(True):
        placed = jax.device_put(held, jax.devices("cpu")[0])
        assert placed.dtype == held.dtype
        assert placed.unsafe_buffer_pointer() == held.ctypes.data


@pytest.mark.parametrize("case", ["columns first", "reversed", "empty", "a number"])
def test_arrays_in_any_order_of_memory_are_copied_by_value(case: str) -> None:
    rows = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    array = {"columns first": rows, "reversed": rows[:, ::-1], "empty": rows[:0], "a number": rows[0, 1]}[
        case
    ]
    copy = aligned(array, "float32")
    assert copy.dtype == np.float32
    assert copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, array)
    assert copy.shape == np.shape(array)
