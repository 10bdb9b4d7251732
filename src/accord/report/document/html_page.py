"""Write a report as one HTML page that fetches nothing, and whose text is never taken for markup.

Styles and the script stand in the page; a policy in its head allows these alone, by their digests. The same document
gives the same bytes.
"""

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from importlib.resources import files

from ..figures.marks import Figure
from ..figures.svg import panel_as_svg
from .appendix import as_json
from .base import Document, Section
from .unknowns_html import table_as_html

_escape = html.escape


def as_html(document: Document) -> str:
    """Write the page."""
    style, script = (_text(name) for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'; "
        "form-action 'none'"
    )
    parts = [("verdict", "Verdict"), ("made", "What was run")]
    parts += [("unknowns", "Unknowns")] if document.table is not None else []
    parts += [(section.name, section.title) for section in document.sections]
    links = "".join(
        f'<li><a href="#{name}">{_escape(title)}</a></li>' for name, title in [*parts, ("data", "As data")]
    )
    title = _escape(f"{document.title}: report of a run")
    severity, verdict = document.verdict
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#content">Skip to the content</a>',
            f"<header><h1>{_escape(document.title)}</h1><p>{_escape(document.head)}</p></header>",
            f'<nav aria-label="Parts of this report"><ul>{links}</ul></nav>',
            '<main id="content" tabindex="-1">',
            _verdict(document, severity, verdict),
            _made(document),
            _unknowns(document),
            *(_section(section) for section in document.sections),
            '<section id="data" aria-labelledby="data-title"><h2 id="data-title">As data</h2>'
            "<p>This page holds its numbers as JSON too, in the element with the id <code>record</code>.</p></section>",
            "</main>",
            "<footer><p>Written by accord. Nothing in this page was fetched, and it fetches nothing.</p></footer>",
            f'<script type="application/json" id="record">{as_json(document)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _text(name: str) -> str:
    return (files("accord.report.document") / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _verdict(document: Document, severity: str, verdict: str) -> str:
    notices = "".join(
        f'<li class="{each.severity}"><span class="tag">{each.severity}</span> <code>{_escape(each.code)}</code>'
        f"<p>{_with_code(each.message)}</p><p>{_with_code(each.remedy)}</p></li>"
        for each in document.notices
    )
    damage = "".join(
        f'<li class="error"><span class="tag">damage</span><p>{_escape(each)}</p></li>'
        for each in document.problems
    )
    listed = f'<ul class="notices">{damage}{notices}</ul>' if damage or notices else ""
    return (
        '<section id="verdict" aria-labelledby="verdict-title"><h2 id="verdict-title">Verdict</h2>'
        f'<p class="verdict {severity}"><strong>{_escape(verdict)}</strong></p>'
        f"{facts_as_html(document.numbers)}{listed}</section>"
    )


def _with_code(text: str) -> str:
    """Escape a sentence, and show what stands between backquotes as code."""
    parts = _escape(text).split("`")
    if len(parts) % 2 == 0:  # an odd one belongs to a name
        return _escape(text)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _made(document: Document) -> str:
    """Write how the run was made: facts in sight, and lists that unfold."""
    parts = [facts_as_html(document.facts)]
    if document.site_rows:
        head = ("site", "kind", "distribution", "shape", "dimensions")
        parts.append(_folded("Sites", _plain_table("Sites of the model", head, document.site_rows)))
    if document.data_rows:
        head = ("argument", "dtype", "shape", "digest")
        parts.append(_folded("Data", _plain_table("Arguments of the model", head, document.data_rows)))
    for title, code in (("Code of the model", document.source), ("Run it again", document.again)):
        if code:
            parts.append(_folded(title, f'<pre tabindex="0"><code>{_escape(code)}</code></pre>'))
    return (
        '<section id="made" aria-labelledby="made-title"><h2 id="made-title">What was run</h2>'
        f"{''.join(parts)}</section>"
    )


def _unknowns(document: Document) -> str:
    if document.table is None:
        return ""
    return (
        '<section id="unknowns" aria-labelledby="unknowns-title"><h2 id="unknowns-title">Unknowns</h2>'
        f"{table_as_html(document.table)}</section>"
    )


def _section(section: Section) -> str:
    name = section.name
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{_escape(section.title)}</h2>'
        f"<p>{_escape(section.words)}</p>{facts_as_html(section.facts)}"
        f"{''.join(map(_figure, section.figures))}</section>"
    )


def _figure(figure: Figure) -> str:
    panels = "".join(panel_as_svg(panel) for panel in figure.panels)
    words = "".join(f"<li>{_escape(panel.sentence)}</li>" for panel in figure.panels)
    return (
        f'<h3>{_escape(figure.title)}</h3><figure><div class="panels">{panels}</div>'
        f"<figcaption>{_escape(figure.sentence)}</figcaption></figure>"
        f"<details><summary>{_escape(figure.title)} in words</summary><ul>{words}</ul></details>"
    )


def facts_as_html(facts: Iterable[tuple[str, str]]) -> str:
    """Write terms with what is known of them; nothing without any."""
    rows = "".join(f"<dt>{_escape(term)}</dt><dd>{_escape(value)}</dd>" for term, value in facts)
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{_escape(title)}</summary>{content}</details>"


def _plain_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col" class="text">{_escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{_escape(row[0])}</th>'
        + "".join(f'<td class="text">{_escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{_escape(caption)}"><table>'
        f"<caption>{_escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
