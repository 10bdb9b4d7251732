"""Give tests of faults what they share."""

import pytest


@pytest.fixture
def orders(tmp_path, monkeypatch):
    """A folder of orders that workers obey, one each."""
    monkeypatch.setenv("ACCORD_TEST_ORDERS", str(tmp_path / "orders"))
    (tmp_path / "orders").mkdir()
    return tmp_path / "orders"
