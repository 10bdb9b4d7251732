"""Run the code in the documents, block after block, as a reader would."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PICTURE = re.compile(r"!\[[^]]*\]\(([^)]+\.svg)\)")


# Pages with many runs, or that start processes.
SLOW = {
    f"docs/{name}.md"
    for name in ("branches", "calibration", "executors", "founding_cases", "parallel", "processes")
}
SLOW |= {
    f"docs/tutorials/{name}.md"
    for name in ("comparison", "counts", "hierarchy", "long_run", "missing_data", "time_series")
}
TO_RUN = [pytest.param(d, marks=pytest.mark.slow if str(d) in SLOW else (), id=str(d)) for d in DOCUMENTS]


@pytest.mark.parametrize("document", TO_RUN)
def test_the_code_of_a_document_runs(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "document"}
    for match in BLOCK.finditer(text):
        line = text[: match.start(1)].count("\n")
        # Blank lines before the code make tracebacks show the document's own line numbers.
        exec(compile("\n" * line + match[1], str(document), "exec"), names)
    for shown in PICTURE.findall(text):
        if (made := tmp_path / Path(shown).name).exists():  # renewed by copying it
            assert made.read_bytes() == ((ROOT / document).parent / shown).read_bytes(), made


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_the_links_of_a_document_lead_somewhere(document):
    for target in LINK.findall((ROOT / document).read_text(encoding="utf-8")):
        assert ((ROOT / document).parent / target).exists(), target


def test_the_getting_started_page_has_code_to_run():
    text = (ROOT / "docs" / "getting_started.md").read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) > 8
