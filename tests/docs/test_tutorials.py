"""Test what every tutorial has: outputs, a picture that is small, an exercise with its answer, a place in the index."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "tutorials").glob("*.md"))
PICTURE = re.compile(r"!\[([^]]+)\]\(\.\./pictures/tutorials/([\w.]+)\)")
LARGEST = 60_000  # bytes
ANSWER = re.compile(
    r'^## Exercise$.*^<details markdown="1">\n<summary>Answer</summary>\n\n.*\n\n</details>$', re.M | re.S
)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_tutorial_has_an_exercise_and_a_small_picture_that_its_code_saves(page):
    text = page.read_text(encoding="utf-8")
    assert ANSWER.search(text)
    assert "```text\n```" not in text, "run docs/make_tutorials.py"
    pictures = PICTURE.findall(text)
    assert pictures
    for words, picture in pictures:
        assert len(words) > 60, "say what the picture shows"
        assert f'savefig("{picture}")' in text
        assert (DOCS / "pictures" / "tutorials" / picture).stat().st_size < LARGEST


def test_the_index_has_every_tutorial_and_no_picture_is_left_over():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert all(f"](tutorials/{page.name})" in index for page in PAGES)
    shown = {name for page in PAGES for _, name in PICTURE.findall(page.read_text(encoding="utf-8"))}
    assert shown == {path.name for path in (DOCS / "pictures" / "tutorials").iterdir()}
