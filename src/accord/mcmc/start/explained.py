"""Explain why a chain found no starting point: by site, by derivative and by line of the model."""

from typing import TYPE_CHECKING

import jax

from ...core.errors import AccordError, InitializationError
from ...density import LogDensity
from .search import StartFailedError

if TYPE_CHECKING:
    from ...density import Blame

_MAX_SITES = 8  # listed with their values


def explain_start(density: LogDensity, failure: StartFailedError) -> AccordError:
    """Make the error: it explains what is wrong at the point in `failure`, where, and what to do.

    NaN among observations that the model computes or masks is a `SiteError`, as for data that is observed unchanged.
    """
    from ...density import blame  # loads what only failures need
    from ...density.joint import at_whole

    at = at_whole(density, failure.position)
    if at is None:
        return InitializationError(f"{failure}. Give values inside of the support by `init=`.", {}, None)
    density, position = at
    found = blame(density, position)
    if found.cause == "observation_not_finite":
        density.check_observed(jax.jit(density.observed_nan_counts)(position))
    lines = [
        f"{failure}. The most promising point that was tried:",
        *_sites(found),
        *found.found(),
        *found.remarks,
        *([f"What to do: {found.remedy}"] if found.remedy else []),
    ]
    return InitializationError("\n  ".join(lines), found.terms, found)


def _sites(found: "Blame") -> list[str]:
    """List values and log densities of the latent sites, the ones to blame first."""
    from ...density.blaming.result import shorten

    named = dict.fromkeys([name for name in found.sites if name in found.values])
    names = [*named, *(name for name in found.values if name not in named)]
    lines = []
    for name in names[:_MAX_SITES]:
        term = f", log density {found.terms[name]:.4g}" if name in found.terms else ""
        lines.append(f"{name!r} = {shorten(found.values[name])}{term}")
    more = len(names) - _MAX_SITES
    return lines + ([f"and {more} more latent site{'s' * (more > 1)}"] if more > 0 else [])
