"""Have runs of segments short enough for a test to lose some and keep others."""

import pytest
from fault_models import SEGMENT

from accord.drivers import block


@pytest.fixture(autouse=True, scope="module")
def _short_segments():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block, "_MAX_ROWS", SEGMENT)
        yield


@pytest.fixture
def orders(tmp_path, monkeypatch):
    """A folder of orders that workers obey, one each."""
    monkeypatch.setenv("ACCORD_TEST_ORDERS", str(tmp_path / "orders"))
    (tmp_path / "orders").mkdir()
    return tmp_path / "orders"
