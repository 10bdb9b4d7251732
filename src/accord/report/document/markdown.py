"""Write a report as Markdown, short enough for a comment on a change."""

from collections.abc import Iterable, Sequence

from .base import Document
from .unknowns_html import counted

_ROWS = 20
_SPECIAL = "\\`*_[]<>|~&#"
_SIGNS = {"error": "\u274c", "warning": "\u26a0\ufe0f", "info": "\u2139\ufe0f", "none": "\u2705"}


def as_markdown(document: Document) -> str:
    """Write head, verdict, numbers and notices, and 20 rows of the table."""
    severity, verdict = document.verdict
    parts = [
        f"# {plain(document.title)}",
        plain(document.head),
        f"**{_SIGNS[severity]} {plain(verdict)}**",
        "\n".join(f"- {plain(term)}: {plain(value)}" for term, value in document.numbers),
    ]
    if document.notices or document.problems:
        parts.append("## Notices")
        parts += [f"- **damage**: {plain(each)}" for each in document.problems]
        parts += [
            f"- **{each.severity}** `{each.code}`: {plain(each.message)} {plain(each.remedy)}".rstrip()
            for each in document.notices
        ]
    if document.table is not None:
        table = document.table
        rows = [(label, *cells) for label, cells in zip(table.labels, table.cells, strict=True)]
        parts += ["## Unknowns", counted(table), _table(["unknown", *table.columns], rows[:_ROWS])]
        if len(rows) > _ROWS:
            parts.append(f"... and {len(rows) - _ROWS} more rows.")
    parts.append("## What was run")
    parts.append("\n".join(f"- {plain(term)}: {plain(value)}" for term, value in document.facts))
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Escape what Markdown or HTML would take for markup, and join lines."""
    joined = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in joined)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    written = [[plain(cell) if row is not lines[1] else cell for cell in row] for row in [*lines, *rows]]
    return "\n".join(f"| {' | '.join(row)} |" for row in written)
