"""Take a log density apart: the posterior in the model's own space, and the likelihood alone.

A `LogDensity` includes the Jacobian of the maps from unconstrained numbers, so that its integral is right; where it is
highest depends on these maps. The density of the values themselves does not.
"""

import jax
import jax.numpy as jnp

from ..core.errors import ModelError
from .eliminate.collapsed import CollapsedProgram
from .eliminate.normal.separation import check_priors
from .latent import concrete
from .logdensity import LogDensity
from .reduction import log_jacobian_of
from .rows.chunked import ChunkedProgram
from .rows.row_files import in_memory


def log_posterior(density: LogDensity, position: jax.Array) -> jax.Array:
    """Evaluate the log density of the latent values at a position, shape `(dim,)`, without any Jacobian.

    It is with respect to the values where they are as many as the unconstrained numbers, and for vectors on a simplex
    or the like to the coordinates that the maps of `accord.bijectors` take: all but the last entry of a simplex.
    """
    return density(position) - log_jacobian(density, position)


def log_likelihood(density: LogDensity, position: jax.Array) -> jax.Array:
    """Sum the terms of observed sites and factors at a position of shape `(dim,)`.

    Where sites are collapsed, it is the likelihood of the others, from which these have been integrated out.

    **Raises** `ModelError` for a model without any, and for a density of a function, which has no parts.
    """
    # With those that are reparameterised, of which a mask or scale may leave the density with the site itself.
    latents = {entry.name for entry in density.layout.drawn}
    program, data = density.program, in_memory(density.data)
    if program.whole is None:
        raise ModelError(
            f"{program.name!r} is a log density without sites, so its likelihood cannot be told from its prior."
        )
    terms = (program.whole if isinstance(program, ChunkedProgram) else program).terms(position, data)
    own = {program.term} if isinstance(program, CollapsedProgram) else set[str]()
    if latents.issuperset(set(terms) - own):
        raise ModelError(
            f"the model {program.name!r} observes nothing, so that it has no likelihood: give its data by `obs=` or a "
            "condition."
        )
    if isinstance(program, CollapsedProgram):
        # Their priors are a part of the likelihood of the others.
        check_priors(program.base, program.groups, data)
        latents -= set(program.groups.names)
    if isinstance(program, ChunkedProgram):
        # What is summed over chunks has its derivatives as a whole: so the rest is taken off.
        return density(position) - sum(term for name, term in terms.items() if name in latents)
    first, *others = (term for name, term in terms.items() if name not in latents)
    return sum(others, start=first).astype(position.dtype)


def log_jacobian(density: LogDensity, position: jax.Array) -> jax.Array:
    """Compute the log determinant of the map from a position, shape `(dim,)`, to the latent values; shape `()`."""
    program = density.program.whole
    if program is None:
        return jnp.zeros((), position.dtype)
    with concrete(program.constants):
        sites = program.sites(density.program.pieces(position), in_memory(density.data))
        return log_jacobian_of(sites.values(), position.dtype)


def values_at_means(density: LogDensity, position: jax.Array) -> dict[str, jax.Array]:
    """Compute `density.constrain`, with collapsed sites at their means given the others, in place of a draw."""
    return density.program.means(position, density.data)


def recorded(
    density: LogDensity, position: jax.Array, log_density: jax.Array
) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
    """Compute the values that a draw holds, and the parts `log_prior` and `log_likelihood` of its `log_density`.

    Both parts are in the model's own space, as of `infer.log_prior` and `infer.log_joint`; factors are likelihood. What
    the data say is what the log density has beyond prior and Jacobian: so no data are gone through again, and where
    they are cut into blocks, it is the sum that was drawn from. It is NaN where the prior or its Jacobian is infinite,
    as can be by rounding at the edge of a support.

    The density of a function has no parts.
    """
    values, known = density.program.recorded(position, density.data)
    if known is None:
        return values, {}
    log_prior, beside = known
    rest = log_prior + beside
    if any(entry.kind in ("observed", "factor") for entry in density.layout.sites):
        log_likelihood = jnp.where(jnp.isfinite(rest), log_density - rest, jnp.nan)
    else:
        log_likelihood = jnp.zeros_like(rest)  # not what rounding has left
    return values, {"log_prior": log_prior, "log_likelihood": log_likelihood}
