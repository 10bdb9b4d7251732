"""Evaluate the two halves of a log density apart: the prior, with the Jacobian of its map, and the likelihood."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..core import precision as precision_scope
from ..core.errors import ModelError
from ..core.position import Position
from ..core.tree import shapes
from ..language import Site
from .checks import improper
from .latent import concrete
from .logdensity import LogDensity
from .unknowns import Unknowns, like


def value_and_grad_of_halves(
    density: LogDensity, position: Position
) -> tuple[Float[Array, ""], Float[Array, " dim"], Float[Array, "2"], Float[Array, "2 dim"]]:
    """Evaluate the log density and its gradient, and both of prior and likelihood, in this order."""

    def half(number: int, free: Array) -> Array:
        at: Unknowns = free if position.whole is None else replace(position, free=free)
        prior, jacobian, likelihood = density.parts(at)
        return (prior + jacobian, likelihood)[number].astype(free.dtype)

    # Of each half on its own, XLA computes what it needs; what both need, it computes once.
    halves = [
        jax.value_and_grad(lambda free, half=half, n=number: half(n, free))(position.free)
        for number in (0, 1)
    ]
    (prior, by_prior), (likelihood, by_likelihood) = halves
    both = jnp.stack([prior, likelihood]), jnp.stack([by_prior, by_likelihood])
    return prior + likelihood, by_prior + by_likelihood, *both


def check_halves(density: LogDensity, needed_by: str) -> None:
    """Raise `ModelError` where there are no two halves, or no distribution to begin with: an improper prior."""
    try:
        density.program.check_separate(density.data)
    except ModelError as error:
        raise ModelError(f"{needed_by} needs prior and likelihood apart. {error}") from None
    program = density.program.whole
    if program is None:
        return
    found: list[Site] = []

    def look(position: Unknowns, data: Mapping[str, Any]) -> None:
        sites = program.sites(density.program.pieces(position), data).values()
        site = improper(site for site in sites if not site.is_observed and site.distribution is not None)
        found.extend([] if site is None else [site])

    position = like(density.layout, precision_scope.float_dtype(program.precision))
    with precision_scope.scope(program.precision), concrete(program.constants):
        jax.eval_shape(look, position, shapes(density.data))
    for site in found:
        raise ModelError(
            f"{needed_by}: site {site.name!r} (at {site.where}) has an improper prior, from which no draw can come. "
            "Give it a proper one."
        )
