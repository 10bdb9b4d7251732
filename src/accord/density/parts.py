"""Take a log density apart: the posterior in the model's own space, and the likelihood alone.

A `LogDensity` includes the Jacobian of the maps from unconstrained numbers, so that its integral is right; where it is
highest depends on these maps. The density of the values themselves does not.
"""

from typing import Any

import jax
import jax.numpy as jnp

from ..core.errors import ModelError
from ..language import Site
from .chunked import ChunkedProgram
from .logdensity import LogDensity
from .program import ModelProgram, pieces_of
from .reduction import total
from .row_files import in_memory
from .tracing import concrete


def log_posterior(density: LogDensity, position: jax.Array) -> jax.Array:
    """Log density of the values of the latent sites at a position of shape `(dim,)`, without any Jacobian.

    It is with respect to the values where they are as many as the unconstrained numbers, and for vectors on a simplex
    or the like to the coordinates that the maps of `accord.bijectors` take: all but the last entry of a simplex.
    """
    return density(position) - log_jacobian(density, position)


def log_likelihood(density: LogDensity, position: jax.Array) -> jax.Array:
    """Sum of what observed sites and factors add to the log density at a position of shape `(dim,)`.

    **Raises** `ModelError` for a model without any, and for a density of a function, which has no parts.
    """
    # With those that are reparameterised, of which a mask or scale may leave the density with the site itself.
    latents = {entry.name for entry in density.layout.drawn}
    program = density.program
    if not isinstance(program, ModelProgram | ChunkedProgram):
        raise ModelError(
            f"{program.name!r} is a log density without sites, so that nobody can tell its likelihood from its prior."
        )
    whole = program.base if isinstance(program, ChunkedProgram) else program
    terms = whole.terms(position, in_memory(density.data))
    if latents.issuperset(terms):
        raise ModelError(
            f"the model {program.name!r} observes nothing, so that it has no likelihood: give its data by `obs=` or a "
            "condition."
        )
    if isinstance(program, ChunkedProgram):
        # What is summed over chunks has its derivatives as a whole: so the rest is taken off.
        return density(position) - sum(term for name, term in terms.items() if name in latents)
    first, *others = (term for name, term in terms.items() if name not in latents)
    return sum(others, start=first).astype(position.dtype)


def log_jacobian(density: LogDensity, position: jax.Array) -> jax.Array:
    """Log determinant of the map from a position of shape `(dim,)` to the values of the latent sites, shape `()`."""
    program = density.program
    if isinstance(program, ChunkedProgram):
        program = program.base
    zero = jnp.zeros((), position.dtype)
    if not isinstance(program, ModelProgram):
        return zero
    with concrete(program.constants):
        sites = program.sites(pieces_of(position, density.layout.entries), in_memory(density.data))
        return sum((_log_det(site) for site in sites.values()), start=zero)


def _log_det(site: Site) -> Any:
    return 0.0 if site.log_det is None else total(site.log_det)
