"""Arrange the draws of a chain for a segment: positions, statistics, and results of the sites program.

Draws that thinning leaves out cost nothing here. Sites of warm-up draws are not computed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..storage import Phase
from .block import PART_DTYPES, STAT_DTYPES, STATS
from .plan import Plan

Sites = Callable[..., dict[str, Any]]
"""The compiled program `(positions, log_densities, num_sites, num_parts) -> {name: rows}` of `program`."""


def columns(
    blocks: Sequence[Mapping[str, np.ndarray]], sites: Sites, plan: Plan, phase: Phase, first: int
) -> dict[str, np.ndarray]:
    """Return the kept columns of the draws in `blocks`, which start at draw `first` of their phase."""
    step = plan.thinning if phase == "sample" else 1
    kept = slice(-first % step, None, step)
    positions, stats = (
        np.concatenate([block[name] for block in blocks])[kept] for name in ("position", "stats")
    )
    arrays = {"position": np.ascontiguousarray(positions)}
    arrays |= {
        f"stat/{name}": stats[:, column].astype(dtype)
        for column, (name, dtype) in enumerate(STAT_DTYPES.items())
    }
    count = len(positions)
    padded, heights = np.zeros((plan.segment, plan.dim), plan.dtype), np.zeros(plan.segment, plan.dtype)
    padded[:count], heights[:count] = positions, stats[:, STATS.index("lp")]
    num_sites = count if phase == "sample" else 0
    found = sites(padded, heights, np.int32(num_sites), np.int32(count))
    arrays |= {
        f"stat/{name}": np.asarray(found[f"stat/{name}"])[:count].astype(dtype)
        for name, dtype in PART_DTYPES.items()
        if f"stat/{name}" in found
    }
    if phase == "warmup":
        return arrays | {"gradient": np.concatenate([block["gradient"] for block in blocks])}
    return arrays | {
        name: np.asarray(rows)[:count] for name, rows in found.items() if name.startswith("site/")
    }
