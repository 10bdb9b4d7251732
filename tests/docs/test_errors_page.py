"""Test that the page of errors shows what its code raises."""

import importlib
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_messages_on_the_page_are_those_that_its_code_raises(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert page.count("```python raises") >= 10
    assert importlib.import_module("make_errors").page(page) == page, "Run `python docs/make_errors.py`."
