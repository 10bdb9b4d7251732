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

    **Example**

    >>> @ac.model
    ... def sides(y):
    ...     z = ac.sample("z", dist.Bernoulli(0.5))
    ...     ac.sample("y", dist.Normal(jnp.where(z == 1, 2.0, 0.0), 1.0), obs=y)
    >>> density = ac.LogDensity.from_model(sides(1.5), whole=["z"])
    >>> position = density.unconstrain({"z": 1})
    >>> position.free.shape, position.whole.tolist()
    ((0,), [1])
    >>> print(f"{density(position):.4f}")
    -1.7371
    """

    free: Float[Array, "... dim"]
    whole: Int[Array, "... count"] | None = None
