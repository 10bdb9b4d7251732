"""Run every test of kernels under the settings that a run enters."""

from collections.abc import Iterator

import pytest

from accord.core.precision import scope


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    with scope("float64"):
        yield
