"""Draw the distribution functions of ranks with the band that holds them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import OptionError
from .uniformity import Uniformity

if TYPE_CHECKING:
    from .calibration import Calibration

_MAX_NAMED = 8


def plot(found: "Calibration", columns: np.ndarray) -> Any:
    """See `Calibration.plot`. `columns`: the ranks of all parameters, shape `(simulation, k)`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot needs matplotlib. Install it with: pip install 'accord[plot]'") from error
    num = len(found.simulations)
    if not num:
        raise OptionError("there are no ranks to plot: no simulation has all its draws. See `notices`.")
    test = Uniformity(num, found.num_ranks)
    x = test.cuts / found.num_ranks
    low, high = test.band()
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(x, low / num - x, high / num - x, color="0.9", label="95% of uniform ranks")
    named = 0
    for label, shape, ranks in zip(found.labels, found.shapes, columns.T, strict=True):
        difference = test.counts(ranks) / num - x
        if shape == "uniform" or named == _MAX_NAMED:
            axes.plot(x, difference, color="0.5", linewidth=0.7)
        else:
            axes.plot(x, difference, linewidth=1.5, label=f"{label}: {shape}")
            named += 1
    axes.axhline(0.0, color="black", linewidth=0.5)
    axes.set_xlim(float(np.min(x)), float(np.max(x)))
    axes.set_xlabel("rank of the truth, as a share")
    axes.set_ylabel("share of ranks below, less this")
    axes.set_title(f"{found.model}: {num} simulations")
    axes.legend(frameon=False, fontsize="small")
    return figure
