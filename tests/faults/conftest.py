"""Have runs of segments short enough for a test to lose some and keep others."""

import pytest
from fault_models import have_short_segments


@pytest.fixture(autouse=True, scope="module")
def _short_segments():
    with pytest.MonkeyPatch.context() as patch:
        have_short_segments(patch.setattr)
        yield


@pytest.fixture
def orders(tmp_path, monkeypatch):
    """A folder of orders that workers obey, one each."""
    monkeypatch.setenv("ACCORD_TEST_ORDERS", str(tmp_path / "orders"))
    (tmp_path / "orders").mkdir()
    return tmp_path / "orders"
