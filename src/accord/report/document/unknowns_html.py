"""Write the table of unknowns as HTML, which a script lets people sort, filter and fold."""

import html
import math

from ..figures.by_draws import ENOUGH_ESS, ENOUGH_R_HAT
from .base import DOUBT, Table

_NAMES = {
    "ess_bulk": "ESS bulk",
    "ess_tail": "ESS tail",
    "r_hat": "R-hat",
    "mcse_mean": "MCSE of mean",
    "mcse_sd": "MCSE of sd",
    "mean_rank": "mean rank",
    "p_adjusted": "p adjusted",
}


def table_as_html(table: Table) -> str:
    """Write the rows, and how many unknowns have none."""
    head = "".join(
        f'<th scope="col" data-sort>{html.escape(_NAMES.get(name, name))}</th>' for name in table.columns
    )
    has_sketches = any(table.sketches)
    shape = f'<th scope="col" class="text">{html.escape(table.sketched)}</th>' if has_sketches else ""
    rows = "".join(_row(table, number, has_sketches) for number in range(len(table.labels)))
    return (
        f"<p>{html.escape(counted(table))}</p>"
        '<div class="tools" id="unknowns-tools" hidden>'
        '<label>Filter by name: <input id="unknowns-filter" type="search" autocomplete="off"></label>'
        '<button type="button" id="unknowns-all" aria-pressed="false">Show all rows</button>'
        '<span id="unknowns-said" role="status"></span></div>'
        '<div class="wide" role="region" tabindex="0" aria-label="Table of unknowns">'
        f'<table id="unknowns-table"><caption>{html.escape(table.caption)}</caption>'
        f'<thead><tr><th scope="col" data-sort>unknown</th>{head}{shape}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def counted(table: Table) -> str:
    """Write how many unknowns there are, and which have rows."""
    count, rows = table.count, len(table.labels)
    if rows == count:
        return f"All {count} numbers." if count != 1 else "One number."
    of = (
        "all"
        if table.judged == count
        else f"{table.judged:,}, spread evenly over all sites, that were judged"
    )
    return f"{count:,} numbers. The rows are {table.picked} of {of}, in this order."


def _row(table: Table, number: int, has_sketches: bool) -> str:
    cells = "".join(
        f"<td{_value(float(column[number]))}{_is_bad(name, float(column[number]))}>{html.escape(text)}</td>"
        for (name, column), text in zip(table.columns.items(), table.cells[number], strict=True)
    )
    sketch = (
        f'<td class="sketch" aria-hidden="true">{html.escape(table.sketches[number])}</td>'
        if has_sketches
        else ""
    )
    return (
        f'<tr data-site="{html.escape(table.sites[number])}"><th scope="row">{html.escape(table.labels[number])}</th>'
        f"{cells}{sketch}</tr>"
    )


def _value(value: float) -> str:
    return f' data-value="{value:.6g}"' if math.isfinite(value) else ""


def _is_bad(name: str, value: float) -> str:
    is_bad = (
        (name.startswith("ess") and value < ENOUGH_ESS)
        or (name == "r_hat" and value > ENOUGH_R_HAT)
        or (name == "p_adjusted" and value < DOUBT)
    )
    return ' class="bad"' if is_bad else ""
