"""Judge draws of many chains, of which each may be short, by the spread of their means.

With 64 chains or more the means of chains say how well the mean of all is known, whatever the draws within a chain
depend on: no autocorrelation is estimated, which takes long chains. The relative error of an effective sample size is
then sqrt(2 / chains), a sixth at 64.

**Source**: Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari & Gelman (2024), "Nested R-hat", Bayesian Analysis.
Departures: ranks are normalised, and folded for the scale, as for split R-hat; superchains may differ in size.
"""

from collections.abc import Sequence

import numpy as np

MANY = 64
"""From this many chains on, the spread of their means replaces autocorrelations."""

NUM_SETS = 16
"""Number of sets of chains for nested R-hat, if they did not start in superchains."""


def ess(columns: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the mean, from `(scalar, chain, draw)`, by the variance of chain means.

    At most N log10 N of N draws, as where autocorrelations are summed; N where chains have means that are all alike.
    """
    total = columns.shape[1] * columns.shape[2]
    error = columns.mean(axis=2).var(axis=1, ddof=1) / columns.shape[1]
    variance = columns.reshape(len(columns), -1).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.minimum(variance / error, total * np.log10(total))
    return np.where(error > 0, found, float(total))


def nested_r_hat(columns: np.ndarray, sets: Sequence[int]) -> np.ndarray:
    """Square root of one plus the variance between sets of chains over that within, for `(scalar, chain, draw)`.

    `sets` names that of each chain. A set of one chain has no variance between its chains, a chain of one draw none
    within.
    """
    labels = np.asarray(sets)
    means = columns.mean(axis=2)
    within_chain = columns.var(axis=2, ddof=1) if columns.shape[2] > 1 else np.zeros_like(means)
    centres, spreads = [], []
    for label in np.unique(labels):
        members = labels == label
        between = means[:, members].var(axis=1, ddof=1) if members.sum() > 1 else 0.0
        centres.append(means[:, members].mean(axis=1))
        spreads.append(between + within_chain[:, members].mean(axis=1))
    return np.sqrt(1 + np.var(centres, axis=0, ddof=1) / np.mean(spreads, axis=0))


def sets_of(num_chains: int) -> list[int]:
    """Sets of neighbours for chains that each have a start of their own.

    Nested R-hat then says whether the means of so many chains agree, which more chains make them do; that chains have
    forgotten where they began, only superchains can show.
    """
    return [chain * min(NUM_SETS, num_chains) // num_chains for chain in range(num_chains)]
