"""Show whether momenta are refreshed fast enough to reach all levels of energy.

**Source**: Betancourt (2016), arXiv:1604.00695.
"""

import numpy as np

from ..diagnostics import e_bfmi
from .chains import edges_of, finite, heights_of, left_out
from .marks import INK, Axis, Bars, Line, Panel
from .ticks import number


def energy(values: np.ndarray) -> Panel:
    """Draw the distribution of the energy around its mean, and of its change per draw; shape `(chain, draw)`.

    The two are alike in a run that explores well. A narrow distribution of changes means a low E-BFMI.
    """
    values = np.asarray(values, np.float64)
    known = [finite(row) for row in values]
    marginal = np.concatenate([row - row.mean() for row in known if row.size] or [np.zeros(0)])
    changes = np.concatenate([np.diff(row) for row in known] or [np.zeros(0)])
    edges = edges_of(np.concatenate([marginal, changes]), is_whole=False)
    levels, steps = heights_of(marginal, edges), heights_of(changes, edges)
    bfmi = e_bfmi(values) if values.size else np.zeros(0)
    lowest = bfmi[np.isfinite(bfmi)]
    words = (
        f"lowest E-BFMI {number(float(lowest.min()))}, where 0.3 is enough"
        if lowest.size
        else "E-BFMI unknown"
    )
    return Panel(
        "Energy",
        (
            Bars(edges[:-1], edges[1:], np.zeros(len(levels)), levels, INK, 0.22),
            Line(edges, np.append(steps, steps[-1:]), 0, is_steps=True),
        ),
        Axis("energy", float(edges[0]), float(edges[-1])),
        Axis("density", 0, 1.25 * (max(levels.max(initial=0), steps.max(initial=0)) or 1.0)),
        f"Energy around its mean, and its change from draw to draw: alike if momenta are refreshed fast enough; "
        f"{words}.{left_out(values)}",
        ((INK, "energy"), (0, "change")),
    )
