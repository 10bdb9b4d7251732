"""Define a point: where a chain stands, and what the target says there."""

from collections.abc import Callable

from jaxtyping import Array, Float

from ..core.tree import node

Target = Callable[[Float[Array, " dim"]], tuple[Float[Array, ""], Float[Array, " dim"]]]
"""Log density and its gradient at an unconstrained position."""


@node
class Point:
    """Position of a chain: `position` and `gradient`, shape `(dim,)`, unconstrained; `log_density`, shape `()`."""

    position: Float[Array, " dim"]
    log_density: Float[Array, ""]
    gradient: Float[Array, " dim"]
