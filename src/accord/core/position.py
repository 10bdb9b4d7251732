"""Define a position: the unknowns of a target as samplers move them."""

from jaxtyping import Array, Float, Int

from .tree import node


@node
class Position:
    """The unknowns of a target as samplers move them.

    **Fields**, with more axes in front where there are lanes or rows
    - `free`: shape `(dim,)`, unconstrained numbers of the continuous unknowns.
    - `whole`: shape `(count,)`, int32, values of the discrete unknowns that are sampled; None where there are none, so
      that a program carries nothing for them.
    """

    free: Float[Array, "... dim"]
    whole: Int[Array, "... count"] | None = None
