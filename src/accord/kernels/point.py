"""Define a point: where a chain stands, and what the target says there."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Array, Float

from ..core.position import Position
from ..core.tree import node

Target = Callable[..., tuple[Any, ...]]
"""Log density and its gradient by `free`, at a position; and then the fields of `Halves`, if a kernel needs them.

For a kernel that needs minibatches, also of the words that name a part of the data; and then the fields of `Control`,
for one that needs a reference.
"""


@node
class Halves:
    """Prior, with the Jacobian of its map, and likelihood, apart: they sum to the log density.

    **Fields**: `log_density`, shape `(2,)`, prior first; `gradient`, shape `(2, dim)`, by `free`.
    """

    log_density: Float[Array, "2"]
    gradient: Float[Array, "2 dim"]


@node
class Control:
    """Noise and curvature of a log density that is estimated with control variates.

    **Fields**: `variance` of the estimate, shape `()`; `curvature`, shape `(dim,)`, minus the second derivative of the
    log density by each free number, at the reference.
    """

    variance: Float[Array, ""]
    curvature: Float[Array, " dim"]


@node
class Point:
    """Position of a chain: `log_density`, shape `()`, and `gradient`, shape `(dim,)`, by `position.free`.

    Of what was evaluated for a kernel that needs them, else None: `halves`, and `control`.
    """

    position: Position
    log_density: Float[Array, ""]
    gradient: Float[Array, " dim"]
    halves: Halves | None = None
    control: Control | None = None
