"""Find sites that chains have with opposite signs, as loadings of factors may be."""

import numpy as np

APART = 4.0  # standard deviations within chains between what is in different places
SAME = 1.0  # standard deviations within chains, up to which means agree between chains
SIGNS = " If only their signs are not determined, give one of them a positive prior."


def have_other_signs(means: np.ndarray, widths: np.ndarray) -> bool:
    """Return whether some chains have the elements that moved with the opposite signs.

    `means` and `widths`: means and standard deviations of the elements of one site, each `(chain, n)`.
    """
    moved = np.ptp(means, axis=0) > APART * widths.max(axis=0)
    sums = np.abs(means[:, None, moved] + means[None, :, moved]).max(axis=2, initial=0.0)
    return bool(np.any(moved) and np.all(sums.min(axis=1) < SAME * widths[:, moved].max()))
