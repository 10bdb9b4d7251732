"""Find what is to blame at the position of a failure; loaded where one is explained."""

from typing import Any

from ..core import precision as precisions
from ..core.position import Position
from ..density import Blame, LogDensity, blame
from ..density.joint import at_whole
from .endings import BadEnd


def blame_at(density: LogDensity, failure: BadEnd) -> Blame:
    """Find what is to blame at the position of a failure."""
    with precisions.scope(density.program.precision):
        numbers: Any = failure.position, failure.whole
        found = at_whole(density, Position(*numbers))
        # Of whole numbers alone, no model is left by conditioning on them.
        return blame(density, Position(*numbers)) if found is None else blame(*found)
