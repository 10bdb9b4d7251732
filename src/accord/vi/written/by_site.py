"""Estimate the bound of a guide site by site: by scores where draws do not move smoothly with its parameters.

Divergences that are known in closed form are costs of their own.

A mean of costs over draws that do not move changes by their probabilities: its derivative is the mean of the cost times
the score, the derivative of the log density of what was drawn. What the cost is compared with, a mean over the other
draws of the step, changes no mean and takes most of the noise away. Draws of other sites move, and the cost with them.

**Source**: Schulman, Heess, Weber & Abbeel (2015), "Gradient estimation using stochastic computation graphs", NeurIPS;
Kool, van Hoof & Welling (2019), "Buy 4 REINFORCE samples, get a baseline for free!", ICLR workshop.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from ...density import LogDensity
from ...guides.base import Params
from ..each import sharing
from ..objectives.base import held
from ..objectives.elbo import ELBO
from .costs import costs_of
from .guide import Written


def loss_by_site(
    objective: ELBO,
    guide: Written,
    density: LogDensity,
    params: Params,
    noise: UInt32[Array, "draw 2"],
    is_side_by_side: bool,
) -> Float[Array, ""]:
    """Estimate minus the bound, so that its gradient by the parameters is an estimate too.

    By at least two draws where scores are taken.

    Parts of the data weigh the costs by their scale, and not the scores.
    """
    of_q, kept = held(params) if objective.sticks_the_landing else params, guide.known.apart

    def drawn(_: Any, words: Array) -> tuple[Array, dict[str, Array], dict[str, Array]]:
        values, _ = guide.draw(params, words)
        costs = costs_of(guide, density, params, values, of_q).values()
        log_scores = guide.log_scores(params, values)
        by_entry = {
            name: jnp.asarray(sum(each.along(kept.get(name, {}), log_score.ndim) for each in costs))
            for name, log_score in log_scores.items()
        }
        return jnp.asarray(sum(jnp.sum(each.entries) for each in costs)), by_entry, log_scores

    costs, by_entry, log_scores = sharing(lambda values: values, is_side_by_side)(drawn, noise)
    num = noise.shape[0]
    moved = jnp.sum(costs)
    for name, log_score in log_scores.items():
        own = jax.lax.stop_gradient(by_entry[name])
        apart = (own - jnp.mean(own, axis=0)) * num / (num - 1)  # from the mean of the other draws
        moved = moved + jnp.sum(apart * log_score)
    moved = moved / num
    return -(moved + jax.lax.stop_gradient(jnp.mean(costs) - moved))
