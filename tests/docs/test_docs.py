"""Run the Python code of the README and of every page in docs, in order, as a reader would."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def python_of(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for number, code in enumerate(python_of(page)):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
