"""Explain why a chain found no starting point, by the site whose log density is not finite."""

import jax
import numpy as np

from ..core.errors import AccordError, InitializationError
from ..density import LogDensity
from .group import StartFailedError


def explain_start(density: LogDensity, failure: StartFailedError) -> AccordError:
    """The error to raise: it names the sites that are not finite at the last point tried, and what to do."""
    position = failure.position
    terms = {name: float(term) for name, term in jax.jit(density.site_terms)(position).items()}
    density.check_observed(jax.jit(density.observed_nan_counts)(position))
    values = jax.jit(density.constrain)(position)
    bad = {name: term for name, term in terms.items() if not np.isfinite(term)}
    if bad:
        listed = "; ".join(
            f"site {name!r} has log density {term:g}{_at(name, values)}" for name, term in bad.items()
        )
        remedy = (
            "A log density of -inf means a value outside the support: check the data against it. NaN means that a "
            "parameter of the distribution is outside its range or not a number."
        )
    else:
        gradient = np.asarray(jax.jit(jax.grad(density))(position))
        names = [
            entry.name
            for entry in density.layout.entries
            if not np.all(np.isfinite(gradient[entry.start : entry.stop]))
        ]
        by = ", ".join(map(repr, names)) or "the position"
        listed = f"the log density is finite but its derivative by {by} is not"
        remedy = "Look for `where` around a function that is not finite on the side not taken, and for 0/0 or sqrt(0)."
    return InitializationError(
        f"chain {failure.chain}: no starting point with a finite log density and gradient in "
        f"{failure.num_tries} tries. At the last one, {listed}. {remedy}",
        terms,
    )


def _at(name: str, values: dict[str, jax.Array]) -> str:
    if name not in values:
        return ""
    with np.printoptions(precision=4, threshold=6):
        return f" at value {np.asarray(values[name])}"
