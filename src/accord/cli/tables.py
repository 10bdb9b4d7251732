"""Write tables as strict JSON, without NaN and infinity."""

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.errors import OptionError
from ..mcmc.draws import Draws
from ..report.summary import Summary

if TYPE_CHECKING:
    from ..vi.pathfinder.result import Paths


def summary_as_json(draws: "Draws | Paths", table: Summary, rows: int | None = None) -> str:
    """Convert summary and notices of a run to one JSON object; draws of paths have no number of chains, but of paths.

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
        **({"chains": len(draws.chains)} if isinstance(draws, Draws) else {"paths": len(draws.bounds)}),
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


def summary_of(
    draws: "Draws | Paths", sites: Sequence[str] | None, prob: float, kind: str, interval: str
) -> Summary:
    """Return the summary of a run. **Raises** `OptionError` for diagnostics of draws that have none."""
    if isinstance(draws, Draws):
        return draws.summary(sites, prob=prob, kind=kind, interval=interval)
    if kind not in ("all", "stats"):
        raise OptionError(
            f"--kind {kind} does not fit draws of infer.pathfinder, which no chain made. Leave it out, or write --kind "
            "stats; Pareto k and the notices judge them."
        )
    return draws.summary(sites, prob=prob, interval=interval)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
