"""Name the statistics that a kernel reports with each draw, and the ways in which a draw may end."""

import enum
from dataclasses import dataclass


class Ending(enum.IntEnum):
    """How a draw ended.

    - `GOOD`: as it should.
    - `DIVERGENCE`: with an energy error above the limit, or at a log density of -inf; all other numbers are finite.
    - `LOG_DENSITY`: at a log density of NaN or +inf.
    - `GRADIENT`: at a gradient that is not finite, where the log density is.
    """

    GOOD = 0
    DIVERGENCE = 1
    LOG_DENSITY = 2
    GRADIENT = 3


@dataclass(frozen=True)
class Stat:
    """A statistic of a draw. **Fields**: `name`, ArviZ's where there is one; `dtype`, in which it is stored."""

    name: str
    dtype: str = "float64"
