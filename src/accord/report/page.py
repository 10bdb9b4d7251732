"""Show a run in a notebook: its notices and the first rows of its summary."""

import html
from collections.abc import Sequence

from ..core.notice import Notice
from ..core.series import AbstractSeries
from .labels import Coords, Dims
from .markup import notices_as_html, table_as_html
from .summary import summarise

ROWS = 20
"""Rows of a summary that a notebook shows by default: a run may have a million."""


def run_as_html(
    head: str,
    sites: AbstractSeries,
    notices: Sequence[Notice],
    *,
    dims: Dims,
    coords: Coords,
    superchains: Sequence[int] | None = None,
) -> str:
    """Write a run as HTML: its notices, unfolded if one is an error, and the first rows of its summary."""
    parts = [f"<p><b>{html.escape(head)}</b></p>"]
    if notices:
        is_open = " open" if any(each.severity != "info" for each in notices) else ""
        count = f"{len(notices)} notice{'s' * (len(notices) != 1)}"
        parts.append(f"<details{is_open}><summary>{count}</summary>{notices_as_html(notices)}</details>")
    num_scalars = sum(sites.width(name) for name in sites)
    table = summarise(sites, dims=dims, coords=coords, superchains=superchains, most=ROWS)
    more = num_scalars - len(table)
    left_out = f"... and {more} more rows: .summary() has them all." if more else ""
    title = f"Summary of {num_scalars} number{'s' * (num_scalars != 1)}"
    parts.append(
        f"<details open><summary>{title}</summary>{table_as_html(table.cells(ROWS), left_out)}</details>"
    )
    return f"<div>{''.join(parts)}</div>"
