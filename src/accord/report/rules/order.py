"""Find sites whose elements chains have in different orders, as those of exchangeable components."""

import numpy as np

from ..evidence import Evidence
from .words import moving_between_modes

SAME = 1.0  # standard deviations within chains, up to which means of elements in order agree between chains
AGREES = 1.05  # R-hat of elements in increasing order, up to which their order is all that chains disagree on
_MOST = 100  # elements


def have_other_orders(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether chains have the same elements in different orders, as exchangeable components do.

    `means` and `widths`: means and standard deviations of the elements of one site, each `(chain, n)`.
    """
    order = np.argsort(means, axis=1)
    ordered, their_widths = (np.take_along_axis(each, order, axis=1) for each in (means, widths))
    is_same = bool(np.all(np.ptp(ordered, axis=0) < SAME * their_widths.max(axis=0)))
    return means.shape[1] > 1 and is_same


def are_mirrored(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether some chains have all elements of others with the opposite sign, as loadings of factors may."""
    apart = np.abs(means[:, None] + means[None]).max(axis=2)
    return bool(np.all(apart.min(axis=1) < SAME * widths.max()))


def changing_places(run: Evidence, least: float) -> tuple[str, float]:
    """Return a site whose elements change places, and the R-hat of its elements in increasing order; else "" and NaN.

    Their R-hat is then above `least`, and small once the elements of each draw are sorted.
    """
    found, worst, agreed = "", least, float("nan")
    for name in sorted(run.latents - run.discrete):
        shape = run.sites.shape(name)
        if len(shape) != 3 or not 2 <= shape[2] <= _MOST:
            continue
        draws = run.sites.columns(name, np.arange(shape[2]))
        with np.errstate(all="ignore"):
            # The elements of a simplex are told apart by ordering those of another site.
            is_simplex = np.allclose(draws.sum(axis=2), 1)
            value = float(np.max(run.r_hat(draws)))
        if is_simplex or not value > worst:
            continue
        ordered = float(np.max(run.r_hat(np.sort(draws, axis=2))))
        if ordered < AGREES:
            found, worst, agreed = name, value, ordered
    return found, agreed


def ordering(run: Evidence, name: str, has_signs: bool = False) -> str:
    """Say how to order the elements of a site, and what else to do."""
    signs = " If only their signs are free, give one of them a prior of one sign." if has_signs else ""
    return (
        f"If they are exchangeable, order them, as by `ac.sample({name!r}, dist.ordered(dist.Normal(0, 1)"
        f".expand((2,)).to_event(1)))`, with their own distribution and number.{signs} Else "
        f"{moving_between_modes(run)}, and look only at what does not depend on the order."
    )
