"""Find sites whose elements chains have in different orders, as those of exchangeable components."""

from collections.abc import Sequence

import numpy as np

from ..evidence import READ, Evidence
from .words import moving_between_modes

APART = 4.0  # standard deviations within chains between what is in different places
SAME = 1.0  # standard deviations within chains, up to which means of elements in order agree between chains
AGREES = 1.05  # R-hat of elements in increasing order, up to which their order is all that chains disagree on


def moved_elements(means: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return which elements are in different places in different chains, shape `(n,)`.

    `means` and `widths`: means and standard deviations of the elements of one site, each `(chain, n)`.
    """
    return np.ptp(means, axis=0) > APART * widths.max(axis=0)


def have_other_orders(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether chains have the elements that moved in different orders; arguments as of `moved_elements`."""
    moved = moved_elements(means, widths)
    order = np.argsort(means[:, moved], axis=1)
    ordered, their_widths = (np.take_along_axis(each[:, moved], order, axis=1) for each in (means, widths))
    return bool(moved.sum() > 1 and np.all(np.ptp(ordered, axis=0) < SAME * their_widths.max(axis=0)))


def have_other_signs(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether some chains have the elements that moved with the opposite signs, as loadings of factors may."""
    moved = moved_elements(means, widths)
    sums = np.abs(means[:, None, moved] + means[None, :, moved]).max(axis=2)
    return bool(np.all(sums.min(axis=1) < SAME * widths[:, moved].max()))


def is_simplex(run: Evidence, name: str) -> bool:
    """Return whether the elements of a vector sum to one: those are told apart by ordering another site.

    False for a vector with more numbers than are read at once.
    """
    if _is_large(run, name):
        return False
    draws = run.sites.columns(name, np.arange(run.sites.shape(name)[2]))
    with np.errstate(all="ignore"):
        return bool(np.allclose(draws.sum(axis=2), 1))


def changing_places(run: Evidence, bad: Sequence[tuple[float, str, int]]) -> tuple[str, float]:
    """Return a site of which two elements or more change places, and their R-hat in increasing order; or "" and NaN.

    `bad`: scalars on which chains disagree, with their R-hat. Sorted in each draw, the elements of the site agree, and
    some of them are then far from each other: those that overlap cannot be said to have changed places.
    """
    for name in dict.fromkeys(name for _, name, _ in sorted(bad, reverse=True)):
        scalars = np.array(sorted(scalar for _, other, scalar in bad if other == name))
        is_row = name in run.latents - run.discrete and len(run.sites.shape(name)) == 3
        if not is_row or len(scalars) < 2 or _is_large(run, name):
            continue
        draws = np.sort(run.sites.columns(name, scalars), axis=2)
        with np.errstate(all="ignore"):
            agreed = float(np.max(run.r_hat(draws)))
            means, widths = (
                draws.mean(axis=(0, 1), dtype=np.float64),
                draws.std(axis=(0, 1), dtype=np.float64),
            )
            is_far = np.diff(means) > APART * np.maximum(widths[1:], widths[:-1])
        if agreed < AGREES and np.any(is_far) and not is_simplex(run, name):
            return name, agreed
    return "", float("nan")


def _is_large(run: Evidence, name: str) -> bool:
    return run.sites.width(name) * len(run.chains) * run.num_draws > READ


def ordering(run: Evidence, name: str, has_signs: bool = False) -> str:
    """Say how to order the elements of a site, and what else to do."""
    signs = " If only their signs are not determined, give one of them a positive prior." if has_signs else ""
    return (
        f"If they are exchangeable, order them, as by `ac.sample({name!r}, dist.ordered(dist.Normal(0, 1)"
        f".expand((2,)).to_event(1)))`, with their own distribution and number.{signs} Else "
        f"{moving_between_modes(run)}, and look only at what does not depend on the order."
    )
