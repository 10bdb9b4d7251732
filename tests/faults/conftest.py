"""Have runs of segments short enough for a test to lose some and keep others."""

import pytest
from fault_models import SEGMENT

from accord.drivers import program


@pytest.fixture(autouse=True, scope="module")
def _short_segments():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "_MAX_ROWS", SEGMENT)
        yield
