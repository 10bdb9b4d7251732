"""Rank a true value among draws."""

from collections.abc import Mapping

import numpy as np

from ..core import keys
from .ranked import LP


def ranked(
    truth: Mapping[str, np.ndarray],
    draws: Mapping[str, np.ndarray],
    log_density_of_truth: float,
    log_density: np.ndarray,
    seed: int,
) -> dict[str, np.ndarray]:
    """Rank the truth of a simulation by site, and its log density, among draws.

    - `draws`: by site, shape `(draw, *site)`; `log_density`, of each, shape `(draw,)`. `seed` of the simulation.
    """
    generator = keys.generator(keys.chain_key(seed, 0), keys.USE_SIMULATE, 1)
    ranks = {name: rank(draws[name], value, generator) for name, value in truth.items()}
    ranks[LP] = rank(*tied(log_density, np.array(log_density_of_truth, log_density.dtype)), generator)
    return ranks


def rank(draws: np.ndarray, truth: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Count the draws below the truth, with ties broken at random; shape `(*site)`, in 0 to the number of draws.

    Without that, what is always the same, as a zero of a triangular matrix, would always have rank zero.

    - `draws`: shape `(draw, *site)`.
    """
    below, ties = np.sum(draws < truth, axis=0), np.sum(draws == truth, axis=0)
    return below + generator.integers(0, ties + 1)


def tied(draws: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return floats of draws and truth that are equal where they differ by rounding, as by another program.

    The log density of discrete values is often equal to that of the truth.
    """
    tolerance = float(np.sqrt(np.finfo(draws.dtype).eps))
    close = np.isclose(draws, truth, rtol=tolerance, atol=tolerance)
    return np.where(close, truth, draws).astype(np.float64), truth.astype(np.float64)


def share_below(draws: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The share of draws that are below the truth, ties counting half; shapes as in `rank`."""
    return (np.sum(draws < truth, axis=0) + 0.5 * np.sum(draws == truth, axis=0)) / len(draws)
