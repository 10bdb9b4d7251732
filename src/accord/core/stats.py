"""Define what a kernel reports: the statistics of a draw, how it ended, and what an adaptation learns from it."""

import enum
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, Bool, Float, Int

from .tree import node


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


@node
class Info:
    """Report of one evaluation; what comes after `is_complete` has meaning if that is true.

    **Fields**, of shape `()` but for the last two
    - `is_complete`: the draw (or probe) is finished; `state.point` is its result.
    - `acceptance`: mean over the trajectory of min(1, exp(-energy error)); in [0, 1].
    - `ending`: how it ended, an `Ending`.
    - `stats`: shape `(stat,)`, one number for each of the kernel's `stats`, in their order.
    - `seen`: what the kernel's adaptation needs beside these: arrays, or a `node` of arrays.
    """

    is_complete: Bool[Array, ""]
    acceptance: Float[Array, ""]
    ending: Int[Array, ""]
    stats: Float[Array, " stat"]
    seen: Any = ()
