"""Compute what is kept with each draw: the values of sites, and the parts of its log density."""

import jax
import jax.numpy as jnp

from .logdensity import LogDensity
from .unknowns import Unknowns, checked

BEYOND = "beyond."
"""Beginning of the names of shares of probability that a sum over a discrete site leaves out."""

INTEGRAL = "integral."
"""Beginning of the names of what tells how good an approximate integral over some sites is."""


def recorded(
    density: LogDensity, position: Unknowns, log_density: jax.Array
) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
    """Compute the values that a draw holds, and the parts `log_prior` and `log_likelihood` of its `log_density`.

    Both parts are in the model's own space, as of `infer.log_prior` and `infer.log_joint`; factors are likelihood. What
    the data say is what the log density has beyond prior and Jacobian: so no data are gone through again, and where
    they are cut into blocks, it is the sum that was drawn from. It is NaN where the prior or its Jacobian is infinite,
    as can be by rounding at the edge of a support.

    Where discrete sites are summed up to a chosen value, there is also a part `beyond.x` for each, the share of
    probability that is left out by estimate. Where sites are integrated out by an approximation, `integral.log_weight`
    is the log density of the draw beside that of Laplace's approximation, and `integral.error` what a quadrature would
    change by with half of its nodes.

    The density of a function has no parts.
    """
    values, known, quality = density.program.recorded(checked(position, density.layout), density.data)
    if known is None:
        return values, {}
    log_prior, beside = known
    rest = log_prior + beside
    if any(entry.kind in ("observed", "factor") for entry in density.layout.sites):
        log_likelihood = jnp.where(jnp.isfinite(rest), log_density - rest, jnp.nan)
    else:
        log_likelihood = jnp.zeros_like(rest)  # not what rounding has left
    left_out = density.program.beyond(checked(position, density.layout), density.data)
    beyond = {f"{BEYOND}{name}": share for name, share in left_out.items()}
    integral = {f"{INTEGRAL}{name}": each for name, each in quality.items()}
    return values, {"log_prior": log_prior, "log_likelihood": log_likelihood, **beyond, **integral}
