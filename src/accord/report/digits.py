"""Write numbers with no more digits than their Monte Carlo errors support."""

from collections.abc import Mapping

import numpy as np


def formatted(row: Mapping[str, float], errors: Mapping[str, float]) -> list[str]:
    """Round each number of a row of a summary to the first digit that its Monte Carlo error makes uncertain.

    - `errors`: `mcse_mean` and `mcse_sd` of the row.
    """
    # A quantile is known less well than the mean; the larger of the two errors is near enough for a digit.
    larger = float(np.fmax(errors["mcse_mean"], errors["mcse_sd"]))
    known = {"mean": errors["mcse_mean"], "sd": errors["mcse_sd"]}
    cells: list[str] = []
    for name, value in row.items():
        if np.isnan(value):
            cells.append("-")
        elif name.startswith("ess"):
            cells.append(f"{value:.0f}")
        elif name.startswith("mcse"):
            cells.append(f"{value:.2g}")
        elif name == "r_hat":
            cells.append(f"{value:.3f}" if value < 1000 else f"{value:.3g}")
        else:
            cells.append(rounded(value, known.get(name, larger)))
    return cells


def rounded(value: float, error: float) -> str:
    """Write a number to the place of the first digit of its error; to three digits without one."""
    if not np.isfinite(value):
        return str(value)
    place = np.floor(np.log10(error)) if np.isfinite(error) and error > 0 else None
    size = np.floor(np.log10(abs(value))) if value else (place if place is not None else 0.0)
    if place is None:
        place = size - 2
    if size >= 7 or (size < -4 and value):
        return f"{value:.{int(np.clip(size - place, 0, 9))}e}"
    return f"{value:.{int(np.clip(-place, 0, 12))}f}"
