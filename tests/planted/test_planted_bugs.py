"""Check that each planted bug still can be planted, and that the tests named for it fail with it."""

import ast

import pytest
from bugs import BUGS
from core_tests import is_left_to_slow
from laws import each
from plant import ROOT, SOURCE, survivors, table


@each(BUGS)
def test_a_planted_bug_has_a_place_and_tests_of_the_default_suite(bug):
    text = (SOURCE / bug.file).read_text()
    assert text.count(bug.old) == 1 and bug.new != bug.old
    ast.parse(text.replace(bug.old, bug.new))
    assert bug.tests
    for node in bug.tests:
        file, name = node.split("[")[0].split("::")
        functions = {
            part.name: part
            for part in ast.parse((ROOT / file).read_text()).body
            if isinstance(part, ast.FunctionDef)
        }
        assert name in functions, node
        marks = [ast.unparse(mark) for mark in functions[name].decorator_list]
        assert "pytest.mark.slow" not in marks and not is_left_to_slow(node), node


def test_there_are_bugs_enough_and_their_table_stands_on_the_page_on_trust():
    assert len(BUGS) >= 30
    assert table(BUGS) in (ROOT / "docs" / "trust.md").read_text()


@pytest.mark.slow
@each(BUGS)
def test_a_planted_bug_is_caught(bug, tmp_path):
    missed, printed = survivors(bug, tmp_path)
    assert not missed, printed
