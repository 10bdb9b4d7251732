"""Write tables as strict JSON, without NaN and infinity."""

import json
import math

from ..mcmc.draws import Draws
from ..report.summary import Summary


def summary_as_json(draws: Draws, table: Summary, rows: int | None = None) -> str:
    """Convert summary and notices of a run to one JSON object.

    - `rows`: maximal number of rows; `num_rows` in the result counts all.
    """
    count = len(table) if rows is None else min(rows, len(table))
    columns = {name: column[:count].tolist() for name, column in table.values.items()}
    named = [
        {"name": table.labels[index], **{name: _finite(column[index]) for name, column in columns.items()}}
        for index in range(count)
    ]
    whole = {
        "model": draws.manifest["model"],
        "chains": len(draws.chains),
        "draws": draws.num_draws,
        "complete": draws.complete,
        "num_rows": len(table),
        "rows": named,
        "notices": [
            {
                "severity": each.severity,
                "code": each.code,
                "message": each.message,
                "remedy": each.remedy,
                "sites": list(each.sites),
            }
            for each in draws.notices
        ],
        "problems": list(draws.problems),
    }
    return json.dumps(whole, indent=2, allow_nan=False)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
