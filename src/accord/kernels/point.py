"""Define a point: where a chain stands, and what the target says there."""

from collections.abc import Callable

from jaxtyping import Array, Float

from ..core.position import Position
from ..core.tree import node

Target = Callable[[Position], tuple[Float[Array, ""], Float[Array, " dim"]]]
"""Log density and its gradient by `free`, at a position."""


@node
class Point:
    """Position of a chain: `log_density`, shape `()`, and `gradient`, shape `(dim,)`, by `position.free`."""

    position: Position
    log_density: Float[Array, ""]
    gradient: Float[Array, " dim"]
