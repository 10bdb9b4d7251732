"""Define resampling: particles are chosen as often, on average, as their weights say."""

import abc

import numpy as np

from ...core.modules import Module


class AbstractResampling(Module):
    """A scheme of resampling: it chooses ancestors by weights, without bias.

    **Contract**: particle `i` is chosen `count * weights[i] / weights.sum()` times on average, and never if its weight
    is zero. All randomness comes from the generator. The class has no options, or fields of plain JSON.
    """

    @abc.abstractmethod
    def ancestors(self, weights: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        """Return the places of `count` ancestors in increasing order, shape `(count,)`.

        **Arguments**: `weights`, shape `(particle,)`, float64, finite and not negative, one of them positive.
        """


def by_inverse_cdf(weights: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the particles in whose shares of the total weight increasing points of [0, 1) lie.

    A particle of weight zero has no share, also where a point rounds to the end of one.
    """
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, points * ends[-1], side="right")
    return np.minimum(found, np.flatnonzero(weights)[-1])
