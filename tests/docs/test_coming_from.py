"""Run what the pages on coming from other libraries say to write, and hold the pages against their tables."""

import sys
from pathlib import Path

import pytest

import accord as ac
import accord.distributions as dist
from accord.core.dictionary.hints import WORDS

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from make_coming_from import LIBRARIES, pages  # noqa: E402 - the docs are no package

SCRIPTS = {
    f"{key}: {row.ours}": row
    for key, library in LIBRARIES.items()
    for row in library.rows
    if not row.is_statement
}


@pytest.fixture(scope="module")
def names():
    found: dict[str, object] = {"__name__": "setup"}
    exec(compile((DOCS / "coming_from_setup.py").read_text(encoding="utf-8"), "setup", "exec"), found)
    return found


@pytest.mark.parametrize("key", LIBRARIES)
def test_statements_of_a_page_can_stand_in_a_model(key, names):
    statements = [row.ours for row in LIBRARIES[key].rows if row.is_statement]
    assert len(statements) > 6
    for statement in statements:

        @ac.model
        def around(statement=statement):
            ac.sample("beside", dist.Normal(0, 1), obs=0.0)
            exec(statement, dict(names))

        assert "beside" in str(around().sites()), statement


# Each samples, predicts or searches: seconds in all.
@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=label) for label, row in SCRIPTS.items()])
def test_scripts_of_a_page_run(row, names):
    exec(row.ours, dict(names))


@pytest.mark.parametrize("name", pages())
def test_a_page_is_written_from_its_table(name):
    assert (DOCS / name).read_text(encoding="utf-8") == pages()[name], "run docs/make_coming_from.py"


@pytest.mark.parametrize("key", LIBRARIES)
def test_a_page_has_every_word_of_its_library_that_errors_know(key):
    words = [word for word in WORDS if word.library == LIBRARIES[key].name]
    table = pages()[f"coming_from_{key}.md"].partition("## Look up a word")[2]
    assert words and not [word.theirs for word in words if f"`{word.theirs}`" not in table]
    lines = table.splitlines()
    for word in words:
        if not word.code:
            assert f"| `{word.theirs}` | not there yet | {word.note} |" in lines
