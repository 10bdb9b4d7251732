"""Read the log likelihoods on the rungs of `infer.Tempered` from its draws."""

from typing import Any

import numpy as np

from ..mcmc.draws import Draws


def ladder_of(draws: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return powers, shape `(chain, rung)`, and log likelihoods, `(chain, draw, rung)`; None for other draws."""
    powers = draws.tuning.get("temperatures") if isinstance(draws, Draws) else None
    names = [] if powers is None else [f"log_likelihood.{rung}" for rung in range(powers.shape[1])]
    if powers is None or not all(name in draws.stats for name in names):
        return None
    heights = np.stack([np.asarray(draws.stats[name], np.float64) for name in names], axis=-1)
    # Near the prior, a likelihood may be no number: no chain moves to where the posterior has none.
    return np.asarray(powers, np.float64), np.where(np.isnan(heights), -np.inf, heights)
