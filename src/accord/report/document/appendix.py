"""Write what a report says as JSON, for programs."""

import json
import math
from typing import Any

from .base import Document


def data_of(document: Document) -> dict[str, Any]:
    """Return the content of a report but for its figures; numbers that are not finite are None."""
    table = document.table
    rows = (
        []
        if table is None
        else [
            {
                "name": label,
                "site": site,
                **{name: _plain(float(column[row])) for name, column in table.columns.items()},
            }
            for row, (label, site) in enumerate(zip(table.labels, table.sites, strict=True))
        ]
    )
    return {
        "model": document.title,
        "head": document.head,
        "verdict": document.verdict[0],
        "notices": [
            {
                "severity": each.severity,
                "code": each.code,
                "message": each.message,
                "remedy": each.remedy,
                "sites": list(each.sites),
            }
            for each in document.notices
        ],
        "problems": list(document.problems),
        "numbers": dict(document.numbers),
        "facts": dict(document.facts),
        "num_unknowns": 0 if table is None else table.count,
        "num_judged": 0 if table is None else table.judged,
        "rows": rows,
        "sections": {
            section.name: {
                "facts": dict(section.facts),
                "sentences": [panel.sentence for figure in section.figures for panel in figure.panels],
            }
            for section in document.sections
        },
        "record": _plain(dict(document.record)),
    }


def as_json(document: Document) -> str:
    """Write it for an element of a page: no character in it can end the element."""
    text = json.dumps(data_of(document), indent=1, allow_nan=False, sort_keys=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
