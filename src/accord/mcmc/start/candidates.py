"""Lay out the candidates of several starts, for climbs from the best of each."""

import itertools
from collections.abc import Iterator

import numpy as np

from .base import AT_ONCE, AbstractPoints


def candidates(points: AbstractPoints, seed: int, count: int, dim: int) -> Iterator[np.ndarray]:
    """Yield the first ten candidates of each start, then the next ten, shape `(start, candidate, dim)`."""
    tries = [points.num_tries(start) for start in range(count)]
    for first in range(0, max(tries), AT_ONCE):
        found = np.full((count, AT_ONCE, dim), np.nan)
        for start, number in itertools.product(range(count), range(AT_ONCE)):
            if first < tries[start]:
                attempt = min(first + number, tries[start] - 1)
                found[start, number] = points.position(seed, start, attempt, dim)
        yield found
