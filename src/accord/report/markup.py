"""Write tables and notices as self-contained HTML.

It uses no other style sheet and fetches nothing. Text and background take the colours of the page, light or dark; added
colours are visible on both.
"""

import html
from collections.abc import Iterable, Sequence

from ..core.notice import Notice

_TABLE = "color:inherit;font-size:inherit;border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:0.15em 0.6em;border:0;color:inherit;background:transparent;"


def table_as_html(cells: Sequence[Sequence[str]], left_out: str = "") -> str:
    """Write a table: the first row is the head, the first column has labels, the last one sketches."""
    head = "".join(f"<th style='{_CELL}text-align:right'>{html.escape(cell)}</th>" for cell in cells[0])
    body = "".join(
        "<tr style='background:transparent'>"
        + f"<th scope='row' style='{_CELL}text-align:left;font-weight:normal'>{html.escape(row[0])}</th>"
        + "".join(f"<td style='{_CELL}text-align:right'>{html.escape(cell)}</td>" for cell in row[1:-1])
        + f"<td style='{_CELL}text-align:left;white-space:pre;font-family:monospace'>{html.escape(row[-1])}</td></tr>"
        for row in cells[1:]
    )
    table = (
        f"<div style='overflow-x:auto'><table style='{_TABLE}'>"
        f"<thead style='border-bottom:1px solid'><tr style='background:transparent'>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
    return f"{table}<p>{html.escape(left_out)}</p>" if left_out else table


def notices_as_html(notices: Iterable[Notice]) -> str:
    """Write one line per notice, in the given order."""
    return "".join(each.as_html() for each in notices)
