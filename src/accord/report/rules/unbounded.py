"""Judge whether draws run away, where nothing bounds an unknown."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...core.notice import Notice
from ..diagnostics import r_hat
from ..evidence import Evidence
from .extent import FEW_DRAWS
from .words import chain_list, site_list

RUN_AWAY = 1e6  # times that the sizes of one chain's draws differ; of a density that falls as 1/x^2, 400
WIDE = 1e9  # units of the model, from the lowest to the highest quarter of any chain, where chains disagree as well
APART = 1.5  # R-hat, above which they do; above what slow mixing gives

_SIZES, _MIDDLE = (0.05, 0.95), (0.25, 0.75)


class Runaway(NamedTuple):
    """An unknown whose draws run away. **Fields**: `name` of the site; `extent`, the larger the worse; `seen`."""

    name: str
    extent: float
    seen: str


def runs_away(run: Evidence) -> Iterator[Notice]:
    """Find unknowns with a flat prior whose draws run away: the posterior is not a distribution."""
    found = runaways(run)
    if found:
        names = tuple(dict.fromkeys(each.name for each in found))
        yield Notice(
            "error",
            "runs_away",
            f"{max(found, key=lambda each: each.extent).seen} The prior is flat there, and the data do not seem to "
            "bound it: the posterior is most likely improper, and more draws do not help.",
            f"Give {site_list(names)} a proper prior, with a scale in the units of the data. If values of this size "
            "are meant, rescale them.",
            names,
        )


def runaways(run: Evidence) -> list[Runaway]:
    """Return the worst of each part of a site with a flat prior whose draws run away.

    Their sizes have many orders of magnitude in one chain, or chains disagree and are further apart than anything that
    is measured: where nothing bounds an unknown, trajectories never turn, and each chain goes on its own way.
    """
    found = []
    if not len(run.chains) or run.num_draws < FEW_DRAWS:
        return found
    for name, scalars, draws in run.picked(run.flat):
        found += _by_size(run, name, scalars, draws) or _by_width(run, name, scalars, draws)
    return found


def _by_size(run: Evidence, name: str, scalars: np.ndarray, draws: np.ndarray) -> list[Runaway]:
    if draws.dtype.kind != "f" or name in run.discrete:  # of whole numbers, many may be zero
        return []
    with np.errstate(all="ignore"):  # draws may be zero, or infinite
        sizes = np.abs(draws)
        # Few columns have ends so far apart, and only of these are quantiles looked for.
        may_be = np.flatnonzero((sizes.max(axis=1) / sizes.min(axis=1) > RUN_AWAY).any(axis=0))
        if not len(may_be):
            return []
        low, high = np.quantile(sizes[:, :, may_be], _SIZES, axis=1, method="nearest")
        ratios = np.nan_to_num(high / low, nan=1.0, posinf=np.inf)
    chain, column = (int(place) for place in np.unravel_index(np.argmax(ratios), ratios.shape))
    if not ratios[chain, column] > RUN_AWAY:
        return []
    far = chain_list(run, np.flatnonzero(ratios[:, column] > RUN_AWAY)).lower()
    seen = (
        f"Draws of {run.label(name, int(scalars[may_be[column]]))} run away in {far}: in chain {run.chains[chain]}, "
        f"nine in ten are from {low[chain, column]:.2g} to {high[chain, column]:.2g} in size."
    )
    return [Runaway(name, float(ratios[chain, column]), seen)]


def _by_width(run: Evidence, name: str, scalars: np.ndarray, draws: np.ndarray) -> list[Runaway]:
    if len(run.chains) < 2:
        return []
    with np.errstate(all="ignore"):
        may_be = np.flatnonzero(draws.max(axis=(0, 1)) - draws.min(axis=(0, 1)).astype(np.float64) > WIDE)
        if not len(may_be):
            return []
        kept = draws[:, :, may_be].astype(np.float64)
        low, high = np.quantile(kept, _MIDDLE, axis=1, method="nearest")
        widths = np.nan_to_num(high.max(axis=0) - low.min(axis=0), posinf=np.inf)
        rates = r_hat(kept)
    is_away = (widths > WIDE) & (rates > APART)
    if not is_away.any():
        return []
    column = int(np.argmax(np.where(is_away, widths, 0.0)))
    seen = (
        f"Draws of {run.label(name, int(scalars[may_be[column]]))} run away: they are {widths[column]:.2g} apart, and "
        f"the chains disagree (R-hat {rates[column]:.3g})."
    )
    return [Runaway(name, float(widths[column]), seen)]
