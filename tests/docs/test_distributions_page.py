"""Test that the page of distributions says what the code says, and shows a picture of each."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
REMEDY = "Run `python docs/make_distributions.py --missing`."


@pytest.fixture(scope="module")
def make() -> ModuleType:
    """The generator, imported from beside the page; matplotlib is not needed for the text."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("make_distributions")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def made(make: ModuleType) -> tuple[str, list[str]]:
    """The page that the code gives, and what it lacks; on any machine in the precision of a fresh process."""
    sys.path.insert(0, str(DOCS))
    try:
        return make.make_page()
    finally:
        sys.path.remove(str(DOCS))


def test_every_public_distribution_says_what_the_page_needs(made: tuple[str, list[str]]) -> None:
    assert not made[1], "\n".join(made[1])


def test_the_page_is_what_the_code_gives(made: tuple[str, list[str]]) -> None:
    assert (DOCS / "distributions.md").read_text(encoding="utf-8") == made[0], REMEDY


def test_every_distribution_on_the_page_has_its_picture(make: ModuleType) -> None:
    text = (DOCS / "distributions.md").read_text(encoding="utf-8")
    shown = set(re.findall(r'src="pictures/distributions/(\w+)\.png"', text))
    assert shown == set(make.distribution_names()), REMEDY
    there = {path.stem for path in (DOCS / "pictures" / "distributions").glob("*.png")}
    assert there == shown, REMEDY
