"""Hold the page on checks to what checks print."""

import re
from pathlib import Path

import pytest

from accord.diagnose import check

PAGE = Path(__file__).parents[2] / "docs" / "checking.md"
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?( us| ms| s| min)?")


def without_numbers(text):
    return NUMBER.sub("#", text)


@pytest.mark.slow
def test_what_the_page_says_is_printed_is_printed(capsys):
    page = PAGE.read_text(encoding="utf-8")
    names = {"__name__": "document"}
    for block in CODE.findall(page):
        exec(compile(block, "model.py", "exec"), names)
    printed = without_numbers(capsys.readouterr().out)
    for line in "".join(PRINTED.findall(page)).splitlines():
        assert without_numbers(line) in printed


def test_every_code_of_a_finding_is_on_the_page():
    sources = [*Path(check.__file__).parent.glob("checks/*.py"), Path(check.__file__)]
    code = re.compile(r'(?:"(?:error|warning|info)"|severity|_Fault\(),?\s+"([a-z0-9_-]+)",')
    found = {name for path in sources for name in code.findall(path.read_text(encoding="utf-8"))}
    found -= {"error", "warning", "info"}
    assert len(found) > 20
    page = PAGE.read_text(encoding="utf-8")
    assert not {name for name in found if f"`{name}`" not in page}
