"""Name what a calibration ranks, and lay its ranks out by parameter."""

import math

import numpy as np

from ..report.sketch import BLOCKS
from ..storage import Manifest

LP = "lp"
"""Name under which the log density is ranked."""

_BARS = 20  # of the sketch, at most


def latents(manifest: Manifest) -> list[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """Return name, shape and dims of the sites whose truth is ranked."""
    sites = (site for site in manifest["layout"]["sites"] if site["kind"] in ("latent", "whole"))
    return [(site["name"], tuple(site["shape"]), tuple(site["dims"])) for site in sites]


def columns_of(ranks: dict[str, np.ndarray]) -> np.ndarray:
    """Return the ranks of all parameters in the order of the labels, shape `(simulation, k)`."""
    return np.concatenate(
        [some.reshape(len(some), math.prod(some.shape[1:])) for some in ranks.values()], axis=1
    )


def bars(ranks: np.ndarray, num_ranks: int, ramp: str = BLOCKS) -> str:
    """Write a histogram over all possible ranks in one line of text."""
    count = min(_BARS, num_ranks)
    bins = np.bincount(ranks * count // num_ranks, minlength=count)
    heights = np.ceil(bins / max(bins.max(), 1) * (len(ramp) - 1)).astype(int)
    return "".join(ramp[height] for height in heights)
